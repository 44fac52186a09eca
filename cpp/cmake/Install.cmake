# What is installed, in two components: `python` (the package of a wheel) and `cpp` (libraries,
# headers and the CMake package of `make install`).
include(CMakePackageConfigHelpers)

# --- python -----------------------------------------------------------------------------------------
# facebench_package: all that a wheel holds and nothing else, so that a wheel costs no tests.
add_custom_target(facebench_package)
foreach(target facebench_eval facebench _eval _full facebench_cuda facebench_weights
        facebench_eval_stub facebench_full_stub)
  if(TARGET ${target})
    add_dependencies(facebench_package ${target})
  endif()
endforeach()
foreach(target facebench_eval facebench facebench_cuda _eval _full)
  if(TARGET ${target})
    # A wheel cannot hold links: the library under the name that the modules ask for, once.
    install(TARGETS ${target} LIBRARY DESTINATION facebench COMPONENT python NAMELINK_SKIP)
  endif()
endforeach()

foreach(module _eval _full)
  if(TARGET ${module})
    install(FILES "${PROJECT_BINARY_DIR}/python/facebench/${module}.pyi" DESTINATION facebench
            COMPONENT python)
  endif()
endforeach()

# --- cpp --------------------------------------------------------------------------------------------
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/facebench")
install(TARGETS facebench_eval EXPORT facebench_eval_targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpp)
set(header_floors ${FACEBENCH_LIGHT_FLOORS})
if(TARGET facebench)
  list(APPEND header_floors ${FACEBENCH_FULL_FLOORS})
  install(TARGETS facebench facebench_torch EXPORT facebench_all_targets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpp)
  if(TARGET facebench_cuda)
    install(TARGETS facebench_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpp)
  endif()
  # A wheel lies beside torch; a prefix lies anywhere, so its library has to name torch's folder.
  install(CODE "
    file(RPATH_SET FILE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libfacebench.so.${FACEBENCH_SOVERSION}\"
         NEW_RPATH \"$ORIGIN:${FACEBENCH_TORCH_DIR}/lib\")" COMPONENT cpp)
  install(EXPORT facebench_all_targets NAMESPACE facebench:: DESTINATION ${package_dir} COMPONENT cpp)
endif()
# One header for all of a component, and the version as macros.
set(generated "${PROJECT_BINARY_DIR}/generated/facebench")
function(umbrella_header component)
  set(lines "// All headers of facebench::${component}.\n#pragma once\n\n#include \"facebench/version.h\"\n")
  foreach(floor ${ARGN})
    file(GLOB headers CONFIGURE_DEPENDS RELATIVE "${FACEBENCH_FOLDER_${floor}}"
         "${FACEBENCH_FOLDER_${floor}}/*.h")
    foreach(header ${headers})
      string(APPEND lines "#include \"facebench/${floor}/${header}\"\n")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT "${generated}/${component}.h" CONTENT "${lines}" @ONLY)
  install(FILES "${generated}/${component}.h" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/facebench
          COMPONENT cpp)
endfunction()
umbrella_header(eval ${FACEBENCH_LIGHT_FLOORS})
if(TARGET facebench)
  umbrella_header(all ${header_floors})
endif()
configure_file("${PROJECT_SOURCE_DIR}/cpp/cmake/version.h.in" "${generated}/version.h" @ONLY)
install(FILES "${generated}/version.h" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/facebench COMPONENT cpp)

# pkg-config, for those who do not build with CMake.
set(torch_folder "${FACEBENCH_TORCH_DIR}")
foreach(package eval all)
  if(package STREQUAL "eval" OR TARGET facebench)
    configure_file("${PROJECT_SOURCE_DIR}/cpp/cmake/facebench-${package}.pc.in"
                   "${PROJECT_BINARY_DIR}/facebench-${package}.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/facebench-${package}.pc"
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT cpp)
  endif()
endforeach()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples" DESTINATION ${CMAKE_INSTALL_DATADIR}/facebench
        COMPONENT cpp PATTERN "*-example" EXCLUDE PATTERN "__pycache__" EXCLUDE)

# The headers that lie in a floor's folder; those in a folder below are internal.
foreach(floor ${header_floors})
  file(GLOB headers CONFIGURE_DEPENDS "${FACEBENCH_FOLDER_${floor}}/*.h")
  install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/facebench/${floor} COMPONENT cpp)
endforeach()
# The floors protocols and reports were divided: their headers' old names include the new ones.
function(old_headers old)
  foreach(floor ${ARGN})
    file(GLOB headers CONFIGURE_DEPENDS RELATIVE "${FACEBENCH_FOLDER_${floor}}" "${FACEBENCH_FOLDER_${floor}}/*.h")
    foreach(header ${headers})
      file(CONFIGURE OUTPUT "${generated}/${old}/${header}" @ONLY
           CONTENT "#pragma once\n#include \"facebench/${floor}/${header}\"\n")
      install(FILES "${generated}/${old}/${header}" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/facebench/${old}
              COMPONENT cpp)
    endforeach()
  endforeach()
endfunction()
old_headers(protocols trials lists evaluation runs)
old_headers(reports runs analysis)
install(EXPORT facebench_eval_targets NAMESPACE facebench:: DESTINATION ${package_dir} COMPONENT cpp)
configure_package_config_file("${PROJECT_SOURCE_DIR}/cpp/cmake/facebenchConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/facebenchConfig.cmake" INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/facebenchConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/facebenchConfig.cmake"
              "${PROJECT_BINARY_DIR}/facebenchConfigVersion.cmake"
        DESTINATION ${package_dir} COMPONENT cpp)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION ${CMAKE_INSTALL_DATADIR}/facebench COMPONENT cpp)
