#!/usr/bin/env bash
# Prints the interpreter that .venv is made from: PYTHON where it is given, else the one that .venv
# was made from already (a call without PYTHON must not throw away what one with it has built), else
# the first of the usual names that is 3.11 or newer and runs. Prints nothing and fails where there
# is none.
made_from=$(head -n 1 "$(dirname "$0")/../.venv/facebench-environment" 2>/dev/null || true)
candidates=("${PYTHON:-$made_from}")
[ -n "${PYTHON:-}" ] || candidates+=(python3.12 python3 python3.13 python3.11)
for candidate in "${candidates[@]}"; do
  path=$(command -v "$candidate") || continue
  # sys.executable sees through launchers that pick a version by folder.
  "$path" -c 'import sys; assert sys.version_info >= (3, 11); print(sys.executable)' 2>/dev/null && exit 0
done
exit 1
