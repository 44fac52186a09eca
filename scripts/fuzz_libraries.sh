#!/usr/bin/env bash
# fuzz_libraries.sh: HDF5, libpng, libjpeg-turbo and libwebp, instrumented, for the fuzz targets. Takes
# their sources as Debian's source packages, from the archives that the installed packages came from, builds
# them with clang as static libraries into build-fuzz/libraries, and skips what is there already.
# `make fuzz` and `make sanitize` use what they find there, and the system's libraries otherwise.
source "$(dirname "$0")/common.sh"
folder=$root/build-fuzz/libraries
sources=$folder/sources
mkdir -p "$sources" "$folder/lib"

# Not what HDF5 does with every file: places that are not aligned, null pointers with an offset, shifts
# beyond the sign, functions of another type. What reaches memory that is not its own is found all the
# same. Its own lists of free memory would hide that: with this definition it has none.
flags="-O1 -g1 -w -fno-omit-frame-pointer -DNDEBUG -DH5_USING_MEMCHECKER
  -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize=alignment,pointer-overflow,shift,function
  -fno-sanitize-recover=undefined"
flags=${flags//$'\n'/}

# The archives that offer the packages built from these sources, asked for sources. The machine's own
# list of archives stays as it is.
apt() {
  local tool=$1
  shift
  "$tool" -q -o "Dir::Etc::SourceList=$sources/archives.list" -o Dir::Etc::SourceParts=/dev/null \
    -o "Dir::State::Lists=$sources/lists" "$@"
}
list_archives() {
  mkdir -p "$sources/lists/partial"
  apt-cache policy libhdf5-dev libpng-dev libjpeg-dev libwebp-dev |
    awk '$4 == "Packages" || $5 == "Packages" { split($3, place, "/"); print "deb-src", $2, place[1], place[2] }' |
    sort -u >"$sources/archives.list"
  [ -s "$sources/archives.list" ] && apt apt-get update
}

# get SOURCE PACKAGE: unpacks the source of the installed package, or where the archive has that version
# no more, the newest that it has.
get() {
  local version
  for version in $(dpkg-query -W -f '${source:Version}' "$2") \
    $(apt apt-cache showsrc "$1" | sed -n 's/^Version: //p' | sort -rV); do
    if (cd "$sources" && apt apt-get source "$1=$version"); then
      echo "$version" >"$sources/$1.version"
      return 0
    fi
  done
  return 1
}

# unpacked SOURCE PACKAGE: has the source in $sources/SOURCE-VERSION/, whose path it puts in $source.
unpacked() {
  if ! compgen -G "$sources/$1-*/" >/dev/null; then
    advice="Without it the fuzz targets use the system's library, which is not instrumented."
    [ -s "$sources/archives.list" ] || step "Asking for the archives of sources" list_archives
    step "Getting the source of $1" get "$1" "$2"
  fi
  source=$(compgen -G "$sources/$1-*/" | head -n 1)
  advice="The first line with 'error' above says why."
}

# HDF5 runs programs of its own while it is built: those are built first, without the sanitizers.
build_hdf5() (
  mkdir -p "$folder/hdf5" && cd "$folder/hdf5" || exit 1
  [ -f Makefile ] || "$source/configure" CC=clang "--prefix=$folder" --disable-shared --with-pic --disable-hl \
    --disable-tests --disable-tools --without-szlib || exit 1
  make -j "$jobs" -C src H5Tinit.c H5lib_settings.c &&
    make -j "$jobs" -C src libhdf5.la "CFLAGS=$flags" &&
    make -C src install-includeHEADERS &&
    cp src/.libs/libhdf5.a "$folder/lib/"
)

# build_by_cmake NAME OPTION...
build_by_cmake() {
  local name=$1
  shift
  cmake -S "$source" -B "$folder/$name" -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_C_COMPILER=clang \
    "-DCMAKE_C_FLAGS=$flags" -DCMAKE_POSITION_INDEPENDENT_CODE=ON "-DCMAKE_INSTALL_PREFIX=$folder" \
    "-DCMAKE_INSTALL_LIBDIR=$folder/lib" "$@" &&
    ninja -C "$folder/$name" -j "$jobs" install
}

# library FILE SOURCE PACKAGE COMMAND...
library() {
  local file=$1 name=$2 package=$3
  shift 3
  if [ ! -f "$folder/lib/$file" ]; then
    unpacked "$name" "$package"
    step "Building $name with the sanitizers" "$@"
  fi
  say "$name $(cat "$sources/$name.version"): $folder/lib/$file"
}

command -v clang >/dev/null || die "clang is not there: libFuzzer comes with it." \
  "Install it (Debian: apt-get install clang llvm), then run the same command again."
command -v dpkg-source >/dev/null || die "dpkg-source is not there: the sources are Debian's source packages." \
  "Install it (apt-get install dpkg-dev), or fuzz with the system's libraries."
library libhdf5.a hdf5 libhdf5-dev build_hdf5
library libpng.a libpng1.6 libpng-dev build_by_cmake libpng -DPNG_SHARED=OFF -DPNG_TESTS=OFF
# Its assembly could not be instrumented: the same in C.
library libjpeg.a libjpeg-turbo libjpeg-dev build_by_cmake libjpeg-turbo \
  -DENABLE_SHARED=OFF -DWITH_SIMD=OFF
library libwebp.a libwebp libwebp-dev build_by_cmake libwebp -DWEBP_ENABLE_SIMD=OFF \
  -DWEBP_BUILD_ANIM_UTILS=OFF -DWEBP_BUILD_CWEBP=OFF -DWEBP_BUILD_DWEBP=OFF -DWEBP_BUILD_EXTRAS=OFF \
  -DWEBP_BUILD_GIF2WEBP=OFF -DWEBP_BUILD_IMG2WEBP=OFF -DWEBP_BUILD_VWEBP=OFF -DWEBP_BUILD_WEBPINFO=OFF \
  -DWEBP_BUILD_WEBPMUX=OFF
say "the fuzz targets use these from now on"
