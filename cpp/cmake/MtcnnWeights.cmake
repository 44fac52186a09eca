# mtcnn.safetensors beside libfacebench, made once out of the files that the PyPI package mtcnn carries.
set(FACEBENCH_MTCNN_WEIGHTS "${CMAKE_CURRENT_BINARY_DIR}/mtcnn.safetensors")
set(converter "${PROJECT_SOURCE_DIR}/scripts/convert_mtcnn.py")
execute_process(
  COMMAND "${Python_EXECUTABLE}" -c
    "import importlib.util as u, sys; sys.exit(not all(u.find_spec(n) for n in ('mtcnn', 'joblib', 'lz4', 'numpy')))"
  RESULT_VARIABLE missing ERROR_QUIET)
if(missing EQUAL 0)
  add_custom_command(
    OUTPUT "${FACEBENCH_MTCNN_WEIGHTS}"
    COMMAND "${Python_EXECUTABLE}" "${converter}" --out "${FACEBENCH_MTCNN_WEIGHTS}"
    DEPENDS "${converter}" VERBATIM COMMENT "MTCNN's weights: mtcnn.safetensors")
  add_custom_target(facebench_weights ALL DEPENDS "${FACEBENCH_MTCNN_WEIGHTS}")
elseif(NOT EXISTS "${FACEBENCH_MTCNN_WEIGHTS}")
  message(WARNING "MTCNN's weights are not made: ${Python_EXECUTABLE} lacks the package that carries "
    "them. Run: pip install mtcnn==1.0.0 --no-deps joblib lz4, then configure again. Everything "
    "else builds; the detector mtcnn says the same when it is used.")
endif()
foreach(place "python facebench" "cpp ${CMAKE_INSTALL_LIBDIR}")
  separate_arguments(place)
  list(GET place 0 component)
  list(GET place 1 folder)
  install(FILES "${FACEBENCH_MTCNN_WEIGHTS}" DESTINATION ${folder} COMPONENT ${component} OPTIONAL)
endforeach()
