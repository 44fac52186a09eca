# Every outside library the C++ side is built on, found once, here.
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(LibLZMA REQUIRED)
find_package(OpenSSL 3 REQUIRED COMPONENTS Crypto)  # SHA-256
find_package(fmt REQUIRED)
# torch brings another version of {fmt}, headers alone, which costs each unit 2 s more. Ours is found
# before it.
add_library(facebench_fmt INTERFACE)
get_target_property(fmt_headers fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/fmt")
file(CREATE_LINK "${fmt_headers}/fmt" "${PROJECT_BINARY_DIR}/fmt/fmt" SYMBOLIC)
target_include_directories(facebench_fmt INTERFACE "${PROJECT_BINARY_DIR}/fmt")
target_link_libraries(facebench_fmt INTERFACE fmt::fmt)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
include(FuzzLibraries)  # for the fuzz targets, instead of the system's
if(NOT TARGET HDF5::HDF5)
  find_package(HDF5 1.10.5 REQUIRED COMPONENTS C)
endif()

if(FACEBENCH_FULL OR FACEBENCH_PYTHON)
  find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
endif()

if(FACEBENCH_FULL)
  include(LibTorch)
  include(OpenCVCore)
  find_package(dlib REQUIRED)
  find_package(LibArchive 3.3 REQUIRED)  # what compressed tar files and zip files hold
  if(NOT TARGET JPEG::JPEG)
    find_package(JPEG REQUIRED)
  endif()
  if(NOT TARGET PNG::PNG)
    find_package(PNG REQUIRED)
  endif()
  if(NOT TARGET facebench::webp)
    find_path(WEBP_INCLUDE_DIR webp/decode.h REQUIRED)
    find_library(WEBP_LIBRARY webp REQUIRED)
    add_library(facebench::webp INTERFACE IMPORTED)
    target_include_directories(facebench::webp SYSTEM INTERFACE "${WEBP_INCLUDE_DIR}")
    target_link_libraries(facebench::webp INTERFACE "${WEBP_LIBRARY}")
  endif()
  set(FACEBENCH_CODECS JPEG::JPEG PNG::PNG facebench::webp)
endif()

if(FACEBENCH_PYTHON)
  # torch's own copy of pybind11 where there is one: types and exceptions cross between our two
  # modules and torch's only when all of them were compiled with the same headers.
  if(TARGET facebench::torch)
    set(FACEBENCH_PYBIND11_INCLUDE_DIR "${FACEBENCH_TORCH_DIR}/include")
  else()
    # The package pybind11, else torch's copy (looked for, not imported), else the system's.
    execute_process(COMMAND "${Python_EXECUTABLE}" -c
      "import importlib.util as u; print(';'.join(s.submodule_search_locations[0] + '/include' for s in map(u.find_spec, ('pybind11', 'torch')) if s))"
      OUTPUT_VARIABLE places OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    find_path(PYBIND11_INCLUDE_DIR pybind11/pybind11.h HINTS ${places} REQUIRED)
    file(STRINGS "${PYBIND11_INCLUDE_DIR}/pybind11/detail/common.h" version
         REGEX "define PYBIND11_VERSION_(MAJOR|MINOR) ")
    string(REGEX REPLACE "[^0-9]*11[^0-9]*([0-9]+);[^0-9]*11[^0-9]*([0-9]+).*" "\\1.\\2" version "${version}")
    if(version VERSION_LESS 2.12)
      # It does not know numpy 2's arrays: they come out with stride 0, without an error.
      message(FATAL_ERROR "pybind11 ${version} in ${PYBIND11_INCLUDE_DIR} is older than 2.12: "
        "${Python_EXECUTABLE} -m pip install 'pybind11>=2.12', then remove the build folder's CMakeCache.txt")
    endif()
    set(FACEBENCH_PYBIND11_INCLUDE_DIR "${PYBIND11_INCLUDE_DIR}")
  endif()
endif()

if(FACEBENCH_TESTS)
  find_package(GTest REQUIRED)
endif()
