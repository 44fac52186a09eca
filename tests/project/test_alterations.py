"""A part of the alterations of tests/hostile/alterations.py: each is named by `verify`."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "hostile"))
import alterations

pytestmark = pytest.mark.usefixtures("forged")

# So many that each kind takes about two seconds; others in different runs of the script.
PARTS = {"given": 31, "embedded": 37, "older": 23, "photographs": 61}


@pytest.mark.parametrize("kind", alterations.FOLDERS)
def test_what_is_altered_is_named(kind):
    found = dict(alterations.tried(kind, PARTS[kind]))
    assert len(found) > 10
    assert [name for name, lines in found.items() if not lines] == []


@pytest.mark.skipif(not alterations.TORCH, reason="needs facebench with torch")
def test_what_changes_nothing_is_not_named():
    found = dict(alterations.tried_harmless("photographs"))
    assert found and not any(found.values()), found


@pytest.mark.slow
@pytest.mark.parametrize("kind", alterations.FOLDERS)
def test_all_of_them(kind):
    assert [name for name, lines in alterations.tried(kind) if not lines] == []
