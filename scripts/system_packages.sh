#!/usr/bin/env bash
# Installs the Debian and Ubuntu packages that the build needs; does nothing where they are there.
source "$(dirname "$0")/common.sh"

packages=(
  g++ cmake ninja-build ccache ca-certificates
  libhdf5-dev zlib1g-dev liblzma-dev libssl-dev libarchive-dev libtomlplusplus-dev nlohmann-json3-dev libfmt-dev libeigen3-dev
  libopencv-imgproc-dev libdlib-dev libjpeg-dev libpng-dev libwebp-dev
  libgtest-dev libbenchmark-dev
)
# The interpreter of the system comes without headers and without venv; others bring both.
interpreter=$("$(dirname "$0")/python.sh" || true)
if [ -z "$interpreter" ]; then
  packages+=(python3 python3-venv python3-dev)
elif ! "$interpreter" -c 'import ensurepip, os, sysconfig
assert os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))' 2>/dev/null; then
  version=$("$interpreter" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  packages+=("python$version-venv" "python$version-dev")
fi

if ! command -v dpkg-query >/dev/null; then
  say "not a Debian or Ubuntu system: make sure that these (by their Debian names) are there:"
  say "  ${packages[*]}"
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [ "$state" = "install ok installed" ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  say "system packages: all there"
  exit 0
fi

line="apt-get install -y --no-install-recommends ${missing[*]}"
if [ "$(id -u)" = 0 ]; then
  as_root=(env)
elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
  as_root=(sudo env)
else
  die "system packages are missing, and this account may not install them." "Have this run as root, then run the same command again:  $line"
fi
export DEBIAN_FRONTEND=noninteractive
advice="Run it by hand (as root) to see why:  apt-get update && $line"
# Only where the lists know nothing of a package: an old list is good enough, an absent one is not.
if ! apt-cache show "${missing[@]}" >/dev/null 2>&1; then
  step "Package lists" "${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get update
fi
install_packages() {
  # shellcheck disable=SC2086
  "${as_root[@]}" DEBIAN_FRONTEND=noninteractive $line ||
    { "${as_root[@]}" apt-get update && "${as_root[@]}" DEBIAN_FRONTEND=noninteractive $line; }
}
step "System packages (${#missing[@]})" install_packages
