/*===- runtime.h - load and run compiled models (C API) -------------------===*\
 *
 * Loads `.trnx` executables and runs them on the emulated device. Handle based: an executable is immutable and can be
 * shared between threads; an instance owns the device memory of one execution context and runs one execution at a time.
 *
 * Every function that can fail returns a `trn_status`; when `error` is not NULL and the call fails, `*error` receives
 * an object with the whole text, to be freed with `trn_error_free`. Pointers into handles live as long as the handle.
 * Nothing here throws, prints, or touches the network or any file that it was not given.
 *
\*===----------------------------------------------------------------------===*/
#ifndef TRN_RUNTIME_H
#define TRN_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TRN_API __attribute__((visibility("default")))
#else
#define TRN_API
#endif

typedef enum trn_status {
  TRN_OK = 0,
  TRN_INVALID_ARGUMENT = 1, /**< a wrong index, name, size, option or order of calls */
  TRN_BAD_FILE = 2,         /**< not an executable, damaged, or for another version */
  TRN_RESOURCE = 3,         /**< host memory, file or device memory exhausted */
  TRN_BUSY = 4,             /**< the instance is executing on another thread */
  TRN_CANCELLED = 5,        /**< `trn_instance_cancel` was called */
  TRN_TIMEOUT = 6,          /**< the instruction budget or the time limit ran out */
  TRN_EXECUTION = 7,        /**< the program did something illegal (deadlock, index out of range) */
  TRN_INTERNAL = 8          /**< a defect of the runtime */
} trn_status;

/** Element types; the values are ONNX's TensorProto.DataType. */
typedef int32_t trn_dtype;

typedef struct trn_error trn_error;
typedef struct trn_executable trn_executable;
typedef struct trn_instance trn_instance;

/** The runtime's version, "major.minor.patch". */
TRN_API const char *trn_version(void);

TRN_API const char *trn_error_message(const trn_error *error);
TRN_API void trn_error_free(trn_error *error);

/** What a caller sees of one input or output. `shape` has `rank` entries; `bytes` is the size of the host's tensor. Of an
 *  output whose size the run decides they are the largest: see `trn_instance_output_shape`. This struct never grows: new
 *  facts will get functions. */
typedef struct trn_tensor_info {
  const char *name;
  trn_dtype dtype;
  size_t rank;
  const int64_t *shape;
  size_t bytes;
} trn_tensor_info;

/** Loads and validates an executable from a file, an open descriptor (it stays the caller's) or bytes (copied). */
TRN_API trn_status trn_executable_load(const char *path, trn_executable **executable, trn_error **error);
TRN_API trn_status trn_executable_load_fd(int fd, trn_executable **executable, trn_error **error);
TRN_API trn_status trn_executable_load_bytes(const void *bytes, size_t size, trn_executable **executable,
                                             trn_error **error);
/** Gives the handle up. Instances made from it stay valid. */
TRN_API void trn_executable_free(trn_executable *executable);

TRN_API const char *trn_executable_device(const trn_executable *executable);
TRN_API size_t trn_executable_num_inputs(const trn_executable *executable);
TRN_API size_t trn_executable_num_outputs(const trn_executable *executable);
TRN_API trn_status trn_executable_input(const trn_executable *executable, size_t index, trn_tensor_info *info,
                                        trn_error **error);
TRN_API trn_status trn_executable_output(const trn_executable *executable, size_t index, trn_tensor_info *info,
                                         trn_error **error);

/** Options of an instance. Later versions may append fields, never change these: `struct_size` says which ones the
 *  caller's header has. Start with `trn_instance_options_init(&options, sizeof options)`. */
typedef struct trn_instance_options {
  size_t struct_size;     /**< sizeof(trn_instance_options) of the caller: fields that an older one does not have take
                               their defaults; beyond what this version knows, a newer one must have zeros */
  uint32_t threads;       /**< worker threads of the emulated device; 0 = 1 */
  uint32_t check;         /**< 1 = refuse programs with races, unset reads or deadlocks before the first run */
  double timeout_seconds; /**< wall-clock limit of one execution; 0 = none */
} trn_instance_options;
/** Fills the `size` bytes of the caller's options, and no more, with the defaults (zeros where this version knows no
 *  field). */
TRN_API void trn_instance_options_init(trn_instance_options *options, size_t size);

/** Takes the device memory that `executable` needs, compares its weights with their checksum and places them. `options` may be NULL. */
TRN_API trn_status trn_instance_create(const trn_executable *executable, const trn_instance_options *options,
                                       trn_instance **instance, trn_error **error);
TRN_API void trn_instance_free(trn_instance *instance);

/** Copies a whole host tensor in (converting the type where the device's is narrower; values that do not fit are an
 *  error, and the input has no value then). `bytes` must be the input's size. */
TRN_API trn_status trn_instance_write_input(trn_instance *instance, size_t index, const void *data, size_t bytes,
                                            trn_error **error);
/** Runs the program once, from reset on-chip memories and semaphores. Every input must have a value. */
TRN_API trn_status trn_instance_execute(trn_instance *instance, trn_error **error);
/** The shape of an output after the last execution: `rank` entries, as many as its `trn_tensor_info` has. An error while an
 *  execution runs, and when the last one failed or there was none; `trn_instance_read_output` likewise. */
TRN_API trn_status trn_instance_output_shape(const trn_instance *instance, size_t index, int64_t *shape, size_t rank,
                                             trn_error **error);
/** Copies a whole output out; `bytes` are those of its shape after the execution. */
TRN_API trn_status trn_instance_read_output(trn_instance *instance, size_t index, void *data, size_t bytes,
                                            trn_error **error);
/** Asks a running execution to stop; callable from any thread. Without effect on an execution that begins later. */
TRN_API void trn_instance_cancel(trn_instance *instance);

/** The modelled profile of one execution as JSON (needs no data). Freed with `trn_string_free`. */
TRN_API trn_status trn_executable_profile_json(const trn_executable *executable, char **json, trn_error **error);
TRN_API void trn_string_free(char *text);

#ifdef __cplusplus
}
#endif
#endif
