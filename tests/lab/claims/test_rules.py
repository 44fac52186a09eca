"""Rules for run folders: each kind of test passes and fails, and says why."""

import json
import os
import subprocess
import sys
from pathlib import Path

import facebench
import pytest
from facebench import claims, studies

HEAD = 'id = "mine"\nversion = 3\n'


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rules")
    lines = [f"A{k}\t1\t2\nA{k}\t1\tB{k}\t1" for k in range(4)]
    (folder / "pairs.txt").write_text("4\t1\n" + "\n".join(lines) + "\n")
    facebench.evaluate("lfw", scores=[0.9, 0.1] * 4, root=folder, replicates=60,
                       out=folder / "run")  # fmt: skip
    return folder / "run"


def ask(run, tmp_path, rule):
    path = tmp_path / "rules.toml"
    path.write_text(f'{HEAD}[[rules]]\nname = "it"\nwhy = "Because"\n{rule}\n')
    (found,) = facebench.check(run, path).rules
    return found["passed"], found["reason"]


VALUE = 'value = "content/options/replicates"\n'


@pytest.mark.parametrize(
    ("rule", "passes", "reason"),
    [
        (VALUE + "is = 60", True, "content/options/replicates is 60"),
        (VALUE + "is = 61", False, "is 60, and has to be 61. Because"),
        (VALUE + "one_of = [1, 60]", True, "is 60"),
        (VALUE + "one_of = [1]", False, "has to be one of [1]"),
        (VALUE + "at_least = 60", True, "is 60"),
        (VALUE + "at_least = 61", False, "has to be at least 61"),
        (VALUE + "at_most = 60", True, "is 60"),
        (VALUE + "at_most = 59.5", False, "has to be at most 59.5"),
        (VALUE + "present = true", True, "is 60"),
        (VALUE + "present = false", False, "recorded has to be false"),
        (VALUE + "empty = true", False, "empty has to be true"),
        ('value = "content/nothing"\nempty = true', True, "content/nothing is null"),
        ('value = "content/nothing"\nis = 1', False, "content/nothing is not recorded"),
        ('value = "content/options/convention"\nlacks = "act"', False, "must not contain act"),
        ('value = "content/options/convention"\nlacks = "acts"', True, "is exact"),
        ('value = "metrics/tracks/*/metrics/tar@far=*/far_target"\nat_most = 0.1', True, "more"),
        ('value = "metrics/tracks/*/metrics/tar@far=*/far_target"\nat_most = 0.001', False, "0.01"),
        ('value = "content/inputs/*/role"\nis = "pairs"', True, "is pairs"),
        (VALUE + 'is = 61\nunless = "content/protocol/id"', True, "does not apply"),
        (VALUE + 'is = 61\nunless = "content/protocol/none"', False, "61"),
        ('file = "report.*"', True, "report.html, report.md"),
        ('file = "overlap*"', False, "there is no file overlap*"),
        # An empty list, an empty text, zero and false that are recorded are recorded.
        ('value = "content/notes/*"\nlacks = "official"', False, "official"),
        ('value = "content/blemishes/*"\nlacks = "header"', True, "content/blemishes has no entry"),
        ('value = "content/blemishes/*/name"\nlacks = "x"', True, "content/blemishes has no entry"),
        ('value = "content/blemishes/*"\npresent = true', False, "recorded has to be true"),
        ('value = "content/blemishes/*"\nis = 1', False, "content/blemishes/* is not recorded"),
        ('value = "content/nothing/*"\nlacks = "x"', False, "content/nothing/* is not recorded"),
        ('value = "content/blemishes"\npresent = true', True, "content/blemishes is []"),
        ('value = "content/blemishes"\nempty = true', True, "content/blemishes is []"),
        ('value = "content/options/seed"\npresent = true', True, "content/options/seed is 0"),
        ('value = "content/options/seed"\nempty = false', True, "content/options/seed is 0"),
        ('value = "content/options/seed"\nis = 0', True, "content/options/seed is 0"),
        ('value = "content/options/strict"\nempty = false', True, "strict is false"),
        ('value = "content/options/strict"\npresent = true', True, "strict is false"),
        ('value = "content/options/fusion"\npresent = true', True, "fusion is"),
        ('value = "content/options/fusion"\nempty = true', True, "fusion is"),
        ('value = "content/options/match"\npresent = false', True, "match is null"),
        (VALUE + 'is = 61\nunless = "content/options/seed"', True, "does not apply"),
        (VALUE + 'is = 61\nunless = "content/blemishes"', True, "does not apply"),
        (VALUE + 'is = 61\nunless = "content/options/match"', False, "61"),
        (
            "verified = true",
            True,
            "12 of 13 checks found the same; not checked: scores from embeddings",
        ),
    ],
)
def test_each_test_says_yes_and_no(run, tmp_path, rule, passes, reason):
    passed, said = ask(run, tmp_path, rule)
    assert passed is passes and reason in said, said


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("", "needs one of value, verified and file"),
        (VALUE, "a value needs one of"),
        (VALUE + "is = 1\nat_most = 2", "a value needs one of"),
        (VALUE + "at_leats = 1", "did you mean 'at_least'"),
    ],
)
def test_a_rule_with_a_slip_is_refused(run, tmp_path, rule, message):
    with pytest.raises(facebench.Error, match=message):
        ask(run, tmp_path, rule)


def test_the_shipped_rules_judge_a_run(run):
    assert claims.rule_sets() == ["frte-1-1", "wang-guo-2019"]
    for name in claims.rule_sets():
        rules = claims.read_rules(name)
        assert rules["title"] and rules["source"] and rules["changes"]
        found = {r["name"]: r["passed"] for r in facebench.check(run, name).rules}
        assert found["the files are those that were written"] and found["nothing was left out"]
        # Four pairs, given as scores: nothing says where they come from.
        assert not facebench.check(run, name).passed
    assert not found["MTCNN finds the faces"] and not found["the official lists"]
    with pytest.raises(ValueError, match="did you mean 'frte-1-1'"):
        claims.read_rules("frte-1")


@pytest.mark.parametrize(
    ("preparation", "failed"),
    [
        ({"detector": {"detector": "mtcnn", "options": {"mode": "facenet", "second_look": False}},
          "crop": {"name": "paper", "margin": 0.15}}, set()),
        ({"detector": {"detector": "mtcnn", "options": {"mode": "paper", "second_look": True}},
          "crop": {"name": "paper", "margin": 0.2}},
         {"MTCNN as facenet runs it", "no second look for faces", "15 % more on each side"}),
        # DFW and UMDFaces: boxes of their own, of which the paper says no enlargement.
        ({"detector": {"detector": "given", "file_sha256": "0"}, "crop": {"name": "arcface112"}},
         set()),
    ],
)  # fmt: skip
def test_what_wang_and_guo_say_of_faces(run, seal, preparation, failed):
    manifest = json.loads((run / "run.json").read_text())
    manifest["content"]["preparation"] = preparation
    (run / "run.json").write_text(json.dumps(manifest))
    seal(run)
    asked = {"MTCNN finds the faces", "MTCNN as facenet runs it", "no second look for faces",
             "the paper's crop", "15 % more on each side"}  # fmt: skip
    found = {r["name"]: r["passed"] for r in facebench.check(run, "wang-guo-2019").rules}
    assert {name for name in asked if not found[name]} == failed


def test_the_verb_prints_yes_and_no_and_its_exit_code(run, tmp_path):
    (tmp_path / "rules.toml").write_text(
        HEAD + f'[[rules]]\nname = "draws"\n{VALUE}is = 60\n[[rules]]\nname = "more"\n{VALUE}'
        "at_least = 100\n"
    )
    package = str(Path(facebench.__file__).parent.parent)
    command = [sys.executable, "-m", "facebench", "check", run, "--rules", "rules.toml"]

    def call(*more):
        environment = {**os.environ, "PYTHONPATH": package}
        return subprocess.run(
            [*command, *more], env=environment, cwd=tmp_path, capture_output=True, text=True
        )

    done = call()
    assert done.returncode == 3
    assert "yes draws: " in done.stdout and "NO  more: " in done.stdout
    assert json.loads(call("--json").stdout)["rules"] == {"id": "mine", "version": 3}


def test_toml_of_a_stranger_ends_in_a_sentence(tmp_path):
    """Deep nesting, at which Python's own reader ends in a RecursionError, and bad syntax."""
    path = tmp_path / "theirs.toml"
    for text in ("a = " + "[" * 5000 + "]" * 5000, 'id = "x"\nrules = [', "a = nan", "\udcff"):
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        for read in (claims.read_rules, studies.load_study, studies.suite_study):
            with pytest.raises(facebench.Error, match=r"theirs\.toml"):
                read(path)
