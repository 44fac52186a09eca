#!/usr/bin/env bash
# Format and lint, changing nothing: clang-format over the C++ side, ruff over the Python side.
source "$(dirname "$0")/common.sh"
formatter=$(command -v clang-format-14 || command -v clang-format || true)
[ -n "$formatter" ] || die "clang-format is not there." "Install it: apt-get install clang-format-14"
"$formatter" --version | grep -q ' 14\.' ||
  die "$("$formatter" --version) would format otherwise than clang-format 14." "Install it: apt-get install clang-format-14"
[ -x "$venv/bin/python" ] || scripts/environment.sh
ruff=$(sed -n 's/^lint = \["\(ruff==[0-9.]*\)"\]$/\1/p' pyproject.toml)
"$venv/bin/ruff" --version 2>/dev/null | grep -qxF "ruff ${ruff#ruff==}" ||
  step "Installing $ruff" "$venv/bin/python" -m pip install --disable-pip-version-check --no-input "$ruff"

failed=()
say "clang-format"
git ls-files '*.h' '*.cc' '*.cu' | xargs -r "$formatter" --dry-run -Werror || failed+=("clang-format (mend: clang-format -i FILE)")
say "ruff check"
"$venv/bin/ruff" check . || failed+=("ruff check (mend: .venv/bin/ruff check --fix .)")
say "ruff format"
"$venv/bin/ruff" format --check . || failed+=("ruff format (mend: .venv/bin/ruff format .)")
[ ${#failed[@]} -eq 0 ] || die "not clean: ${failed[*]}." "The lines above name the places."
say "lint: clean"
