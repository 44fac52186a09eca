#!/usr/bin/env bash
# The documentation as a site in build/docs.
source "$(dirname "$0")/common.sh"
command -v doxygen >/dev/null ||
  die "doxygen is not there." "Install it: apt-get install doxygen"
scripts/environment.sh docs
export PYTHONPATH=$build/python NO_MKDOCS_2_WARNING=1
export PATH=$venv/bin:$PATH  # ruff, which breaks long signatures
step "Documentation" "$venv/bin/mkdocs" build --strict --clean
say "open build/docs/index.html"
