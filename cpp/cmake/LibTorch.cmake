# facebench::torch, made from the torch package of the chosen interpreter. torch is found without
# being imported, and torch's own CMake package is not used: with a CUDA build of torch it fails
# where no CUDA toolkit is installed.
if(NOT FACEBENCH_TORCH_DIR)
  execute_process(
    COMMAND "${Python_EXECUTABLE}" -c
      "import importlib.util as u, os; s = u.find_spec('torch'); print(os.path.dirname(s.origin) if s else '')"
    OUTPUT_VARIABLE torch_dir OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(FACEBENCH_TORCH_DIR "${torch_dir}" CACHE PATH "Folder of the torch package" FORCE)
endif()
if(NOT EXISTS "${FACEBENCH_TORCH_DIR}/include/ATen/core/Tensor.h")
  message(FATAL_ERROR "${Python_EXECUTABLE} has no torch. Install it (pip install torch), or build "
                      "the light library alone with -DFACEBENCH_FULL=OFF.")
endif()

file(STRINGS "${FACEBENCH_TORCH_DIR}/version.py" torch_version_line REGEX "^__version__")
string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+[^'\"]*" FACEBENCH_TORCH_VERSION "${torch_version_line}")
if(FACEBENCH_TORCH_VERSION VERSION_LESS 2.11)
  message(FATAL_ERROR "torch ${FACEBENCH_TORCH_VERSION} is too old; facebench needs 2.11 or newer.")
endif()

add_library(facebench_torch INTERFACE)
add_library(facebench::torch ALIAS facebench_torch)
set(torch_lib "${FACEBENCH_TORCH_DIR}/lib")
target_include_directories(facebench_torch SYSTEM INTERFACE
  "$<BUILD_INTERFACE:${FACEBENCH_TORCH_DIR}/include>"
  "$<BUILD_INTERFACE:${FACEBENCH_TORCH_DIR}/include/torch/csrc/api/include>")
# torch's headers then ask for no more operations than they use themselves (nn/aten.h).
target_compile_definitions(facebench_torch INTERFACE "$<BUILD_INTERFACE:AT_PER_OPERATOR_HEADERS>")
# torch's libraries export their own, older copies of std::filesystem's functions, which crash with
# the objects of this compiler: the standard library must come first in the order of search.
target_link_libraries(facebench_torch INTERFACE
  "$<BUILD_INTERFACE:-Wl,--push-state,--no-as-needed,-lstdc++,--pop-state>")
# libtorch exports a std::filesystem of its own, of another build of libstdc++ and incomplete
# (remove_all jumps to address 0). The dynamic linker takes the first it meets, so the real one has
# to stand before torch.
target_link_libraries(facebench_torch INTERFACE stdc++)
# By name: of a path CMake would put the folder into the run path, and with it into the build ID.
target_link_options(facebench_torch INTERFACE "$<BUILD_INTERFACE:-L${torch_lib}>")
foreach(name torch torch_cpu c10)
  target_link_libraries(facebench_torch INTERFACE "$<BUILD_INTERFACE:${name}>")
endforeach()
# Assertions in torch's headers, and of torch's in our sources, hold the files' places.
foreach(map "${PROJECT_SOURCE_DIR}/=" "${FACEBENCH_TORCH_DIR}/include=torch")
  target_compile_options(facebench_torch INTERFACE
    "$<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:-fmacro-prefix-map=${map}>>")
endforeach()
# facebench_torch_run_path(TARGET FOLDER): where a library of the build folder finds torch's; relative
# to FOLDER, its own, where torch lies in the project's folder, so that all of it may lie elsewhere.
function(facebench_torch_run_path target folder)
  set(path "${FACEBENCH_TORCH_DIR}/lib")
  cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${path}" NORMALIZE inside)
  if(inside)
    file(RELATIVE_PATH path "${folder}" "${path}")
    set(path "$ORIGIN/${path}")
  endif()
  set_target_properties(${target} PROPERTIES BUILD_RPATH "${path}")
endfunction()
message(STATUS "torch ${FACEBENCH_TORCH_VERSION} in ${FACEBENCH_TORCH_DIR}")
