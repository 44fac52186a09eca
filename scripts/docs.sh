#!/usr/bin/env bash
# The documentation as a site in build/docs.
source "$(dirname "$0")/common.sh"
[ -x "$venv/bin/python" ] || scripts/environment.sh
[ -x "$venv/bin/mkdocs" ] ||
  step "Installing mkdocs" "$venv/bin/python" -m pip install --disable-pip-version-check --no-input "mkdocs>=1.6,<2"
step "Documentation" "$venv/bin/mkdocs" build --strict --clean
say "open build/docs/index.html"
