# The package that other programs find: find_package(TrnMlir COMPONENTS Compiler Runtime).
include(CMakePackageConfigHelpers)
set(TRN_CONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/TrnMlir)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/TrnMlirConfig.cmake.in ${CMAKE_BINARY_DIR}/TrnMlirConfig.cmake
  INSTALL_DESTINATION ${TRN_CONFIG_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/TrnMlirConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/TrnMlirConfig.cmake ${CMAKE_BINARY_DIR}/TrnMlirConfigVersion.cmake
  DESTINATION ${TRN_CONFIG_DIR})
