//===- HostPath.h - which host instructions the emulator uses -----------------===//
//
// Owns the choice of the host path at run time: what the processor has, what the user asked for. All paths compute the
// same bits; the choice is about speed alone.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/emulator/kernels/Kernels.h"

namespace trn::rt {

/// AmxModel is the AMX path with the matrix unit in plain loops: a test of its packing, never chosen unless named.
enum class HostPath { Scalar, Avx2, Avx512, Amx, AmxModel };

/// "scalar", "avx2", "avx512", "amx", "amx_model".
const char *name(HostPath path);

/// True if this processor and operating system can run `path`. For AMX this asks Linux for permission to use the tile
/// registers, once.
bool isSupported(HostPath path);

/// The kernels of a supported path.
const Kernels &kernelsOf(HostPath path);

/// Parses a name; an unknown or unsupported one is an error that lists what is possible.
absl::StatusOr<HostPath> parseHostPath(absl::string_view text);

/// The path to use: the environment variable TRN_ISA if set, else the fastest supported one.
absl::StatusOr<HostPath> chooseHostPath();

} // namespace trn::rt
