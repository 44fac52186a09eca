#!/usr/bin/env bash
# What the light wheel is built from, in an image of manylinux_2_28 (AlmaLinux 8): headers and small
# libraries of the distribution (EPEL), and HDF5 without remote files, in /opt/hdf5.
set -euo pipefail
hdf5=1.14.6
dnf install --assumeyes epel-release
dnf install --assumeyes zlib-devel xz-devel fmt-devel json-devel tomlplusplus-devel
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
curl --fail --location --silent --show-error \
  "https://github.com/HDFGroup/hdf5/releases/download/hdf5_$hdf5/hdf5-$hdf5.tar.gz" | tar xz -C "$folder" --strip-components 1
cmake -S "$folder" -B "$folder/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/opt/hdf5 \
  -DBUILD_TESTING=OFF -DBUILD_STATIC_LIBS=OFF -DHDF5_BUILD_TOOLS=OFF -DHDF5_BUILD_EXAMPLES=OFF \
  -DHDF5_ENABLE_Z_LIB_SUPPORT=ON -DHDF5_ENABLE_SZIP_SUPPORT=OFF
cmake --build "$folder/build" --parallel "$(nproc)" --target install
