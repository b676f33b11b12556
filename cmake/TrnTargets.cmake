# The few ways in which this project makes targets.

# trn_mlir_library(Name SOURCES... [DEPENDS ...] [LINK ...]): a static library of compiler code, on the shared libMLIR.
# Its sources share one precompiled header of MLIR's heavy includes (NO_PCH opts out).
function(trn_mlir_library name)
  cmake_parse_arguments(ARG "NO_PCH" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  trn_mlir_target(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  if(NOT ARG_NO_PCH)
    target_precompile_headers(${name} REUSE_FROM TrnPrecompiled)
  endif()
endfunction()

# Include paths, flags and the shared MLIR for any target that uses MLIR.
function(trn_mlir_target name)
  target_include_directories(${name} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  target_compile_definitions(${name} PRIVATE ${LLVM_DEFINITIONS_LIST})
  target_compile_options(${name} PRIVATE -fno-exceptions)
  target_link_libraries(${name} PUBLIC MLIR LLVM)
endfunction()

# trn_runtime_library(Name SOURCES... [LINK ...]): a static library that sees neither LLVM nor protobuf.
function(trn_runtime_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR}/runtime/include)
  target_compile_options(${name} PRIVATE -fno-exceptions -fno-rtti -fvisibility=hidden)
  target_link_libraries(${name} PUBLIC ${ARG_LINK} Threads::Threads)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# trn_api_library(name COMPONENT Component INCLUDE folder): makes a shared library one of the public C APIs: its headers are
# those of `folder`, its only visible symbols the ones in exports.map beside it, and it is installed as a component of the
# package that cmake/TrnMlirConfig.cmake.in describes.
function(trn_api_library name)
  cmake_parse_arguments(ARG "" "COMPONENT;INCLUDE" "" ${ARGN})
  set(exports ${CMAKE_CURRENT_SOURCE_DIR}/exports.map)
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${ARG_INCLUDE}>
                                            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_options(${name} PRIVATE -Wl,--version-script=${exports}
    $<$<NOT:$<BOOL:${TRN_SANITIZE}>>:-Wl,--no-undefined>) # the sanitizers' symbols come from the program
  set_target_properties(${name} PROPERTIES LINK_DEPENDS ${exports} VERSION ${PROJECT_VERSION} SOVERSION 0)
  install(TARGETS ${name} EXPORT TrnMlir${ARG_COMPONENT} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${ARG_INCLUDE}/trn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT TrnMlir${ARG_COMPONENT} NAMESPACE TrnMlir:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/TrnMlir)
endfunction()

# trn_unit_test(Name SOURCES... LINK ...): a GoogleTest program, run by ctest.
function(trn_unit_test name)
  cmake_parse_arguments(ARG "MLIR" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR}/runtime/include)
  if(ARG_MLIR)
    trn_mlir_target(${name})
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest_main GTest::gmock)
  add_test(NAME ${name} COMMAND ${name})
  set_property(GLOBAL APPEND PROPERTY TRN_UNIT_TESTS ${name})
endfunction()

# trn_mlir_tool(name SOURCES... LINK ...): an installed command-line tool of the compiler.
function(trn_mlir_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  trn_mlir_target(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "${LLVM_LIBRARY_DIR}")
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()
