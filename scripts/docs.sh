#!/usr/bin/env bash
# The documentation as a site in build/docs.
source "$(dirname "$0")/common.sh"
[ -x "$venv/bin/python" ] || scripts/environment.sh
command -v doxygen >/dev/null ||
  die "doxygen is not there." "Install it: apt-get install doxygen"
[ -d "$build/python/facebench" ] || die "the package is not built." "Build it: make build"
"$venv/bin/python" -c "import material, mkdocstrings_handlers.python" 2>/dev/null || {
  readarray -t list < <("$venv/bin/python" -c 'import tomllib
print("\n".join(tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"]))')
  step "Installing mkdocs" "$venv/bin/python" -m pip install --disable-pip-version-check --no-input "${list[@]}"
}
export PYTHONPATH=$build/python NO_MKDOCS_2_WARNING=1
export PATH=$venv/bin:$PATH  # ruff, which breaks long signatures
# The notebooks' pages have outputs where the environment can run them.
if "$venv/bin/python" -c "import nbclient, ipykernel, matplotlib" 2>/dev/null; then
  step "Notebooks" "$venv/bin/python" scripts/run_notebooks.py "$build/notebooks_run"
fi
step "Documentation" "$venv/bin/mkdocs" build --strict --clean
say "open build/docs/index.html"
