//===- Targets.cpp - trnc targets -----------------------------------------===//
#include "compiler/tools/trnc/Commands.h"
#include "dialects/Trn/ISA/ISA.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace trn::driver {

int runTargets(CommandLine &line) {
  if (!line.positionals().empty())
    line.problem("'trnc targets' takes no file");
  if (line.reportProblems("trnc targets"))
    return kUsage;
  llvm::json::Array devices;
  bool markdown = line.has(OPT_markdown);
  if (!line.has(OPT_json))
    llvm::outs() << (markdown ? "| target | device | core | PE | SBUF | PSUM | HBM share |\n|---|---|---|---|---|---|---|\n"
                              : "");
  for (const isa::DeviceInfo *device : isa::allDevices()) {
    double ghz = static_cast<double>(device->peHz) / 1e9, gb = static_cast<double>(device->hbmBytesPerUs) / 1e3;
    if (line.has(OPT_json))
      devices.push_back(llvm::json::Object{{"name", device->name},
                                           {"title", device->title},
                                           {"core_version", device->version},
                                           {"pe_hz", device->peHz},
                                           {"partitions", device->partitions},
                                           {"sbuf_bytes_per_partition", device->sbufBytesUsable},
                                           {"psum_banks", device->psumBanks},
                                           {"psum_bank_bytes", device->psumBankBytes},
                                           {"hbm_bytes_per_second", device->hbmBytesPerUs * 1'000'000},
                                           {"semaphores", device->semaphores}});
    else
      llvm::outs() << llvm::formatv(markdown ? "| `{0}` | {1} | NeuronCore-v{2} | {3:f1} GHz | {4} B x {5} | {6} x {7} B | {8:f1} GB/s |\n"
                                             : "{0,-6}{1}: NeuronCore-v{2}, PE {3:f1} GHz, SBUF {4} bytes x {5} "
                                               "partitions, PSUM {6} banks of {7} bytes, HBM {8:f1} GB/s per core\n",
                                    device->name, device->title, device->version, ghz, device->sbufBytesUsable,
                                    device->partitions, device->psumBanks, device->psumBankBytes, gb);
  }
  if (line.has(OPT_json))
    llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(devices))) << "\n";
  return kOk;
}

} // namespace trn::driver
