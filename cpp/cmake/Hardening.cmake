# What makes a mistake in a reader end the process instead of running somebody's code, and which
# names our libraries export. The sanitizers' own builds go without.
include(CheckCXXCompilerFlag)
option(FACEBENCH_HARDENING "Compile with stack protector and checked libc calls" ON)
string(FIND "${CMAKE_CXX_FLAGS}" "-fsanitize" FACEBENCH_SANITIZED)

if(FACEBENCH_SANITIZED EQUAL -1)
  if(FACEBENCH_HARDENING)
    foreach(flag -fstack-protector-strong -fstack-clash-protection)
      string(MAKE_C_IDENTIFIER "FACEBENCH_HAS${flag}" has)
      check_cxx_compiler_flag(${flag} ${has})
      if(${has})
        add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:${flag}>
                            $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${flag}>)
      endif()
    endforeach()
    # It needs an optimizing compiler. A compiler may come with a level of its own.
    set(optimizing "$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<CONFIG:Release,RelWithDebInfo>>")
    add_compile_options("$<${optimizing}:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
  endif()
  if(NOT APPLE)
    add_link_options(LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
  endif()
endif()

# facebench_exports(LIBRARY MAP): the library exports what the linker's script cpp/cmake/MAP says.
function(facebench_exports library map)
  if(APPLE OR NOT FACEBENCH_SANITIZED EQUAL -1)
    return()
  endif()
  set(script "${PROJECT_SOURCE_DIR}/cpp/cmake/${map}")
  target_link_options(${library} PRIVATE "LINKER:--version-script=${script}")
  set_property(TARGET ${library} APPEND PROPERTY LINK_DEPENDS "${script}")
endfunction()
