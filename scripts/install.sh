#!/usr/bin/env bash
# Installs libraries, headers and the CMake package below PREFIX.
source "$(dirname "$0")/common.sh"
[ -n "${PREFIX:-}" ] || die "no PREFIX given." "For example: make install PREFIX=/opt/facebench"
advice="May this account write there? Otherwise choose another PREFIX."
step "Installing the C++ library" cmake --install "$build" --component cpp --prefix "$PREFIX"
say "installed; in a CMake project: find_package(facebench COMPONENTS eval) with -DCMAKE_PREFIX_PATH=$PREFIX"
