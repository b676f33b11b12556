//===- HostPath.cpp - which host instructions the emulator uses ---------------===//
//
// Owns processor detection. Refuses processors without fused multiply-add: the arithmetic contract needs it in hardware
// (performance.md 5.5.6).
//
//===----------------------------------------------------------------------===//
#include "runtime/emulator/HostPath.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include <cstdlib>
#include <vector>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace trn::rt {

// What is chosen among, slowest first; the model of AMX runs only where a test names it.
static constexpr HostPath kPaths[] = {HostPath::Scalar, HostPath::Avx2, HostPath::Avx512, HostPath::Amx};
static constexpr HostPath kNamed[] = {HostPath::Scalar, HostPath::Avx2, HostPath::Avx512, HostPath::Amx,
                                      HostPath::AmxModel};

const char *name(HostPath path) {
  switch (path) {
  case HostPath::Scalar:
    return "scalar";
  case HostPath::Avx2:
    return "avx2";
  case HostPath::Avx512:
    return "avx512";
  case HostPath::Amx:
    return "amx";
  case HostPath::AmxModel:
    return "amx_model";
  }
  return "?";
}

/// CPUID says what the processor has; the tile registers need the kernel's permission as well (arch_prctl
/// ARCH_REQ_XCOMP_PERM for XTILEDATA, Linux 5.16).
static bool hasTiles() {
#if defined(__linux__) && defined(__x86_64__)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return __builtin_cpu_supports("amx-tile") && __builtin_cpu_supports("amx-bf16") &&
         syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

bool isSupported(HostPath path) {
  bool fma = __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  bool avx512 = fma && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  switch (path) {
  case HostPath::Scalar:
  case HostPath::AmxModel:
    return fma;
  case HostPath::Avx2:
    return fma && __builtin_cpu_supports("avx2");
  case HostPath::Avx512:
    return avx512;
  case HostPath::Amx: {
    static const bool tiles = hasTiles();
    return avx512 && tiles;
  }
  }
  return false;
}

const Kernels &kernelsOf(HostPath path) {
  switch (path) {
  case HostPath::Scalar:
    return scalarKernels();
  case HostPath::Avx2:
    return avx2Kernels();
  case HostPath::Avx512:
    return avx512Kernels();
  case HostPath::Amx:
    return amxKernels();
  case HostPath::AmxModel:
    return amxModelKernels();
  }
  return scalarKernels();
}

static std::vector<std::string> supportedNames() {
  std::vector<std::string> names;
  for (HostPath path : kPaths)
    if (isSupported(path))
      names.push_back(name(path));
  return names;
}

absl::StatusOr<HostPath> parseHostPath(absl::string_view text) {
  for (HostPath path : kNamed) {
    if (text != name(path))
      continue;
    if (isSupported(path))
      return path;
    return absl::FailedPreconditionError(absl::StrCat("host path '", text, "': this processor lacks it; expected one of ",
                                                      absl::StrJoin(supportedNames(), ", ")));
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown host path '", text, "': expected one of ",
                                                 absl::StrJoin(supportedNames(), ", ")));
}

absl::StatusOr<HostPath> chooseHostPath() {
  if (const char *forced = std::getenv("TRN_ISA"))
    return parseHostPath(forced);
  for (auto path = std::rbegin(kPaths); path != std::rend(kPaths); ++path)
    if (isSupported(*path))
      return *path;
  return absl::FailedPreconditionError("the emulator needs an x86-64 processor with FMA and F16C");
}

} // namespace trn::rt
