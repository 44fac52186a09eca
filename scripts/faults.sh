#!/usr/bin/env bash
# Every verb that writes, with each of its writing calls failing in turn or killed after it
# (tests/faults/faults.py); takes about half an hour.
source "$(dirname "$0")/common.sh"
exec "$venv/bin/python" tests/faults/faults.py "$@"
