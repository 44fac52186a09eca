# facebench_kernels(TARGET FILE [ROUNDED] SET...): compiles FILE, a *_kernels.cc, once for each
# instruction set (core/isa.h) and adds the results to TARGET; which of them runs is chosen at run
# time. On other processors than x86-64 there is `plain` alone. FILE sees
#   FACEBENCH_LANES          the number of floats in a vector register,
#   FACEBENCH_FOR_ISA(name)  the name of the result for this set: nameAvx2.
# Kernels may fuse a * b + c, but for those that are ROUNDED; nothing else may.
set(FACEBENCH_ISA_plain "Plain;4;")
set(FACEBENCH_ISA_avx2 "Avx2;8;-mavx2;-mfma")
set(FACEBENCH_ISA_avx512 "Avx512;16;-mavx2;-mfma;-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl")
set(FACEBENCH_ISA_avx512bf16
  "Avx512Bf16;16;-mavx2;-mfma;-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mavx512bf16;-mavx512vnni")

function(facebench_kernels target file)
  get_filename_component(path "${file}" ABSOLUTE)
  get_filename_component(name "${file}" NAME_WE)
  cmake_parse_arguments(PARSE_ARGV 2 arg "ROUNDED" "" "")
  set(sets ${arg_UNPARSED_ARGUMENTS})
  set(fused fast)
  if(arg_ROUNDED)
    set(fused off)
  endif()
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(sets plain)
  endif()
  foreach(isa ${sets})
    set(flags ${FACEBENCH_ISA_${isa}})
    list(POP_FRONT flags suffix lanes)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/${target}_kernels/${name}_${isa}.cc")
    file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
"#define FACEBENCH_LANES @lanes@
#define FACEBENCH_FOR_ISA(name) name##@suffix@
#include \"@path@\"
")
    set_source_files_properties("${source}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON
      COMPILE_OPTIONS "-O3;-ffp-contract=${fused};${flags}")
    target_sources(${target} PRIVATE "${source}")
  endforeach()
endfunction()
