# cmake -DBUILD=... -DWORK=... -DGENERATOR=... -DPYTHON=... -DSOURCE=examples/cpp -P examples.cmake:
# installs into WORK/prefix, builds the examples against it as somebody else would, runs each.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()
set(prefix "${WORK}/prefix")
set(build "${WORK}/examples")
file(REMOVE_RECURSE "${build}")
run(${CMAKE_COMMAND} --install "${BUILD}" --component cpp --prefix "${prefix}")
run(${CMAKE_COMMAND} -S "${SOURCE}" -B "${build}" -G "${GENERATOR}" "-DCMAKE_PREFIX_PATH=${prefix}"
    -DCMAKE_BUILD_TYPE=Release "-DPython_EXECUTABLE=${PYTHON}")
run(${CMAKE_COMMAND} --build "${build}")
file(GLOB sources "${SOURCE}/*.cc")
foreach(source ${sources})
  cmake_path(GET source STEM name)
  if(EXISTS "${build}/${name}")  # the light library has but some of them
    run(${CMAKE_COMMAND} -E chdir "${build}" "./${name}")
  endif()
endforeach()
