# The floors, lowest first. A floor includes its own headers and those of lower floors, nothing else
# (tests/python/test_layers.py holds everybody to it).
set(FACEBENCH_EVAL_FLOORS core io metrics protocols reports)
set(FACEBENCH_FULL_FLOORS images detection crops datasets nn embedding training timing pipeline)

# facebench_floor(NAME [LIBS lib...]): an object library of cpp/src/NAME/*.cc. The LIBS stay private.
function(facebench_floor name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBS")
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/cpp/src/${name}/*.cc"
       "${PROJECT_SOURCE_DIR}/cpp/src/${name}/*/*.cc")
  if(NOT sources)
    return()
  endif()
  add_library(facebench_${name} OBJECT ${sources})
  target_include_directories(facebench_${name} PUBLIC "${PROJECT_SOURCE_DIR}/cpp/include"
                                               PRIVATE "${PROJECT_SOURCE_DIR}/cpp/src")
  target_link_libraries(facebench_${name} PRIVATE facebench_warnings fmt::fmt-header-only
                                                  Threads::Threads ${arg_LIBS})
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
