set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET default)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# What is linked holds no path of the build folder, so that its build ID is the same in every folder.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
# Programs find a library at run time: one whose sources changed does not link them again.
set(CMAKE_LINK_DEPENDS_NO_SHARED ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# Debug information is worth its disk space only where somebody asks for it; assertions stay off in
# Release, since every check that matters throws.
find_program(FACEBENCH_CCACHE ccache)
if(FACEBENCH_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # What ccache must be told before it keeps units that use precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${FACEBENCH_CCACHE})
endif()

# GCC collects its garbage before it takes much memory; an eighth of its time, for half a gigabyte.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-expand=400>"
                      "$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-heapsize=500000>")
endif()

add_library(facebench_warnings INTERFACE)
target_compile_options(facebench_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wno-missing-field-initializers>
  # Several sources are compiled together; to GCC each then looks like a header.
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>
  # The same arithmetic for every compiler and every level of optimisation: a*b+c is fused only
  # where a kernel says so.
  $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
