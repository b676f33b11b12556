//===- Family.td - what all targets share ----------------------*- tablegen -*-===//
//
// Owns the numbers that both the records of instructions and those of the devices are made of.
//
//===--------------------------------------------------------------------------===//

/// Registers of each queue, of 32 bits (ISA32 register_alloc).
defvar kQueueRegisters = 64;
