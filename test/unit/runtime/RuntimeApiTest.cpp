// The C API and the nrt_* shim on a small program: y = x + w.
#include "runtime/executable/ExecutableFile.h"
#include "trn/nrt.h"
#include "trn/runtime.h"
#include <atomic>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

using namespace trn;
using testing::HasSubstr;

namespace {

isa::AP pattern(isa::Space space, uint32_t buffer, uint64_t address) {
  isa::AP ap;
  ap.space = space;
  ap.buffer = buffer;
  ap.address = address;
  ap.partitions = 64;
  ap.partitionStep = space == isa::Space::HBM ? 4 : 0;
  ap.rank = 1;
  ap.dims[0] = {1, 4};
  return ap;
}

/// The element types of a buffer.
struct Types {
  isa::DType device = isa::DType::F32, host = isa::DType::F32;
};

/// x + w on [64, 4] fp32, waiting for each transfer; `wait` false leaves the race in. The bits of x come from words of `x`.
std::vector<uint8_t> program(bool wait = true, Types x = {}) {
  exe::Executable exe;
  exe.device = "trn2";
  exe.buffers = {{exe::BufferKind::Input, "x", x.device, {64, 4}, 1024, 0, x.host},
                 {exe::BufferKind::Weight, "w", isa::DType::F32, {64, 4}, 1024, 0, isa::DType::F32},
                 {exe::BufferKind::Output, "y", isa::DType::F32, {64, 4}, 1024, 0, isa::DType::F32}};
  exe.weights.bytes = 1024;
  exe.weights.read = [](uint64_t offset, void *out, uint64_t size) {
    std::vector<float> twos(256, 2.0f);
    std::memcpy(out, reinterpret_cast<const uint8_t *>(twos.data()) + offset, size);
    return true;
  };
  exe::Program sync{isa::Engine::SP, {}}, vector{isa::Engine::DVE, {}};
  auto command = [](isa::Instruction inst, isa::Engine engine) {
    isa::Command result = {};
    result.inst = std::move(inst);
    result.engine = engine;
    return result;
  };
  for (uint16_t i : {0, 1}) {
    isa::DmaCopy load;
    load.dst = pattern(isa::Space::SBUF, 0, i * 16);
    load.src = pattern(isa::Space::HBM, i, 0);
    isa::Command c = command(load, isa::Engine::SP);
    c.hasUpdate = true;
    c.update = {i, 16};
    sync.commands.push_back(c);
  }
  isa::TensorTensor add;
  add.dst = pattern(isa::Space::SBUF, 0, 32);
  add.lhs = pattern(isa::Space::SBUF, 0, 0);
  add.rhs = pattern(isa::Space::SBUF, 0, 16);
  add.op = isa::AluOp::Add;
  isa::Command c = command(add, isa::Engine::DVE);
  c.hasWait = c.hasUpdate = true;
  c.wait = wait ? isa::Wait{1, 16} : isa::Wait{0, 16}; // one ring: the second transfer ends after the first
  c.update = {2, 1};
  vector.commands.push_back(c);
  isa::DmaCopy store;
  store.dst = pattern(isa::Space::HBM, 2, 0);
  store.src = pattern(isa::Space::SBUF, 0, 32);
  c = command(store, isa::Engine::SP);
  c.hasWait = c.hasUpdate = true;
  c.wait = {2, 1};
  c.update = {3, 16};
  sync.commands.push_back(c);
  c = command(isa::SemaphoreWait(), isa::Engine::SP);
  c.hasWait = true;
  c.wait = {3, 16};
  sync.commands.push_back(c);
  exe.programs = {sync, vector};
  absl::StatusOr<std::vector<uint8_t>> bytes = exe::serializeExecutable(exe);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return *bytes;
}

struct Failure {
  trn_error *error = nullptr;
  ~Failure() { trn_error_free(error); }
  std::string text() const { return trn_error_message(error); }
};

isa::AP oneRow(uint32_t buffer, isa::DType type, uint32_t elements) {
  isa::AP ap;
  ap.space = isa::Space::HBM;
  ap.dtype = type;
  ap.buffer = buffer;
  ap.rank = 1;
  ap.dims[0] = {1, elements};
  return ap;
}

/// The positions of x [2, 3] that are not 0.
std::vector<uint8_t> countedProgram() {
  exe::Executable exe;
  exe.device = "trn2";
  exe.buffers = {{exe::BufferKind::Input, "x", isa::DType::F32, {2, 3}, 24, 0, isa::DType::F32},
                 {exe::BufferKind::Output, "y", isa::DType::I32, {2, 6}, 48, 0, isa::DType::I64, 2, 1},
                 {exe::BufferKind::Output, "y.count", isa::DType::I32, {1}, 4, 0, isa::DType::I32}};
  isa::LibraryNonzero nonzero;
  nonzero.dims = {2, 3};
  nonzero.mask = oneRow(0, isa::DType::F32, 6);
  nonzero.indices = oneRow(1, isa::DType::I32, 12);
  nonzero.count = oneRow(2, isa::DType::I32, 1);
  isa::Command command = {};
  command.inst = nonzero;
  command.engine = isa::Engine::POOL;
  exe.programs = {{isa::Engine::POOL, {command}}};
  absl::StatusOr<std::vector<uint8_t>> bytes = exe::serializeExecutable(exe);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return bytes.ok() ? *bytes : std::vector<uint8_t>();
}

/// Of an output with a count only what is valid comes back, each row side by side; the count is no output.
TEST(RuntimeApi, CutsCountedOutputs) {
  std::vector<uint8_t> bytes = countedProgram();
  trn_executable *executable = nullptr;
  trn_instance *instance = nullptr;
  Failure failure;
  ASSERT_EQ(TRN_OK, trn_executable_load_bytes(bytes.data(), bytes.size(), &executable, &failure.error)) << failure.text();
  EXPECT_EQ(1u, trn_executable_num_outputs(executable));
  ASSERT_EQ(TRN_OK, trn_instance_create(executable, nullptr, &instance, &failure.error)) << failure.text();
  trn_executable_free(executable);
  const float x[6] = {0, 2, 0, 4, 0, 6};
  ASSERT_EQ(TRN_OK, trn_instance_write_input(instance, 0, x, sizeof x, nullptr));
  ASSERT_EQ(TRN_OK, trn_instance_execute(instance, &failure.error)) << failure.text();
  int64_t shape[2] = {}, y[6] = {};
  ASSERT_EQ(TRN_OK, trn_instance_output_shape(instance, 0, shape, 2, nullptr));
  EXPECT_EQ(2, shape[0]);
  EXPECT_EQ(3, shape[1]);
  EXPECT_EQ(TRN_INVALID_ARGUMENT, trn_instance_output_shape(instance, 0, shape, 3, nullptr));
  EXPECT_EQ(TRN_INVALID_ARGUMENT, trn_instance_read_output(instance, 0, y, 96, nullptr));
  ASSERT_EQ(TRN_OK, trn_instance_read_output(instance, 0, y, sizeof y, nullptr));
  EXPECT_THAT(y, testing::ElementsAre(0, 1, 1, 1, 0, 2));
  trn_instance_free(instance);
}

TEST(RuntimeApi, RunsAndReportsShapes) {
  std::vector<uint8_t> bytes = program();
  trn_executable *executable = nullptr;
  Failure failure;
  ASSERT_EQ(TRN_OK, trn_executable_load_bytes(bytes.data(), bytes.size(), &executable, &failure.error)) << failure.text();
  trn_tensor_info info;
  ASSERT_EQ(1u, trn_executable_num_inputs(executable));
  ASSERT_EQ(TRN_OK, trn_executable_input(executable, 0, &info, nullptr));
  EXPECT_STREQ("x", info.name);
  EXPECT_EQ(1, info.dtype);
  EXPECT_EQ(1024u, info.bytes);
  EXPECT_EQ(TRN_INVALID_ARGUMENT, trn_executable_output(executable, 1, &info, &failure.error));
  EXPECT_THAT(failure.text(), HasSubstr("expected an index below 1 but got 1"));

  trn_instance *instance = nullptr;
  Failure create;
  ASSERT_EQ(TRN_OK, trn_instance_create(executable, nullptr, &instance, &create.error)) << create.text();
  trn_executable_free(executable); // the instance keeps what it needs
  Failure early;
  EXPECT_EQ(TRN_INVALID_ARGUMENT, trn_instance_execute(instance, &early.error));
  EXPECT_THAT(early.text(), HasSubstr("input 'x' has no value"));
  std::vector<float> x(256), y(256);
  Failure nothing;
  EXPECT_EQ(TRN_INVALID_ARGUMENT, trn_instance_read_output(instance, 0, y.data(), 1024, &nothing.error));
  EXPECT_THAT(nothing.text(), HasSubstr("there are no outputs"));
  int64_t shape[2];
  EXPECT_EQ(TRN_INVALID_ARGUMENT, trn_instance_output_shape(instance, 0, shape, 2, nullptr));
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i);
  EXPECT_EQ(TRN_INVALID_ARGUMENT, trn_instance_write_input(instance, 0, x.data(), 1020, nullptr));
  for (float offset : {0.0f, 100.0f}) { // twice: an instance can run again
    for (float &value : x)
      value += offset;
    ASSERT_EQ(TRN_OK, trn_instance_write_input(instance, 0, x.data(), 1024, nullptr));
    Failure run;
    ASSERT_EQ(TRN_OK, trn_instance_execute(instance, &run.error)) << run.text();
    ASSERT_EQ(TRN_OK, trn_instance_read_output(instance, 0, y.data(), 1024, nullptr));
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(x[i] + 2, y[i]);
  }
  trn_instance_free(instance);
}

TEST(RuntimeApi, RefusesNothingToLoad) {
  trn_executable *executable = nullptr;
  Failure path, bytes;
  EXPECT_EQ(TRN_INVALID_ARGUMENT, trn_executable_load(nullptr, &executable, &path.error));
  EXPECT_THAT(path.text(), HasSubstr("got NULL"));
  EXPECT_EQ(TRN_INVALID_ARGUMENT, trn_executable_load_bytes(nullptr, 8, &executable, &bytes.error));
  EXPECT_THAT(bytes.text(), HasSubstr("got NULL"));
  EXPECT_EQ(nullptr, executable);
}

/// What was there before a refused write is overwritten in part: nothing may compute with it.
TEST(RuntimeApi, ForgetsAnInputThatIsRefused) {
  std::vector<uint8_t> bytes = program(/*wait=*/true, /*x=*/{isa::DType::I32, isa::DType::I64});
  trn_executable *executable = nullptr;
  trn_instance *instance = nullptr;
  Failure failure, written, run;
  ASSERT_EQ(TRN_OK, trn_executable_load_bytes(bytes.data(), bytes.size(), &executable, &failure.error)) << failure.text();
  ASSERT_EQ(TRN_OK, trn_instance_create(executable, nullptr, &instance, &failure.error)) << failure.text();
  std::vector<int64_t> x(256, 1);
  ASSERT_EQ(TRN_OK, trn_instance_write_input(instance, 0, x.data(), 2048, &failure.error)) << failure.text();
  x[2] = int64_t(1) << 40;
  EXPECT_EQ(TRN_INVALID_ARGUMENT, trn_instance_write_input(instance, 0, x.data(), 2048, &written.error));
  EXPECT_THAT(written.text(), HasSubstr("element 2"));
  EXPECT_EQ(TRN_INVALID_ARGUMENT, trn_instance_execute(instance, &run.error));
  EXPECT_THAT(run.text(), HasSubstr("input 'x' has no value"));
  trn_instance_free(instance);
  trn_executable_free(executable);
}

TEST(RuntimeApi, RefusesRacesUnlessToldNotToLook) {
  std::vector<uint8_t> bytes = program(/*wait=*/false);
  trn_executable *executable = nullptr;
  ASSERT_EQ(TRN_OK, trn_executable_load_bytes(bytes.data(), bytes.size(), &executable, nullptr));
  trn_instance *instance = nullptr;
  Failure failure;
  EXPECT_EQ(TRN_EXECUTION, trn_instance_create(executable, nullptr, &instance, &failure.error));
  EXPECT_NE("", failure.text());
  trn_instance_options options;
  trn_instance_options_init(&options, sizeof options);
  options.check = 0;
  EXPECT_EQ(TRN_OK, trn_instance_create(executable, &options, &instance, nullptr));
  trn_instance_free(instance);
  trn_executable_free(executable);
}

// Two instances of one executable run side by side; two threads that share an instance get results or TRN_BUSY, or, when
// one has cancelled the run of the other, no outputs.
TEST(RuntimeApi, ThreadsMayShareExecutablesAndInstances) {
  std::vector<uint8_t> bytes = program();
  trn_executable *executable = nullptr;
  ASSERT_EQ(TRN_OK, trn_executable_load_bytes(bytes.data(), bytes.size(), &executable, nullptr));
  trn_instance *shared = nullptr;
  ASSERT_EQ(TRN_OK, trn_instance_create(executable, nullptr, &shared, nullptr));
  std::vector<float> zeros(256);
  ASSERT_EQ(TRN_OK, trn_instance_write_input(shared, 0, zeros.data(), 1024, nullptr));
  std::atomic<int> wrong{0};
  auto work = [&](float value) {
    trn_instance_options options;
    trn_instance_options_init(&options, sizeof options);
    options.threads = 2;
    trn_instance *own = nullptr;
    if (trn_instance_create(executable, &options, &own, nullptr) != TRN_OK) {
      ++wrong;
      return;
    }
    std::vector<float> x(256, value), y(256);
    for (int i = 0; i < 50; ++i) {
      wrong += trn_instance_write_input(own, 0, x.data(), 1024, nullptr) != TRN_OK;
      wrong += trn_instance_execute(own, nullptr) != TRN_OK;
      wrong += trn_instance_read_output(own, 0, y.data(), 1024, nullptr) != TRN_OK;
      wrong += y[i] != value + 2;
      for (trn_status status :
           {trn_instance_write_input(shared, 0, x.data(), 1024, nullptr), trn_instance_execute(shared, nullptr)})
        wrong += status != TRN_OK && status != TRN_BUSY && status != TRN_CANCELLED;
      trn_status status = trn_instance_read_output(shared, 0, y.data(), 1024, nullptr);
      wrong += status != TRN_OK && status != TRN_BUSY && status != TRN_INVALID_ARGUMENT;
      trn_instance_cancel(shared);
    }
    trn_instance_free(own);
  };
  std::thread first(work, 1.0f), second(work, 5.0f);
  first.join();
  second.join();
  EXPECT_EQ(wrong, 0);
  trn_instance_free(shared);
  trn_executable_free(executable);
}

/// Callers of older and of newer versions of the header.
TEST(RuntimeApi, OptionsOfOtherVersionsAreUnderstood) {
  std::vector<uint8_t> bytes = program();
  trn_executable *executable = nullptr;
  ASSERT_EQ(TRN_OK, trn_executable_load_bytes(bytes.data(), bytes.size(), &executable, nullptr));
  struct Newer {
    trn_instance_options known;
    uint64_t unknown;
  } newer;
  std::memset(&newer, 0, sizeof newer);
  trn_instance_options_init(&newer.known, sizeof newer);
  auto create = [&](Failure &failure) {
    trn_instance *instance = nullptr;
    trn_status status = trn_instance_create(executable, &newer.known, &instance, &failure.error);
    trn_instance_free(instance);
    return status;
  };
  Failure zeros, unknown, older, nothing;
  EXPECT_EQ(TRN_OK, create(zeros)) << zeros.text();
  newer.unknown = 1;
  EXPECT_EQ(TRN_INVALID_ARGUMENT, create(unknown));
  EXPECT_THAT(unknown.text(), HasSubstr("does not know"));
  // An older caller has neither `check` nor `timeout_seconds`: what lies there is not read.
  newer.known.struct_size = offsetof(trn_instance_options, check);
  newer.known.timeout_seconds = -1;
  EXPECT_EQ(TRN_OK, create(older)) << older.text();
  newer.known.struct_size = 0;
  EXPECT_EQ(TRN_INVALID_ARGUMENT, create(nothing));
  trn_executable_free(executable);
}

/// The caller's size decides what is written, so that a struct of an older header is not overrun and the fields of a
/// newer one start as zeros.
TEST(RuntimeApi, OptionsAreInitializedToTheSizeOfTheCaller) {
  unsigned char bytes[sizeof(trn_instance_options) + 16];
  auto *options = reinterpret_cast<trn_instance_options *>(bytes);
  for (size_t size = sizeof options->struct_size; size <= sizeof bytes; size += 4) {
    std::memset(bytes, 0xAB, sizeof bytes);
    trn_instance_options_init(options, size);
    EXPECT_EQ(options->struct_size, size);
    if (size >= offsetof(trn_instance_options, timeout_seconds)) {
      EXPECT_EQ(options->threads, 1u);
      EXPECT_EQ(options->check, 1u);
    }
    for (size_t i = sizeof(trn_instance_options); i < size; ++i)
      EXPECT_EQ(bytes[i], 0) << "size " << size << ", byte " << i;
    for (size_t i = size; i < sizeof bytes; ++i)
      EXPECT_EQ(bytes[i], 0xAB) << "size " << size << ", byte " << i;
  }
}

TEST(RuntimeApi, ProfileIsJson) {
  std::vector<uint8_t> bytes = program();
  trn_executable *executable = nullptr;
  ASSERT_EQ(TRN_OK, trn_executable_load_bytes(bytes.data(), bytes.size(), &executable, nullptr));
  char *json = nullptr;
  ASSERT_EQ(TRN_OK, trn_executable_profile_json(executable, &json, nullptr));
  EXPECT_THAT(json, HasSubstr("\"total_time\""));
  EXPECT_THAT(json, HasSubstr("\"hbm_read_bytes\""));
  trn_string_free(json);
  trn_executable_free(executable);
}

TEST(RuntimeApi, BadFilesAreBadFiles) {
  trn_executable *executable = nullptr;
  Failure failure;
  EXPECT_EQ(TRN_BAD_FILE, trn_executable_load("/nowhere/model.trnx", &executable, &failure.error));
  EXPECT_THAT(failure.text(), HasSubstr("/nowhere/model.trnx"));
  EXPECT_EQ(TRN_BAD_FILE, trn_executable_load_bytes("no elf", 6, &executable, nullptr));
}

TEST(NrtShim, LifeCycleOfAModel) {
  std::vector<uint8_t> bytes = program();
  nrt_model_t *model = nullptr;
  EXPECT_EQ(NRT_UNINITIALIZED, nrt_load(bytes.data(), bytes.size(), 0, 1, &model));
  ASSERT_EQ(NRT_SUCCESS, nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  EXPECT_EQ(NRT_UNSUPPORTED_NEFF_VERSION, nrt_load("NEFF", 4, 0, 1, &model));
  EXPECT_EQ(NRT_LOAD_NOT_ENOUGH_NC, nrt_load(bytes.data(), bytes.size(), 0, 2, &model));
  ASSERT_EQ(NRT_SUCCESS, nrt_load(bytes.data(), bytes.size(), 0, 1, &model));
  nrt_tensor_t *x = nullptr, *y = nullptr;
  ASSERT_EQ(NRT_SUCCESS, nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 1024, "x", &x));
  ASSERT_EQ(NRT_SUCCESS, nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 1024, "y", &y));
  std::vector<float> ones(256, 1.0f), result(256);
  ASSERT_EQ(NRT_SUCCESS, nrt_tensor_write(x, ones.data(), 0, 1024));
  EXPECT_EQ(NRT_INVALID, nrt_tensor_write(x, ones.data(), 8, 1024));
  nrt_tensor_set_t *inputs = nullptr, *outputs = nullptr;
  nrt_allocate_tensor_set(&inputs);
  nrt_allocate_tensor_set(&outputs);
  EXPECT_EQ(NRT_EXEC_BAD_INPUT, nrt_execute(model, inputs, outputs));
  nrt_add_tensor_to_tensor_set(inputs, "x", x);
  nrt_add_tensor_to_tensor_set(outputs, "y", y);
  ASSERT_EQ(NRT_SUCCESS, nrt_execute(model, inputs, outputs));
  ASSERT_EQ(NRT_SUCCESS, nrt_tensor_read(y, result.data(), 0, 1024));
  EXPECT_THAT(result, testing::Each(3.0f));
  EXPECT_EQ(NRT_SUCCESS, nrt_unload(model));
  nrt_destroy_tensor_set(&inputs);
  nrt_destroy_tensor_set(&outputs);
  nrt_tensor_free(&x);
  nrt_tensor_free(&y);
  nrt_close();
  EXPECT_EQ(NRT_CLOSED, nrt_load(bytes.data(), bytes.size(), 0, 1, &model));
}

/// Tensors keep their size: what the run leaves out of a counted output is zeros.
TEST(NrtShim, FillsCountedOutputs) {
  std::vector<uint8_t> bytes = countedProgram();
  ASSERT_EQ(NRT_SUCCESS, nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  nrt_model_t *model = nullptr;
  ASSERT_EQ(NRT_SUCCESS, nrt_load(bytes.data(), bytes.size(), 0, 1, &model));
  nrt_tensor_t *x = nullptr, *y = nullptr;
  ASSERT_EQ(NRT_SUCCESS, nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 24, "x", &x));
  ASSERT_EQ(NRT_SUCCESS, nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 96, "y", &y));
  nrt_tensor_set_t *inputs = nullptr, *outputs = nullptr;
  nrt_allocate_tensor_set(&inputs);
  nrt_allocate_tensor_set(&outputs);
  nrt_add_tensor_to_tensor_set(inputs, "x", x);
  nrt_add_tensor_to_tensor_set(outputs, "y", y);
  int64_t indices[12];
  for (const std::vector<float> &values : {std::vector<float>{1, 1, 1, 1, 1, 1}, std::vector<float>{0, 2, 0, 4, 0, 6}}) {
    ASSERT_EQ(NRT_SUCCESS, nrt_tensor_write(x, values.data(), 0, 24));
    ASSERT_EQ(NRT_SUCCESS, nrt_execute(model, inputs, outputs));
    ASSERT_EQ(NRT_SUCCESS, nrt_tensor_read(y, indices, 0, sizeof indices));
  }
  EXPECT_THAT(indices, testing::ElementsAre(0, 1, 1, 1, 0, 2, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(NRT_SUCCESS, nrt_unload(model));
  nrt_destroy_tensor_set(&inputs);
  nrt_destroy_tensor_set(&outputs);
  nrt_tensor_free(&x);
  nrt_tensor_free(&y);
  nrt_close();
}

} // namespace
