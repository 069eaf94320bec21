# How every library, tool and TableGen file of the project is declared.
include_guard()

# add_attn_library(AttnX sources... [DEPENDS targets] [LINK_LIBS libraries])
#
# A static library of ours. It links libMLIR.so and libLLVM.so as a whole and never an archive of theirs: a
# plugin that brought archives would register everything twice. One precompiled header serves the library.
function(add_attn_library name)
  cmake_parse_arguments(ARG "NO_MLIR" "" "DEPENDS;LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_library(AttnMLIR::${name} ALIAS ${name})
  set_target_properties(${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:include>)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  if(ARG_NO_MLIR)
    target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS})
  else()
    attn_compile_like_llvm(${name})
    target_precompile_headers(${name} PRIVATE
      ${PROJECT_SOURCE_DIR}/lib/Precompiled.h)
    target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS} MLIR LLVM)
  endif()
  install(TARGETS ${name} EXPORT AttnMLIRTargets ARCHIVE DESTINATION lib)
endfunction()

# add_attn_tool(attn-x sources... [LINK_LIBS libraries])
function(add_attn_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tools)
  attn_compile_like_llvm(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} MLIR LLVM)
  install(TARGETS ${name} EXPORT AttnMLIRTargets RUNTIME DESTINATION bin)
endfunction()

# Exceptions off and RTTI as LLVM was built, warnings on.
function(attn_compile_like_llvm name)
  target_compile_options(${name} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -Wall -Wextra
    -Wno-unused-parameter>)
  if(NOT LLVM_ENABLE_RTTI)
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
  endif()
endfunction()
