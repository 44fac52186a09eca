# cmake -DBUILD=... -DWORK=... -DKIND=eval|all -DGENERATOR=... -DPython_EXECUTABLE=... -P run.cmake:
# installs into WORK/prefix, configures and builds this folder against it, runs the program.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()
set(prefix "${WORK}/prefix")
set(build "${WORK}/${KIND}")
file(REMOVE_RECURSE "${build}")
run(${CMAKE_COMMAND} --install "${BUILD}" --component cpp --prefix "${prefix}")
run(${CMAKE_COMMAND} -S "${CMAKE_CURRENT_LIST_DIR}" -B "${build}" -G "${GENERATOR}"
    "-DCMAKE_PREFIX_PATH=${prefix}" -DCONSUMER_KIND=${KIND} -DCMAKE_BUILD_TYPE=Release
    "-DPython_EXECUTABLE=${PYTHON}")
run(${CMAKE_COMMAND} --build "${build}")
run("${build}/consumer")
