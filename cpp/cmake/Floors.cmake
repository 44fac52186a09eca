# The floors by door, lowest first: a number from an embedding (eval), from an image (vision), and
# what is measured of them beside (lab). A floor includes its own headers and those of lower floors,
# nothing else (tests/project/test_layers.py holds everybody to it).
set(FACEBENCH_EVAL_FLOORS core io guard metrics backends trials lists evaluation runs analysis)
set(FACEBENCH_TORCH_FLOORS nn embedding training pipeline)
set(FACEBENCH_VISION_FLOORS archives images detection crops datasets ${FACEBENCH_TORCH_FLOORS})
set(FACEBENCH_LAB_FLOORS claims timing synthetic)
# Those of libfacebench_eval need neither torch nor OpenCV; the others are libfacebench's.
set(FACEBENCH_LIGHT_FLOORS ${FACEBENCH_EVAL_FLOORS} claims)
set(FACEBENCH_FULL_FLOORS ${FACEBENCH_VISION_FLOORS} ${FACEBENCH_LAB_FLOORS})
list(REMOVE_ITEM FACEBENCH_FULL_FLOORS ${FACEBENCH_LIGHT_FLOORS})
# Those whose sources include torch.
set(FACEBENCH_WITH_TORCH ${FACEBENCH_TORCH_FLOORS} ${FACEBENCH_LAB_FLOORS})
list(REMOVE_ITEM FACEBENCH_WITH_TORCH ${FACEBENCH_LIGHT_FLOORS})

# The folders of includes: #include "facebench/FLOOR/x.h" is DOOR/facebench/FLOOR/x.h.
set(FACEBENCH_INCLUDES)
foreach(door EVAL VISION LAB)
  string(TOLOWER ${door} folder)
  list(APPEND FACEBENCH_INCLUDES "${PROJECT_SOURCE_DIR}/cpp/${folder}")
  foreach(floor ${FACEBENCH_${door}_FLOORS})
    set(FACEBENCH_DOOR_${floor} ${folder})
    set(FACEBENCH_FOLDER_${floor} "${PROJECT_SOURCE_DIR}/cpp/${folder}/facebench/${floor}")
  endforeach()
endforeach()

include(Kernels)

# facebench_floor(NAME [LIBS lib...]): an object library of the floor's sources, but for the kernels
# (facebench_kernels). The LIBS stay private.
function(facebench_floor name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBS")
  file(GLOB sources CONFIGURE_DEPENDS "${FACEBENCH_FOLDER_${name}}/*.cc"
       "${FACEBENCH_FOLDER_${name}}/*/*.cc")
  list(FILTER sources EXCLUDE REGEX "_kernels\\.cc$")
  if(NOT sources)
    return()
  endif()
  add_library(facebench_${name} OBJECT ${sources})
  target_include_directories(facebench_${name} PUBLIC ${FACEBENCH_INCLUDES})
  target_link_libraries(facebench_${name} PRIVATE facebench_warnings facebench_fmt Threads::Threads ${arg_LIBS})
endfunction()

# facebench_unity(FLOOR SIZE [ALONE name...]): compiles the floor's sources SIZE at a time, but for
# kernels (CMake leaves alone what has flags of its own) and the named ones, which by design define
# the same names in their anonymous namespaces as their neighbours.
function(facebench_unity floor size)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "ALONE")
  if(NOT TARGET facebench_${floor})
    return()
  endif()
  set_target_properties(facebench_${floor} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
  list(TRANSFORM arg_ALONE PREPEND "${FACEBENCH_FOLDER_${floor}}/")
  list(TRANSFORM arg_ALONE APPEND ".cc")
  set_source_files_properties(${arg_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# facebench_level(LEVEL FLOOR...): the floors' level of optimisation in builds that optimize, in place
# of CMake's. Kernels keep theirs.
function(facebench_level level)
  foreach(floor ${ARGN})
    if(TARGET facebench_${floor})
      target_compile_options(facebench_${floor} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:${level}>)
    endif()
  endforeach()
endfunction()

# facebench_precompile(TARGET FIRST header...): compiles the headers once for FIRST, which is TARGET
# the first time, and lets TARGET take the result. All that share them have the same definitions,
# level and target options.
function(facebench_precompile target first)
  if(NOT TARGET ${target})
    return()
  elseif(target STREQUAL first)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${first})
  endif()
endfunction()

# The object files of those of the named floors that exist.
function(facebench_floor_objects variable)
  set(objects)
  foreach(floor ${ARGN})
    if(TARGET facebench_${floor})
      list(APPEND objects $<TARGET_OBJECTS:facebench_${floor}>)
    endif()
  endforeach()
  set(${variable} "${objects}" PARENT_SCOPE)
endfunction()
