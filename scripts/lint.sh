#!/usr/bin/env bash
# Format and lint, changing nothing: clang-format over the C++ side, ruff over the Python side, mypy
# over the package, mypy and pyright over the programs that users would write; and whether sources
# compile by themselves.
source "$(dirname "$0")/common.sh"
formatter=$(command -v clang-format-14 || command -v clang-format || true)
[ -n "$formatter" ] || die "clang-format is not there." "Install it: apt-get install clang-format-14"
"$formatter" --version | grep -q ' 14\.' ||
  die "$("$formatter" --version) would format otherwise than clang-format 14." "Install it: apt-get install clang-format-14"
scripts/environment.sh lint

failed=()
say "clang-format"
git ls-files '*.h' '*.cc' '*.cu' | xargs -r "$formatter" --dry-run -Werror || failed+=("clang-format (mend: clang-format -i FILE)")
say "ruff check"
"$venv/bin/ruff" check . || failed+=("ruff check (mend: .venv/bin/ruff check --fix .)")
say "ruff format"
"$venv/bin/ruff" format --check . || failed+=("ruff format (mend: .venv/bin/ruff format .)")
"$venv/bin/python" scripts/notebook_code.py build/notebooks
[ -f build/python/facebench/_eval.pyi ] || die "the package is not built." "Build it: make build"
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
[ ${#failed[@]} -eq 0 ] || die "not clean: ${failed[*]}." "The lines above name the places."
say "lint: clean"
