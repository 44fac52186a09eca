# Protocols, recipes and published tables are data (TOML); the library carries them in its text, so
# that a program needs no data folder beside it. Adds a generated source to the evaluation floor.
if(TARGET facebench_evaluation)
  file(GLOB_RECURSE toml_files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/protocols/*.toml")
  list(FILTER toml_files EXCLUDE REGEX "/studies/")  # the Python package reads these itself
  set(embedded "${PROJECT_BINARY_DIR}/embedded_data.cc")
  add_custom_command(
    OUTPUT "${embedded}"
    COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${embedded}" "-DROOT=${PROJECT_SOURCE_DIR}/protocols"
            -P "${PROJECT_SOURCE_DIR}/cpp/cmake/embed.cmake"
    DEPENDS ${toml_files} "${PROJECT_SOURCE_DIR}/cpp/cmake/embed.cmake" VERBATIM)
  target_sources(facebench_evaluation PRIVATE "${embedded}")
endif()
