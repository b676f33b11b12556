//===- CApi.cpp - the C API over Session ----------------------------------===//
//
// Owns the handles and the way errors leave the runtime. No rule lives here: sizes, names and states are checked by the
// classes below.
//
//===----------------------------------------------------------------------===//
#include "absl/strings/str_cat.h"
#include "runtime/executable/ExecutableFile.h"
#include "runtime/src/HostTypes.h"
#include "runtime/src/ProfileReport.h"
#include "runtime/src/Session.h"
#include "trn/runtime.h"
#include <cstdlib>
#include <algorithm>
#include <cstring>

using namespace trn;

struct trn_error {
  std::string message;
};
struct trn_executable {
  std::shared_ptr<const exe::Executable> executable;
  std::vector<uint32_t> inputs, outputs;
};
struct trn_instance {
  std::unique_ptr<rt::Session> session;
};

namespace {

trn_status statusOf(const absl::Status &status) {
  switch (status.code()) {
  case absl::StatusCode::kOk:
    return TRN_OK;
  case absl::StatusCode::kInvalidArgument:
  case absl::StatusCode::kOutOfRange:
    return TRN_INVALID_ARGUMENT;
  case absl::StatusCode::kNotFound:
  case absl::StatusCode::kDataLoss:
    return TRN_BAD_FILE;
  case absl::StatusCode::kResourceExhausted:
    return TRN_RESOURCE;
  case absl::StatusCode::kAborted:
    return TRN_BUSY;
  case absl::StatusCode::kCancelled:
    return TRN_CANCELLED;
  case absl::StatusCode::kDeadlineExceeded:
    return TRN_TIMEOUT;
  case absl::StatusCode::kFailedPrecondition:
    return TRN_EXECUTION;
  default:
    return TRN_INTERNAL;
  }
}

trn_status fail(trn_status code, const std::string &message, trn_error **error) {
  if (error)
    *error = new trn_error{message};
  return code;
}

trn_status finish(const absl::Status &status, trn_error **error) {
  return status.ok() ? TRN_OK : fail(statusOf(status), std::string(status.message()), error);
}

trn_status finishLoad(absl::StatusOr<std::shared_ptr<const exe::Executable>> loaded, trn_executable **executable,
                      trn_error **error) {
  if (!loaded.ok()) {
    // Whatever is wrong with the bytes, for the caller the file is bad.
    trn_status code = statusOf(loaded.status());
    return fail(code == TRN_INVALID_ARGUMENT ? TRN_BAD_FILE : code, std::string(loaded.status().message()), error);
  }
  auto *handle = new trn_executable{*loaded, {}, {}};
  for (uint32_t i = 0; i < (*loaded)->buffers.size(); ++i) {
    exe::BufferKind kind = (*loaded)->buffers[i].kind;
    if (kind == exe::BufferKind::Input)
      handle->inputs.push_back(i);
    else if (kind == exe::BufferKind::Output && !(*loaded)->isCount(i))
      handle->outputs.push_back(i);
  }
  *executable = handle;
  return TRN_OK;
}

trn_status describe(const trn_executable *executable, const std::vector<uint32_t> &which, size_t index,
                    trn_tensor_info *info, trn_error **error) {
  if (index >= which.size())
    return fail(TRN_INVALID_ARGUMENT, absl::StrCat("expected an index below ", which.size(), " but got ", index), error);
  const exe::Buffer &buffer = executable->executable->buffers[which[index]];
  info->name = buffer.name.c_str();
  info->dtype = static_cast<trn_dtype>(rt::hostType(buffer.hostDtype));
  info->rank = buffer.shape.size();
  info->shape = buffer.shape.data();
  info->bytes = buffer.bytes / isa::byteSize(buffer.dtype) * isa::byteSize(buffer.hostDtype);
  return TRN_OK;
}

} // namespace

const char *trn_version(void) { return TRN_VERSION; }

const char *trn_error_message(const trn_error *error) { return error ? error->message.c_str() : ""; }
void trn_error_free(trn_error *error) { delete error; }

trn_status trn_executable_load(const char *path, trn_executable **executable, trn_error **error) {
  if (!path)
    return fail(TRN_INVALID_ARGUMENT, "expected the path of an executable but got NULL", error);
  return finishLoad(exe::loadExecutable(std::string(path)), executable, error);
}
trn_status trn_executable_load_fd(int fd, trn_executable **executable, trn_error **error) {
  return finishLoad(exe::loadExecutable(fd, absl::StrCat("descriptor ", fd)), executable, error);
}
trn_status trn_executable_load_bytes(const void *bytes, size_t size, trn_executable **executable, trn_error **error) {
  if (!bytes && size)
    return fail(TRN_INVALID_ARGUMENT, "expected the bytes of an executable but got NULL", error);
  return finishLoad(
      exe::loadExecutable(absl::MakeConstSpan(static_cast<const uint8_t *>(bytes), size), std::string("bytes")),
      executable, error);
}
void trn_executable_free(trn_executable *executable) { delete executable; }

const char *trn_executable_device(const trn_executable *executable) { return executable->executable->device.c_str(); }
size_t trn_executable_num_inputs(const trn_executable *executable) { return executable->inputs.size(); }
size_t trn_executable_num_outputs(const trn_executable *executable) { return executable->outputs.size(); }
trn_status trn_executable_input(const trn_executable *executable, size_t index, trn_tensor_info *info,
                                trn_error **error) {
  return describe(executable, executable->inputs, index, info, error);
}
trn_status trn_executable_output(const trn_executable *executable, size_t index, trn_tensor_info *info,
                                 trn_error **error) {
  return describe(executable, executable->outputs, index, info, error);
}

void trn_instance_options_init(trn_instance_options *options, size_t size) {
  trn_instance_options defaults = {};
  defaults.struct_size = size;
  defaults.threads = 1;
  defaults.check = 1;
  std::memset(options, 0, size);
  std::memcpy(options, &defaults, std::min(size, sizeof defaults));
}

/// The options of a caller of another version: what an older one does not have keeps its default, what a newer one has
/// beyond ours must be zero. The text of a problem, or "".
static std::string readOptions(const trn_instance_options *options, trn_instance_options &known) {
  const size_t size = options->struct_size;
  if (size < sizeof options->struct_size)
    return absl::StrCat("expected options of at least ", sizeof options->struct_size, " bytes but got ", size,
                        "; start from trn_instance_options_init");
  trn_instance_options_init(&known, sizeof known);
  std::memcpy(&known, options, std::min(size, sizeof known));
  known.struct_size = sizeof known;
  const auto *bytes = reinterpret_cast<const uint8_t *>(options);
  for (size_t i = sizeof known; i < size; ++i)
    if (bytes[i] != 0)
      return absl::StrCat("the options set byte ", i, ", which this version of the runtime (", sizeof known,
                          " bytes of options) does not know");
  return "";
}

trn_status trn_instance_create(const trn_executable *executable, const trn_instance_options *options,
                               trn_instance **instance, trn_error **error) {
  rt::SessionOptions sessionOptions;
  if (options) {
    trn_instance_options known;
    if (std::string problem = readOptions(options, known); !problem.empty())
      return fail(TRN_INVALID_ARGUMENT, problem, error);
    sessionOptions.threads = known.threads ? known.threads : 1;
    sessionOptions.check = known.check != 0;
    sessionOptions.timeoutSeconds = known.timeout_seconds;
  }
  absl::StatusOr<std::unique_ptr<rt::Session>> session = rt::Session::create(executable->executable, sessionOptions);
  if (!session.ok())
    return finish(session.status(), error);
  *instance = new trn_instance{std::move(*session)};
  return TRN_OK;
}
void trn_instance_free(trn_instance *instance) { delete instance; }

trn_status trn_instance_write_input(trn_instance *instance, size_t index, const void *data, size_t bytes,
                                    trn_error **error) {
  return finish(
      instance->session->writeInput(index, absl::MakeConstSpan(static_cast<const uint8_t *>(data), bytes)), error);
}
trn_status trn_instance_execute(trn_instance *instance, trn_error **error) {
  return finish(instance->session->execute(), error);
}
trn_status trn_instance_output_shape(const trn_instance *instance, size_t index, int64_t *shape, size_t rank,
                                     trn_error **error) {
  absl::StatusOr<std::vector<int64_t>> dims = instance->session->outputShape(index);
  if (!dims.ok())
    return finish(dims.status(), error);
  if (rank != dims->size())
    return fail(TRN_INVALID_ARGUMENT, absl::StrCat("expected room for ", dims->size(), " dimensions but got ", rank), error);
  std::copy(dims->begin(), dims->end(), shape);
  return TRN_OK;
}
trn_status trn_instance_read_output(trn_instance *instance, size_t index, void *data, size_t bytes,
                                    trn_error **error) {
  return finish(instance->session->readOutput(index, absl::MakeSpan(static_cast<uint8_t *>(data), bytes)), error);
}
void trn_instance_cancel(trn_instance *instance) { instance->session->cancel(); }

trn_status trn_executable_profile_json(const trn_executable *executable, char **json, trn_error **error) {
  absl::StatusOr<std::string> text = rt::profileJson(*executable->executable);
  if (!text.ok())
    return finish(text.status(), error);
  *json = strdup(text->c_str());
  return *json ? TRN_OK : fail(TRN_RESOURCE, "out of memory", error);
}
void trn_string_free(char *text) { std::free(text); }
