//===- DMA.td - transfers --------------------------------------*- tablegen -*-===//
//
// A transfer is issued by SP, ACT or POOL on a ring and performed by the 16 DMA engines. The cost here is the issuing
// queue's only; the transfer itself is modelled by the timing library from the device's DMA facts. Sources: DMAO =
// Neuron DMA overview, ISA32; costs M3 (device guide 11.3).
//
//===--------------------------------------------------------------------------===//
include "dialects/Trn/ISA/Inst.td"

defvar kMemory = ["HBM", "SBUF"];

/// Hardware descriptor generation on SP and ACT, software descriptors on POOL.
class DmaInst<string mnemonic, int opcode, list<Operand> operands, list<InstAttr> attrs>
    : Inst<mnemonic, opcode, operands, attrs, ["SP", "ACT", "POOL"]> {
  let isDma = 1;
  let costs = [Cost<"SP", "device.cycles(engine, device.dmaIssueNs)", "device.cycles(engine, device.dmaIssueNs)",
                    "measured (M3: 541 to 601 ns)">,
               Cost<"ACT", "device.cycles(engine, device.dmaIssueNs)", "device.cycles(engine, device.dmaIssueNs)",
                    "inferred: as SP">,
               Cost<"POOL", "device.cycles(engine, device.dmaSoftwareIssueNs)", "device.cycles(engine, device.dmaSoftwareIssueNs)",
                    "measured (M3: about 583 ns between issues)">];
}

def DmaCopyOp : DmaInst<"dma_copy", 0x80, [Out<"dst", kMemory, kAllTypes>, In<"src", kMemory, kAllTypes>], []> {
  let summary = "copy between device memory and SBUF";
  let description = [{
    Both operands have equally many elements; element k of src, counted partition by partition (HBM: row by row) and
    inside a partition by its pattern, becomes element k of dst. Equal types are copied bit by bit, others convert
    through fp32. A row step of 0 in HBM broadcasts a row to all partitions.
  }];
  let source = "ISA32 dma_copy; DMAO";
  let rules = [
    Rule<20, "dst.totalElements() == src.totalElements()",
         "expected equally many elements, but got {dst.totalElements()} and {src.totalElements()}", "ISA32 dma_copy">,
    Rule<21, "dst.dtype == src.dtype || (converts(dst.dtype) && converts(src.dtype))",
         "expected types that convert through fp32, but got {name(dst.dtype)} and {name(src.dtype)}", "ISA32 dma_copy">,
  ];
}

def DmaGatherOp : DmaInst<"dma_gather", 0x81,
    [Out<"dst", ["SBUF"], kAllTypes>, In<"table", ["HBM"], kAllTypes>, In<"indices", ["SBUF"], ["I32", "U32"]>], []> {
  let summary = "gather rows of a table in device memory";
  let description = [{
    dst[p, j] = table[indices[p, 0], j]: the rows of the table are its partitions, `row_step` elements apart. An index
    that is not a row of the table is an error of the program, always checked.
  }];
  let source = "ISA32 dma_copy with a vector offset";
  let rules = [
    Rule<20, "indices.partitions == dst.partitions && indices.elements() == 1",
         "expected one index for each of the {dst.partitions} partitions of 'dst', but got {indices.partitions} x {indices.elements()}",
         "ISA32 dma_copy">,
    Rule<21, "dst.elements() == table.elements()",
         "expected rows of {table.elements()} elements in 'dst', but got {dst.elements()}", "ISA32 dma_copy">,
    Rule<22, "dst.dtype == table.dtype", "expected equal element types, but got {name(dst.dtype)} and {name(table.dtype)}",
         "ISA32 dma_copy">,
    Rule<23, "engine == Engine::POOL", "expected POOL, whose software makes indirect descriptors, but got {name(engine)}",
         "DGE: gather needs software descriptors", "Engine">,
  ];
}

def DmaScatterOp : DmaInst<"dma_scatter", 0x82,
    [InOut<"table", ["HBM"], kAllTypes>, In<"src", ["SBUF"], kAllTypes>, In<"indices", ["SBUF"], ["I32", "U32"]>], []> {
  let summary = "scatter rows into a table in device memory";
  let description = [{
    table[indices[p, 0], j] = src[p, j], in order of p; other rows stay. An index that is not a row of the table is an
    error of the program, always checked.
  }];
  let source = "ISA32 dma_copy with a vector offset";
  let rules = [
    Rule<20, "indices.partitions == src.partitions && indices.elements() == 1",
         "expected one index for each of the {src.partitions} partitions of 'src', but got {indices.partitions} x {indices.elements()}",
         "ISA32 dma_copy">,
    Rule<21, "src.elements() == table.elements()",
         "expected rows of {table.elements()} elements in 'src', but got {src.elements()}", "ISA32 dma_copy">,
    Rule<22, "src.dtype == table.dtype", "expected equal element types, but got {name(table.dtype)} and {name(src.dtype)}",
         "ISA32 dma_copy">,
    Rule<23, "engine == Engine::POOL", "expected POOL, whose software makes indirect descriptors, but got {name(engine)}",
         "DGE: scatter needs software descriptors", "Engine">,
  ];
}
