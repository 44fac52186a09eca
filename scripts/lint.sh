#!/usr/bin/env bash
# Format and lint, changing nothing.
#   lint.sh format   clang-format over the C++ side, ruff over the Python side: without torch or a build
#   lint.sh built    what needs the built package: mypy over it, mypy and pyright over the programs that
#                    users would write, and whether sources compile by themselves
# Without a word: both.
source "$(dirname "$0")/common.sh"
kind=${1:-all}
failed=()

# The tools of the extra `format`, in an environment of their own.
check_format() {
  local tools=$build/format-tools interpreter wanted
  interpreter=$(scripts/python.sh) || die "no Python of 3.11 or newer." "Install one, or name it: PYTHON=..."
  wanted=$("$interpreter" scripts/requirements.py format none)
  if [ "$(cat "$tools/wanted" 2>/dev/null)" != "$wanted" ]; then
    rm -rf "$tools"
    "$interpreter" -m venv "$tools"
    # shellcheck disable=SC2086
    step "Tools that check the format" "$tools/bin/python" -m pip install --disable-pip-version-check --no-input $wanted
    printf '%s\n' "$wanted" >"$tools/wanted"
  fi
  say "clang-format"
  git ls-files '*.h' '*.cc' '*.cu' | xargs -r "$tools/bin/clang-format" --dry-run -Werror ||
    failed+=("clang-format (mend: build/format-tools/bin/clang-format -i FILE)")
  say "ruff check"
  "$tools/bin/ruff" check . || failed+=("ruff check (mend: build/format-tools/bin/ruff check --fix .)")
  say "ruff format"
  "$tools/bin/ruff" format --check . || failed+=("ruff format (mend: build/format-tools/bin/ruff format .)")
}

check_built() {
  [ -f build/python/facebench/_eval.pyi ] || die "the package is not built." "Build it: make build"
  scripts/environment.sh lint
  "$venv/bin/python" scripts/notebook_code.py build/notebooks
  say "mypy"
  "$venv/bin/mypy" || failed+=("mypy")
  say "pyright"
  "$venv/bin/pyright" || failed+=("pyright")
  say "sources by themselves"
  # 190 sources, two minutes on two processors.
  for part in core io guard metrics backends trials lists evaluation runs analysis; do
    "$venv/bin/python" scripts/compile_alone.py build "cpp/eval/facebench/$part/" ||
      failed+=("compile_alone $part (mend: include what the source uses)")
  done
}

[ "$kind" = built ] || check_format
[ "$kind" = format ] || check_built
[ ${#failed[@]} -eq 0 ] || die "not clean: ${failed[*]}." "The lines above name the places."
say "lint: clean"
