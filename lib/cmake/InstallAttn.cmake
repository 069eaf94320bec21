# What `cmake --install` adds to libraries and tools: headers, and the package for find_package(AttnMLIR).
include(CMakePackageConfigHelpers)

set(ATTN_PACKAGE_DIR lib/cmake/AttnMLIR)
set(INCLUDE_DIR include)
string(REGEX MATCH "^[0-9]+\\.[0-9]+" ATTN_MLIR_VERSION "${LLVM_PACKAGE_VERSION}")

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/attn DESTINATION include
  FILES_MATCHING PATTERN "*.h" PATTERN "*.td")
install(DIRECTORY ${PROJECT_BINARY_DIR}/include/attn DESTINATION include
  FILES_MATCHING PATTERN "*.inc" PATTERN "CMakeFiles" EXCLUDE)

install(EXPORT AttnMLIRTargets NAMESPACE AttnMLIR::
  DESTINATION ${ATTN_PACKAGE_DIR})
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/AttnMLIRConfig.cmake.in
  ${PROJECT_BINARY_DIR}/AttnMLIRConfig.cmake
  INSTALL_DESTINATION ${ATTN_PACKAGE_DIR}
  PATH_VARS INCLUDE_DIR)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/AttnMLIRConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/AttnMLIRConfig.cmake
  ${PROJECT_BINARY_DIR}/AttnMLIRConfigVersion.cmake
  DESTINATION ${ATTN_PACKAGE_DIR})
