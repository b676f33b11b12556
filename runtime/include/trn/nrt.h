/*===- nrt.h - AWS's runtime names over the emulated device ---------------===*\
 *
 * A thin shim with the names, the status codes and the life cycle of the Neuron runtime (NRT 2.x), for programs written
 * against it: nrt_init, nrt_load, tensor sets, nrt_execute, nrt_unload. What it loads are `.trnx` executables, not NEFF.
 * Tensors live in host memory that stands for device memory. Thread safety is that of trn/runtime.h.
 *
\*===----------------------------------------------------------------------===*/
#ifndef TRN_NRT_H
#define TRN_NRT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef TRN_API
#define TRN_API __attribute__((visibility("default")))
#endif

/** Status codes of nrt_status.h. */
typedef enum {
  NRT_SUCCESS = 0,
  NRT_FAILURE = 1,
  NRT_INVALID = 2,
  NRT_INVALID_HANDLE = 3,
  NRT_RESOURCE = 4,
  NRT_TIMEOUT = 5,
  NRT_HW_ERROR = 6,
  NRT_QUEUE_FULL = 7,
  NRT_LOAD_NOT_ENOUGH_NC = 9,
  NRT_UNSUPPORTED_NEFF_VERSION = 10,
  NRT_FAIL_HOST_MEM_ALLOC = 11,
  NRT_UNINITIALIZED = 13,
  NRT_CLOSED = 14,
  NRT_EXEC_BAD_INPUT = 1002,
  NRT_EXEC_COMPLETED_WITH_NUM_ERR = 1003,
  NRT_EXEC_COMPLETED_WITH_ERR = 1004,
  NRT_EXEC_NC_BUSY = 1005,
  NRT_EXEC_OOB = 1006
} NRT_STATUS;

typedef enum { NRT_FRAMEWORK_TYPE_INVALID = 0, NRT_FRAMEWORK_TYPE_NO_FW = 1 } nrt_framework_type_t;
typedef enum {
  NRT_TENSOR_PLACEMENT_DEVICE = 0,
  NRT_TENSOR_PLACEMENT_HOST = 1,
  NRT_TENSOR_PLACEMENT_VIRTUAL = 2
} nrt_tensor_placement_t;

typedef struct nrt_model nrt_model_t;
typedef struct nrt_tensor nrt_tensor_t;
typedef void nrt_tensor_set_t;

TRN_API NRT_STATUS nrt_init(nrt_framework_type_t framework, const char *fw_version, const char *fal_version);
TRN_API void nrt_close(void);

/** Loads an executable from memory. `start_vnc` must be 0 or -1 and `vnc_count` 1 or -1: one core is emulated. */
TRN_API NRT_STATUS nrt_load(const void *neff_bytes, size_t size, int32_t start_vnc, int32_t vnc_count,
                            nrt_model_t **model);
TRN_API NRT_STATUS nrt_unload(nrt_model_t *model);
TRN_API NRT_STATUS nrt_get_model_nc_count(const nrt_model_t *model, uint32_t *nc_count);

TRN_API NRT_STATUS nrt_tensor_allocate(nrt_tensor_placement_t placement, int vnc, size_t size, const char *name,
                                       nrt_tensor_t **tensor);
TRN_API void nrt_tensor_free(nrt_tensor_t **tensor);
TRN_API NRT_STATUS nrt_tensor_write(nrt_tensor_t *tensor, const void *buf, size_t offset, size_t size);
TRN_API NRT_STATUS nrt_tensor_read(const nrt_tensor_t *tensor, void *buf, size_t offset, size_t size);
TRN_API size_t nrt_tensor_get_size(const nrt_tensor_t *tensor);
TRN_API void *nrt_tensor_get_va(const nrt_tensor_t *tensor);

TRN_API NRT_STATUS nrt_allocate_tensor_set(nrt_tensor_set_t **result);
TRN_API void nrt_destroy_tensor_set(nrt_tensor_set_t **set);
TRN_API NRT_STATUS nrt_add_tensor_to_tensor_set(nrt_tensor_set_t *set, const char *name, nrt_tensor_t *tensor);
TRN_API NRT_STATUS nrt_get_tensor_from_tensor_set(nrt_tensor_set_t *set, const char *name, nrt_tensor_t **tensor);

/** Runs the model once: every input name of the model must be in `inputs`, every output name in `outputs`. */
TRN_API NRT_STATUS nrt_execute(nrt_model_t *model, const nrt_tensor_set_t *inputs, nrt_tensor_set_t *outputs);
TRN_API NRT_STATUS nrt_execute_repeat(nrt_model_t *model, const nrt_tensor_set_t *inputs, nrt_tensor_set_t *outputs,
                                      int repeat_count);

#ifdef __cplusplus
}
#endif
#endif
