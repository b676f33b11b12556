//===- NrtShim.cpp - AWS's runtime names over sessions --------------------===//
//
// Owns the translation of names, status codes and tensor sets. Nothing is computed here.
//
//===----------------------------------------------------------------------===//
#include "runtime/executable/ExecutableFile.h"
#include "runtime/src/Session.h"
#include "trn/nrt.h"
#include <algorithm>
#include <cstring>
#include <map>

using namespace trn;

struct nrt_model {
  std::unique_ptr<rt::Session> session;
};
struct nrt_tensor {
  std::string name;
  std::vector<uint8_t> bytes;
};

namespace {

struct TensorSet {
  std::map<std::string, nrt_tensor *> tensors;
};

enum class Life { Before, Open, Closed };
std::atomic<Life> life{Life::Before};

NRT_STATUS alive() {
  switch (life.load()) {
  case Life::Before:
    return NRT_UNINITIALIZED;
  case Life::Closed:
    return NRT_CLOSED;
  case Life::Open:
    return NRT_SUCCESS;
  }
  return NRT_FAILURE;
}

NRT_STATUS statusOf(const absl::Status &status) {
  switch (status.code()) {
  case absl::StatusCode::kOk:
    return NRT_SUCCESS;
  case absl::StatusCode::kInvalidArgument:
    return NRT_EXEC_BAD_INPUT;
  case absl::StatusCode::kOutOfRange:
    return NRT_EXEC_OOB;
  case absl::StatusCode::kAborted:
    return NRT_EXEC_NC_BUSY;
  case absl::StatusCode::kDeadlineExceeded:
    return NRT_TIMEOUT;
  case absl::StatusCode::kResourceExhausted:
    return NRT_RESOURCE;
  default:
    return NRT_EXEC_COMPLETED_WITH_ERR;
  }
}

nrt_tensor *find(const nrt_tensor_set_t *set, const std::string &name) {
  const auto &tensors = static_cast<const TensorSet *>(set)->tensors;
  auto at = tensors.find(name);
  return at == tensors.end() ? nullptr : at->second;
}

bool contains(const nrt_tensor *tensor, size_t offset, size_t size) {
  return offset <= tensor->bytes.size() && size <= tensor->bytes.size() - offset;
}

} // namespace

NRT_STATUS nrt_init(nrt_framework_type_t, const char *, const char *) {
  life = Life::Open;
  return NRT_SUCCESS;
}
void nrt_close(void) { life = Life::Closed; }

NRT_STATUS nrt_load(const void *bytes, size_t size, int32_t start, int32_t count, nrt_model_t **model) {
  if (NRT_STATUS status = alive())
    return status;
  if (!bytes || !model || start > 0)
    return NRT_INVALID;
  if (count > 1)
    return NRT_LOAD_NOT_ENOUGH_NC;
  absl::StatusOr<std::shared_ptr<const exe::Executable>> loaded =
      exe::loadExecutable(absl::MakeConstSpan(static_cast<const uint8_t *>(bytes), size), std::string("nrt_load"));
  if (!loaded.ok())
    return NRT_UNSUPPORTED_NEFF_VERSION;
  absl::StatusOr<std::unique_ptr<rt::Session>> session = rt::Session::create(*loaded, rt::SessionOptions());
  if (!session.ok())
    return absl::IsResourceExhausted(session.status()) ? NRT_FAIL_HOST_MEM_ALLOC : NRT_FAILURE;
  *model = new nrt_model{std::move(*session)};
  return NRT_SUCCESS;
}

NRT_STATUS nrt_unload(nrt_model_t *model) {
  if (!model)
    return NRT_INVALID_HANDLE;
  delete model;
  return NRT_SUCCESS;
}

NRT_STATUS nrt_get_model_nc_count(const nrt_model_t *model, uint32_t *count) {
  if (!model || !count)
    return NRT_INVALID;
  *count = 1;
  return NRT_SUCCESS;
}

NRT_STATUS nrt_tensor_allocate(nrt_tensor_placement_t placement, int vnc, size_t size, const char *name,
                               nrt_tensor_t **tensor) {
  if (NRT_STATUS status = alive())
    return status;
  if (!tensor || placement > NRT_TENSOR_PLACEMENT_VIRTUAL || vnc > 0)
    return NRT_INVALID;
  *tensor = new nrt_tensor{name ? name : "", std::vector<uint8_t>(size)};
  return NRT_SUCCESS;
}
void nrt_tensor_free(nrt_tensor_t **tensor) {
  if (!tensor)
    return;
  delete *tensor;
  *tensor = nullptr;
}

NRT_STATUS nrt_tensor_write(nrt_tensor_t *tensor, const void *buf, size_t offset, size_t size) {
  if (!tensor || !buf || !contains(tensor, offset, size))
    return NRT_INVALID;
  std::memcpy(tensor->bytes.data() + offset, buf, size);
  return NRT_SUCCESS;
}
NRT_STATUS nrt_tensor_read(const nrt_tensor_t *tensor, void *buf, size_t offset, size_t size) {
  if (!tensor || !buf || !contains(tensor, offset, size))
    return NRT_INVALID;
  std::memcpy(buf, tensor->bytes.data() + offset, size);
  return NRT_SUCCESS;
}
size_t nrt_tensor_get_size(const nrt_tensor_t *tensor) { return tensor ? tensor->bytes.size() : 0; }
void *nrt_tensor_get_va(const nrt_tensor_t *tensor) {
  return tensor ? const_cast<uint8_t *>(tensor->bytes.data()) : nullptr;
}

NRT_STATUS nrt_allocate_tensor_set(nrt_tensor_set_t **result) {
  if (!result)
    return NRT_INVALID;
  *result = new TensorSet;
  return NRT_SUCCESS;
}
void nrt_destroy_tensor_set(nrt_tensor_set_t **set) {
  if (!set)
    return;
  delete static_cast<TensorSet *>(*set);
  *set = nullptr;
}
NRT_STATUS nrt_add_tensor_to_tensor_set(nrt_tensor_set_t *set, const char *name, nrt_tensor_t *tensor) {
  if (!set || !name || !tensor)
    return NRT_INVALID;
  static_cast<TensorSet *>(set)->tensors[name] = tensor;
  return NRT_SUCCESS;
}
NRT_STATUS nrt_get_tensor_from_tensor_set(nrt_tensor_set_t *set, const char *name, nrt_tensor_t **tensor) {
  if (!set || !name || !tensor)
    return NRT_INVALID;
  *tensor = find(set, name);
  return *tensor ? NRT_SUCCESS : NRT_INVALID;
}

NRT_STATUS nrt_execute(nrt_model_t *model, const nrt_tensor_set_t *inputs, nrt_tensor_set_t *outputs) {
  return nrt_execute_repeat(model, inputs, outputs, 1);
}

NRT_STATUS nrt_execute_repeat(nrt_model_t *model, const nrt_tensor_set_t *inputs, nrt_tensor_set_t *outputs,
                              int repeat) {
  if (NRT_STATUS status = alive())
    return status;
  if (!model || !inputs || !outputs || repeat < 1)
    return NRT_INVALID;
  rt::Session &session = *model->session;
  for (size_t i = 0; i < session.inputs().size(); ++i) {
    const nrt_tensor *tensor = find(inputs, session.buffer(session.inputs()[i]).name);
    if (!tensor)
      return NRT_EXEC_BAD_INPUT;
    if (absl::Status status = session.writeInput(i, tensor->bytes); !status.ok())
      return statusOf(status);
  }
  for (size_t i = 0; i < session.outputs().size(); ++i) {
    const nrt_tensor *tensor = find(outputs, session.buffer(session.outputs()[i]).name);
    if (!tensor || tensor->bytes.size() != session.hostBytes(session.outputs()[i]))
      return NRT_EXEC_BAD_INPUT;
  }
  for (int i = 0; i < repeat; ++i)
    if (absl::Status status = session.execute(); !status.ok())
      return statusOf(status);
  for (size_t i = 0; i < session.outputs().size(); ++i) {
    nrt_tensor *tensor = find(outputs, session.buffer(session.outputs()[i]).name);
    absl::StatusOr<std::vector<int64_t>> shape = session.outputShape(i);
    if (!shape.ok())
      return statusOf(shape.status());
    // The interface has tensors of one size: what the run leaves out of a counted output is zeros.
    absl::Span<uint8_t> valid = absl::MakeSpan(tensor->bytes).first(session.outputBytes(i, *shape));
    if (absl::Status status = session.readOutput(i, valid); !status.ok())
      return statusOf(status);
    std::fill(tensor->bytes.begin() + static_cast<ptrdiff_t>(valid.size()), tensor->bytes.end(), uint8_t(0));
  }
  return NRT_SUCCESS;
}
