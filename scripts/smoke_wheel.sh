#!/usr/bin/env bash
# smoke_wheel.sh WHEEL light|full [PYTHON]: the wheel in an empty environment, without this machine's
# variables: tests/wheel_smoke.py, and mypy over a program that uses it. `full` sees the torch of .venv
# as well.
source "$(dirname "$0")/common.sh"
wheel=$(realpath "$1") kind=$2 python=$(realpath -s "$(command -v "${3:-$venv/bin/python}")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
index=()
while read -r name; do index+=("$name=${!name}"); done < <(compgen -e | grep -E '^PIP_' || true)
clean() { env -i HOME="$folder" PATH=/usr/bin:/bin "${index[@]}" "$@"; }

smoke() (
  cd "$folder" && clean "$python" -m venv empty &&
    clean empty/bin/python -m pip install --disable-pip-version-check --no-input "$wheel" mypy || exit
  if [ "$kind" = full ]; then
    "$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
      >"$(echo empty/lib/python3.*/site-packages)/torch.pth"
  fi
  printf 'from facebench import metrics\nx: float = metrics.auc([0.9], [1])\n' >typed.py
  clean empty/bin/python "$root/tests/wheel_smoke.py" "$kind" && clean empty/bin/mypy typed.py
)
step "Smoke test of $(basename "$wheel")" smoke
