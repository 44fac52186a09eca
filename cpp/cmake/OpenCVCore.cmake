# facebench::opencv: core and imgproc alone. OpenCVConfig.cmake comes only with the whole of OpenCV,
# which this project does not need; where it is there it is not consulted either, so that every
# machine links the same two libraries.
find_path(FACEBENCH_OPENCV_INCLUDE_DIR opencv2/imgproc.hpp PATH_SUFFIXES opencv4 REQUIRED)
find_library(FACEBENCH_OPENCV_CORE opencv_core REQUIRED)
find_library(FACEBENCH_OPENCV_IMGPROC opencv_imgproc REQUIRED)
add_library(facebench_opencv INTERFACE)
add_library(facebench::opencv ALIAS facebench_opencv)
target_include_directories(facebench_opencv SYSTEM INTERFACE
  "$<BUILD_INTERFACE:${FACEBENCH_OPENCV_INCLUDE_DIR}>")
target_link_libraries(facebench_opencv INTERFACE
  "$<BUILD_INTERFACE:${FACEBENCH_OPENCV_IMGPROC}>" "$<BUILD_INTERFACE:${FACEBENCH_OPENCV_CORE}>")
