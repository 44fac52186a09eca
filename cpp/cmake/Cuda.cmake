# libfacebench_cuda, where there is an nvcc. It needs neither torch nor a driver to be built, and the
# library finds it by name when it is first asked for, so that one build serves machines with and
# without a GPU.
if(FACEBENCH_CUDA)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(FACEBENCH_CCACHE)
      set(CMAKE_CUDA_COMPILER_LAUNCHER ${FACEBENCH_CCACHE})
    endif()
    if(NOT CMAKE_CUDA_ARCHITECTURES)
      # Code for A100 and H100, and PTX that later devices compile for themselves.
      set(CMAKE_CUDA_ARCHITECTURES "80-real;90-real;90-virtual")
    endif()
    enable_language(CUDA)
    file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/cpp/*.cu")
    add_library(facebench_cuda SHARED ${cuda_sources})
    target_include_directories(facebench_cuda PRIVATE ${FACEBENCH_INCLUDES})
    # As on the processor, a * b + c is fused only where a kernel says so.
    target_compile_options(facebench_cuda PRIVATE
      $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false --expt-relaxed-constexpr>)
    set_target_properties(facebench_cuda PROPERTIES CUDA_STANDARD 17 INSTALL_RPATH "$ORIGIN")
    message(STATUS "CUDA ${CMAKE_CUDA_COMPILER_VERSION}: libfacebench_cuda is built")
  else()
    message(STATUS "no nvcc: libfacebench_cuda is left out")
  endif()
endif()
