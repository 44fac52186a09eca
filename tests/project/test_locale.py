"""Numbers and names do not follow the locale of the process that the library is loaded into."""

import os
import shutil
import subprocess
import sys

import pytest

# A host program has set its locale; what the library then says must not depend on it.
PROGRAM = """
import locale, pathlib, sys
from facebench import claims, io, protocols, reports
print(locale.setlocale(locale.LC_ALL, ""), file=sys.stderr)
folder = pathlib.Path(sys.argv[1])
protocols.evaluate(
    "lfw", scores=[0.9, 0.1, 0.8, 0.2], root=folder, interval="none"
).save(folder / sys.argv[2])
print(reports.table(folder / sys.argv[2], titles=["x"]))
print(claims.check_claim("99.5 %", "lfw", metric="tar@far=0.001"))
print(pathlib.Path(folder / sys.argv[2] / "run.json").read_text().split('"circumstance"')[0])
(folder / "t.toml").write_text('id = "i"')
"""


def output_of(locale, folder, out, places=""):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG"))}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, folder, out],
        env=environment | {"LC_ALL": locale, "LOCPATH": str(places), "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
    )
    if locale != "C" and "unsupported locale" in done.stderr:
        pytest.skip(f"no locale {locale}")
    assert done.returncode == 0, done.stderr
    return done.stdout.replace(out, "OUT")


@pytest.mark.parametrize("name", ["de_DE"])
def test_a_decimal_comma_changes_nothing(tmp_path, name):
    if not shutil.which("localedef"):
        pytest.skip("no localedef to make a locale with")
    made = subprocess.run(
        ["localedef", "-c", "-i", name, "-f", "UTF-8", tmp_path / f"{name}.UTF-8"],
        capture_output=True,
    )
    if made.returncode > 1 or not (tmp_path / f"{name}.UTF-8").exists():
        pytest.skip(f"localedef has no source of {name}")
    text = "2\t1\nAnn\t1\t2\nAnn\t1\tBob\t1\nCat\t1\t2\nCat\t1\tDan\t1\n"
    (tmp_path / "pairs.txt").write_text(text)
    plain = output_of("C", tmp_path, "plain")
    assert "TAR at FAR 0.1 %" in plain
    assert output_of(f"{name}.UTF-8", tmp_path, "other", tmp_path) == plain
