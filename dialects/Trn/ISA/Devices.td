//===- Devices.td - the targets and their facts ----------------*- tablegen -*-===//
//
// Owns every number about a machine: limits, clocks, costs. C++ never repeats one. Each value carries its grade
//   documented  AWS says so             measured  from public profiler dumps (device guide part 2)
//   inferred    worked out from those   ours      nobody says; our choice
// and its place: HW, A2 to A4 = hardware pages and NKI architecture guides v2 to v4; ISA32, ISA26 = NKI ISA reference;
// DMAO, DMAB = DMA overview and bandwidth guide; KLR = leanprover/KLR; DRV = AWS kernel driver; M2, M3 = measured on
// Inf2 and Trn2; G = the device guide's section. A device takes what it does not state from its base.
//
//===--------------------------------------------------------------------------===//
include "dialects/Trn/ISA/Family.td"

class DeviceField<string doc_> {
  string doc = doc_;
}
/// A fact that every device of the family shares: a constant of isa::DeviceInfo, which code may build on.
class FamilyField<string doc_> : DeviceField<doc_>;
class Fact<DeviceField field_, int value_, string grade_, string place_> {
  DeviceField what = field_;
  int value = value_;
  string grade = grade_;
  string place = place_;
}
class Device<string name_, string title_> {
  string name = name_;
  string title = title_;
  list<Device> base = [];
  list<Fact> facts = [];
}

//===--------------------------------------------------------------------------===//
// Fields of isa::DeviceInfo, by definition name
//===--------------------------------------------------------------------------===//

def version : DeviceField<"core version (NeuronCore-v2, v3, v4)">;
def coresPerChip : DeviceField<"cores per chip">;
def partitions : DeviceField<"partitions of SBUF and PSUM, rows and columns of the PE array">;
def sbufBytes : DeviceField<"SBUF bytes per partition">;
def sbufBytesUsable : DeviceField<"SBUF bytes per partition that programs may use">;
def sbufAlignment : DeviceField<"alignment of an SBUF address in bytes">;
def sbufFreeMax : DeviceField<"most elements per partition of an SBUF operand">;
def psumBanks : DeviceField<"PSUM banks per partition">;
def psumBankBytes : DeviceField<"bytes of a PSUM bank per partition">;
def psumAlignment : DeviceField<"alignment of a PSUM address in bytes">;
def psumFreeMax : DeviceField<"most elements per partition of a PSUM operand">;
def peHz : DeviceField<"PE clock">;
def dveHz : DeviceField<"DVE clock">;
def actHz : DeviceField<"ACT clock">;
def poolHz : DeviceField<"POOL clock">;
def spHz : DeviceField<"SP clock">;
def minInterval : DeviceField<"least cycles between instructions of an engine (MIN_II)">;
def matmulMovingMax : DeviceField<"most moving columns of one matmul">;
def fp32TransposePasses : DeviceField<"PE passes of an fp32 transpose">;
def loadStationaryColumnsPerCycle : DeviceField<"columns of the stationary operand loaded per PE cycle">;
def loadStationaryNs : DeviceField<"ns of one 128 x 128 16-bit stationary load that nothing hides">;
def loadStationaryFp32Ns : DeviceField<"the same for fp32">;
def peFixedNs : DeviceField<"PE: ns from the last moving column to the visible result (pipeline)">;
def dveFixedNs : DeviceField<"DVE: fixed part of an instruction's duration in ns">;
def actFixedNs : DeviceField<"ACT: the same for a copy">;
def actFunctionNs : DeviceField<"ACT: ns that a function adds to a copy's fixed part">;
def actChainNs : DeviceField<"ACT: ns that the first instruction of a chain takes longer">;
def actTableLoadNs : DeviceField<"ACT: ns to load a table set">;
def poolStart : DeviceField<"POOL: start-up cycles of an instruction">;
def libraryStart : DeviceField<"POOL: start-up cycles of a library kernel">;
def libraryBytesPerCycle : DeviceField<"POOL: bytes of operands of a library kernel that move per cycle">;
def libraryLanes : DeviceField<"POOL: lanes that a library kernel computes in">;
def libraryWideCycles : DeviceField<"POOL: cycles of an operation of a library kernel on 64 bits">;
def dvePerformanceModes : DeviceField<"DVE: 1 when 16-bit copies and scalar operations run at 2 or 4 elements a cycle">;
def dveFp32CopyRate : DeviceField<"DVE: elements per cycle of contiguous fp32 SBUF to SBUF copies and scalar operations">;
def act16BitCopyRate : DeviceField<"ACT: elements per cycle of 16-bit copies">;
def fullRateStrideBytes : DeviceField<"innermost stride in bytes above which an operand streams at half rate">;
def psumPortShared : DeviceField<"1 when DVE and ACT cannot access PSUM at once">;
def sbufPortShared : DeviceField<"1 when DVE and POOL cannot access SBUF at once">;
def dveModeBusShared : DeviceField<"1 when DVE's performance modes borrow a bus of POOL">;
def semaphores : DeviceField<"semaphores of a core">;
def semaphoreMax : DeviceField<"largest semaphore value">;
def registers : FamilyField<"registers of each queue">;
def semaphoreNs : DeviceField<"ns from an engine's update to the start of a waiting instruction">;
def semaphoreToPeNs : DeviceField<"the same into PE">;
def semaphoreWaitNs : DeviceField<"ns that a wait instruction occupies its queue">;
def dmaEngines : DeviceField<"DMA engines of a core">;
def dmaRings : DeviceField<"rings per DMA engine">;
def dmaPacketBytes : DeviceField<"largest packet">;
def dmaPartitionsPerEngine : DeviceField<"partitions of a 128-partition transfer that one DMA engine serves">;
def dmaIssueNs : DeviceField<"ns that the trigger of a hardware descriptor DMA occupies its queue">;
def dmaSoftwareIssueNs : DeviceField<"ns between triggers of software descriptor DMAs">;
def dmaStartNs : DeviceField<"ns from the trigger to the first packet, hardware descriptors">;
def dmaSoftwareStartNs : DeviceField<"the same, software descriptors">;
def dmaCompletionNs : DeviceField<"ns from the last packet to the release of a waiting engine">;
def dmaPacketWirePs : DeviceField<"ps that a packet occupies the wire, besides its bytes">;
def dmaPacketStartPs : DeviceField<"ps between packets of one engine, besides their bytes">;
def dmaWireBytesPerUs : DeviceField<"bytes per us of one DMA engine's wire">;
def dmaSustainedBytesPerUs : DeviceField<"bytes per us between packets of one engine">;
def dmaTransposeRatePercent : DeviceField<"rate of a transposing transfer against a copy">;
def hbmBytesPerUs : DeviceField<"HBM bytes per us, a core's share">;
def hbmBytesPerCoreMiB : DeviceField<"HBM of a core in MiB">;
def launchNs : DeviceField<"ns around a program: preamble before the first instruction and epilogue">;
def peRampCycles : DeviceField<"PE cycles of one clock ramp window; 0: no ramp">;
def peRampBusyPercent : DeviceField<"busy share of a window that arms the full clock">;

//===--------------------------------------------------------------------------===//
// Core version 2
//===--------------------------------------------------------------------------===//

def Inf2 : Device<"inf2", "AWS Inferentia2, one NeuronCore-v2"> {
  let facts = [
    Fact<version, 2, "documented", "HW">,
    Fact<coresPerChip, 2, "documented", "HW">,
    Fact<partitions, 128, "documented", "A2">,
    Fact<sbufBytes, 196608, "documented", "A2: 24 MiB">,
    Fact<sbufBytesUsable, 180224, "documented", "KLR Trace.lean: 192 Ki - 16 Ki">,
    Fact<sbufAlignment, 1, "documented", "KLR Trace.lean">,
    Fact<sbufFreeMax, 65536, "documented", "A2 (AWS's kernel notes say 32,767)">,
    Fact<psumBanks, 8, "documented", "A2">,
    Fact<psumBankBytes, 2048, "documented", "A2">,
    Fact<psumAlignment, 4, "documented", "KLR Trace.lean">,
    Fact<psumFreeMax, 4096, "documented", "A2">,
    Fact<peHz, 2800000000, "documented", "A2">,
    Fact<dveHz, 1120000000, "documented", "A2">,
    Fact<actHz, 1400000000, "documented", "A2">,
    Fact<poolHz, 1400000000, "documented", "A2">,
    Fact<spHz, 1400000000, "inferred", "the profiler's constant for all other engines, G 11.1">,
    Fact<minInterval, 64, "documented", "ISA26 MIN_II">,
    Fact<matmulMovingMax, 512, "documented", "ISA32">,
    Fact<fp32TransposePasses, 4, "documented", "ISA26: transposes are matmuls on v2">,
    Fact<loadStationaryColumnsPerCycle, 4, "documented", "A2: up to 4 times faster than moving">,
    Fact<loadStationaryNs, 83, "measured", "M2: 82 to 84">,
    Fact<loadStationaryFp32Ns, 166, "inferred", "twice the 16-bit value, as on v3">,
    Fact<peFixedNs, 144, "measured", "M2: best case 144 + 0.370 N">,
    Fact<dveFixedNs, 89, "inferred", "A2: about 100 cycles overhead at 1.12 GHz">,
    Fact<actFixedNs, 87, "measured", "M2: 87.4 + 0.7144 N when pipelined">,
    Fact<actFunctionNs, 104, "inferred", "v3's 121 ns in cycles of 1.4 GHz">,
    Fact<actChainNs, 70, "measured", "M2">,
    Fact<actTableLoadNs, 368, "measured", "M2">,
    Fact<poolStart, 150, "documented", "ISA26">,
    Fact<libraryStart, 2000, "ours", "a hand-over of work to eight cores and back, some 1.4 us">,
    Fact<libraryBytesPerCycle, 32, "ours", "45 GB/s, a quarter of what DMA brings">,
    Fact<libraryLanes, 128, "documented", "A2: eight cores with vectors of 512 bits, 16 lanes of 32 bits each">,
    Fact<libraryWideCycles, 16, "ours", "64 bits by operations on 32 bits">,
    Fact<dvePerformanceModes, 0, "documented", "A3: new in v3">,
    Fact<dveFp32CopyRate, 1, "documented", "ISA26">,
    Fact<act16BitCopyRate, 1, "documented", "A2">,
    Fact<fullRateStrideBytes, 16, "documented", "A2">,
    Fact<psumPortShared, 1, "documented", "A2">,
    Fact<sbufPortShared, 1, "documented", "A2">,
    Fact<dveModeBusShared, 0, "documented", "A3: new in v3">,
    Fact<semaphores, 256, "documented", "DRV">,
    Fact<semaphoreMax, 65535, "ours", "G 9.15: 16 bits">,
    Fact<registers, kQueueRegisters, "documented", "ISA32 register_alloc">,
    Fact<semaphoreNs, 35, "inferred", "as on v3">,
    Fact<semaphoreToPeNs, 53, "inferred", "as on v3">,
    Fact<semaphoreWaitNs, 15, "measured", "M2: 13 to 18">,
    Fact<dmaEngines, 16, "documented", "DMAO">,
    Fact<dmaRings, 16, "documented", "DMAO: queues per engine">,
    Fact<dmaPacketBytes, 4096, "documented", "CO: default packet">,
    Fact<dmaPartitionsPerEngine, 8, "documented", "DMAO">,
    Fact<dmaIssueNs, 570, "inferred", "as on v3; no hardware descriptors on v2, host-built ones">,
    Fact<dmaSoftwareIssueNs, 583, "inferred", "as on v3">,
    Fact<dmaStartNs, 1300, "documented", "DMAB">,
    Fact<dmaSoftwareStartNs, 1300, "documented", "DMAB">,
    Fact<dmaCompletionNs, 380, "inferred", "as on v3">,
    Fact<dmaPacketWirePs, 7200, "measured", "M2: 4,096 B 156 to 172, 2,048 B 81 to 97, 512 B 56 ns; as v3">,
    Fact<dmaPacketStartPs, 30576, "inferred", "v3's 22.6 ns times 23/17, G 5">,
    Fact<dmaWireBytesPerUs, 27200, "documented", "DMAO">,
    Fact<dmaSustainedBytesPerUs, 18626, "inferred", "v3's 25.2 B/ns times 17/23, G 5">,
    Fact<dmaTransposeRatePercent, 50, "inferred", "G 11: much lower on Trn1; a half is ours">,
    Fact<hbmBytesPerUs, 410000, "inferred", "820 GB/s over 2 cores">,
    Fact<hbmBytesPerCoreMiB, 16384, "documented", "HW: 32 GiB over 2 cores">,
    Fact<launchNs, 15200, "inferred", "as on v3">,
    Fact<peRampCycles, 0, "inferred", "the throttle is described for Trn2 and Trn3 only">,
    Fact<peRampBusyPercent, 50, "inferred", "unused without a ramp">,
  ];
}

def Trn1 : Device<"trn1", "AWS Trainium1, one NeuronCore-v2"> {
  let base = [Inf2];
}

//===--------------------------------------------------------------------------===//
// Core version 3
//===--------------------------------------------------------------------------===//

def Trn2 : Device<"trn2", "AWS Trainium2, one physical NeuronCore-v3"> {
  let base = [Inf2];
  let facts = [
    Fact<version, 3, "documented", "HW">,
    Fact<coresPerChip, 8, "documented", "HW">,
    Fact<sbufBytes, 229376, "documented", "A3: 28 MiB">,
    Fact<sbufBytesUsable, 212984, "documented", "KLR Trace.lean: 224 Ki - 16 Ki - 8">,
    Fact<peHz, 2400000000, "documented", "A3">,
    Fact<dveHz, 960000000, "documented", "A3">,
    Fact<actHz, 1200000000, "documented", "A3">,
    Fact<poolHz, 1200000000, "documented", "A3">,
    Fact<spHz, 1200000000, "inferred", "G 11.1">,
    Fact<fp32TransposePasses, 2, "documented", "A3; M3: 109 ns for 128 columns">,
    Fact<loadStationaryNs, 95, "measured", "M3: 95 to 100 warm">,
    Fact<loadStationaryFp32Ns, 185, "measured", "M3: 185 to 191 warm">,
    Fact<peFixedNs, 163, "measured", "M3: duration minus moving / clock">,
    Fact<dveFixedNs, 157, "measured", "M3: 157 + 1.04 N">,
    Fact<actFixedNs, 157, "measured", "M3: 157 + 0.836 N">,
    Fact<actFunctionNs, 121, "measured", "M3: EXP 278 against COPY 157">,
    Fact<actChainNs, 0, "measured", "M3: minimum and median differ by 1 ns">,
    Fact<actTableLoadNs, 1283, "measured", "M3: always">,
    Fact<dvePerformanceModes, 1, "documented", "A3">,
    Fact<dveFp32CopyRate, 2, "measured", "M3: multiply fp32 SBUF to SBUF, 512 in 481 ns (one shape)">,
    Fact<fullRateStrideBytes, 16, "inferred", "A2's rule, not restated for v3">,
    Fact<psumPortShared, 0, "documented", "A3">,
    Fact<sbufPortShared, 0, "documented", "A3">,
    Fact<dveModeBusShared, 1, "documented", "A3">,
    Fact<semaphoreNs, 35, "measured", "M3: 33 to 39">,
    Fact<semaphoreToPeNs, 53, "measured", "M3: 52 to 54">,
    Fact<semaphoreWaitNs, 15, "inferred", "as on v2">,
    Fact<dmaIssueNs, 570, "measured", "M3: 541 to 601 on SP">,
    Fact<dmaSoftwareIssueNs, 583, "measured", "M3">,
    Fact<dmaStartNs, 1330, "measured", "M3: hardware descriptors">,
    Fact<dmaSoftwareStartNs, 695, "measured", "M3: 630 to 760">,
    Fact<dmaCompletionNs, 380, "measured", "M3">,
    Fact<dmaPacketWirePs, 7200, "measured", "M3: fits four packet sizes within 4 %">,
    Fact<dmaPacketStartPs, 22600, "inferred", "G 5: fit of two sustained rates">,
    Fact<dmaSustainedBytesPerUs, 25200, "inferred", "G 5: fit of two sustained rates">,
    Fact<dmaTransposeRatePercent, 90, "documented", "A3: at most, HBM to SBUF">,
    Fact<hbmBytesPerUs, 362500, "inferred", "2.9 TB/s over 8 cores">,
    Fact<hbmBytesPerCoreMiB, 12288, "documented", "HW: 96 GiB over 8 cores">,
    Fact<launchNs, 15200, "measured", "M3: 13.5 before and 1.7 us after">,
    Fact<peRampCycles, 8192, "measured", "M3: windows of 3.413 us">,
    Fact<peRampBusyPercent, 50, "documented", "NX">,
  ];
}

//===--------------------------------------------------------------------------===//
// Core version 4
//===--------------------------------------------------------------------------===//

def Trn3 : Device<"trn3", "AWS Trainium3, one physical NeuronCore-v4"> {
  let base = [Trn2];
  let facts = [
    Fact<version, 4, "documented", "HW">,
    Fact<sbufBytes, 262144, "documented", "A4: 32 MiB">,
    Fact<sbufBytesUsable, 245752, "documented", "KLR Trace.lean: 256 Ki - 16 Ki - 8">,
    Fact<dveHz, 1200000000, "documented", "A4">,
    Fact<matmulMovingMax, 4096, "documented", "ISA32 (8192 with a bf16 dst is left out)">,
    Fact<act16BitCopyRate, 2, "documented", "A4">,
    Fact<semaphores, 256, "inferred", "not public; as before">,
    Fact<poolStart, 150, "inferred", "as before">,
    Fact<dmaPacketStartPs, 15752, "inferred", "v3's 22.6 ns times 23/33, G 5">,
    Fact<dmaSustainedBytesPerUs, 36157, "inferred", "v3's 25.2 B/ns times 33/23, G 5">,
    Fact<dmaWireBytesPerUs, 38400, "documented", "DMAO">,
    Fact<hbmBytesPerUs, 612500, "inferred", "4.9 TB/s over 8 cores">,
    Fact<hbmBytesPerCoreMiB, 18432, "documented", "HW: 144 GiB over 8 cores">,
  ];
}
