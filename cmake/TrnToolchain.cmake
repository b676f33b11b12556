# Compiler, linker and package choices, in one place. Debian 12 packages: see scripts/packages.txt.
find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
find_package(Protobuf REQUIRED)
find_package(absl REQUIRED)
find_package(GTest REQUIRED)
find_package(Threads REQUIRED)
list(APPEND CMAKE_MODULE_PATH ${LLVM_CMAKE_DIR} ${MLIR_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# AddLLVM lets LLVM's settings decide where tools go; ours stay in bin/.
set(LLVM_RUNTIME_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/bin)
set(LLVM_LIBRARY_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/lib)

find_program(TRN_CCACHE ccache)
if(TRN_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TRN_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${TRN_CCACHE})
endif()

add_compile_options(-Wall -Wextra -Wno-unused-parameter -Werror -fno-strict-aliasing -fvisibility-inlines-hidden)
add_link_options(-fuse-ld=lld)
if(TRN_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-sanitize=vptr -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
if(TRN_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# One Python for scripts and tests: the virtual environment that scripts/setup.sh makes.
set(TRN_PYTHON ${CMAKE_SOURCE_DIR}/.venv/bin/python CACHE FILEPATH "Interpreter with onnx, onnxruntime, numpy")

# The ONNX schema that the importer's reader is generated from (scripts/setup.sh takes it out of the pinned wheel).
set(TRN_ONNX_PROTO ${CMAKE_SOURCE_DIR}/.deps/schema/onnx-ml.proto CACHE FILEPATH "onnx-ml.proto")
