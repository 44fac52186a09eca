"""What is shipped with: workflows, container images, the manifest for Kubernetes, variables."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import requirements
import run_workflow
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def jobs():
    for path in WORKFLOWS:
        workflow = yaml.safe_load(path.read_text())
        for name, job in workflow["jobs"].items():
            for variant in run_workflow.variants(job):
                yield pytest.param(workflow, job, variant, id=f"{path.stem}-{name}-{variant}")


@pytest.mark.parametrize(("workflow", "job", "variant"), [*jobs()])
def test_a_job_can_be_run_as_it_is_written(workflow, job, variant):
    """Every step that is not the network's is a command that bash reads, of files that are here."""
    steps = run_workflow.steps_of(workflow, job, variant)
    commands = [text for _, text, _ in steps if text]
    if "cibuildwheel" not in str(job):
        assert commands
    for text in commands:
        assert "${{" not in text
        subprocess.run(["bash", "-n", "-c", text], check=True)
        for script in re.findall(r"^(?:bash )?(scripts/\S+|\.ci/\S+)", text, re.MULTILINE):
            assert (ROOT / script).exists(), script
        for target in re.findall(r"^make (\S+)", text, re.MULTILINE):
            assert f"\n{target}:" in (ROOT / "Makefile").read_text(), target
    assert job["timeout-minutes"] <= 360


def test_a_step_that_needs_the_network_says_so():
    words = r"apt-get|pip install|git push|twine|gh release"
    named = 0
    for path in WORKFLOWS:
        for job in yaml.safe_load(path.read_text())["jobs"].values():
            for step in job["steps"]:
                if re.search(words, step.get("run", "")) and step["name"] != "the sources":
                    assert step["name"].startswith("network: "), step
                    named += 1
    assert named > 4


def test_a_step_that_fails_ends_its_job(tmp_path, capfd):
    steps = [("one", "echo said; pwd", {}), ("uses", "", {}), ("two", "false | true", {})]
    assert not run_workflow.run_job("j", [*steps, ("three", "touch three", {})], tmp_path)
    told = capfd.readouterr().out
    assert "j: passed in 0 s: one" in told and "j: left out: uses" in told
    assert "j: failed (1) in 0 s: two" in told and "three" not in told
    assert str(tmp_path / "facebench") in told  # the clone


def test_a_matrix_and_its_expressions():
    job = {
        "strategy": {"matrix": {"a": [1, 2], "b": ["x"], "include": [{"a": 3, "b": "y"}]}},
        "steps": [{"run": "make ${{ matrix.b }}${{matrix.a}} ${{ inputs.s || '600' }}"}],
    }
    variants = run_workflow.variants(job)
    assert variants == [{"a": 1, "b": "x"}, {"a": 2, "b": "x"}, {"a": 3, "b": "y"}]
    triggers = {"workflow_dispatch": {"inputs": {"s": {"default": ""}}}}
    steps = run_workflow.steps_of({"on": triggers}, job, variants[2])
    assert steps == [("make matrix.bmatrix.a inputs.s || '600'", "make y3 600", {})]
    with pytest.raises(KeyError, match="secrets"):
        run_workflow.value("secrets.TOKEN", {})


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the interpreter tells of no lines")
def test_the_lines_that_tests_run_are_counted(tmp_path):
    """In a process of its own: the tests may be counted themselves."""
    source = "A = 1\n\ndef half(x):\n    if x:\n        return x / 2\n    return 0\n\n\nhalf(3)\n"
    for name, text in {"a/b.py": source, "c.py": "x = 1\n\ny = 2\n"}.items():
        (tmp_path / "p" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "p" / name).write_text(text)
    program = """
import json, line_coverage, runpy, sys
from pathlib import Path
base = Path(sys.argv[1], "p")
lines = line_coverage.watch(f"{base}/")
for _ in range(2):
    runpy.run_path(str(base / "a" / "b.py"))
folder = Path(sys.argv[1], "out")
folder.mkdir()
for k, numbers in enumerate(lines.values()):
    (folder / f"{k}.json").write_text(json.dumps({"a/b.py": sorted(numbers)}))
print(json.dumps(line_coverage.table(folder, base)))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path],
        env={**os.environ, "PYTHONPATH": str(ROOT / "scripts")},
        check=True,
        capture_output=True,
        text=True,
    )
    # Of b.py all but `return 0`; of c.py neither line.
    assert json.loads(done.stdout) == [["a", 5, 6], ["c", 0, 2], ["all", 5, 8]]


def test_one_run_of_a_matrix_is_chosen_by_its_title():
    matrix = {"include": [{"a": 1, "b": "x"}, {"a": 2, "b": ""}]}
    workflow = {"jobs": {"one": {"steps": []}, "two": {"strategy": {"matrix": matrix}}}}

    def titles(*asked):
        return [title for title, _, _ in run_workflow.chosen(workflow, [*asked])]

    assert titles() == ["one", "two 1 x", "two 2"]
    assert titles("two") == ["two 1 x", "two 2"]
    assert titles("two 2", "one") == ["one", "two 2"]
    with pytest.raises(KeyError, match="two 3"):
        titles("two 3")


def test_the_lowest_versions_are_those_of_the_ranges():
    asked = ["numpy>=1.26", "tqdm>=4.66.3", "mkdocs>=1.6,<2", "mtcnn==1.0.0", "ruff"]
    lowest = ["numpy==1.26.*", "tqdm==4.66.3", "mkdocs==1.6.*", "mtcnn==1.0.0", "ruff"]
    assert list(map(requirements.lowest, asked)) == lowest


def test_the_notes_of_a_release_are_the_changelogs():
    workflow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
    (step,) = (s for s in workflow["jobs"]["release"]["steps"] if s.get("name") == "the notes")
    commands = step["run"].replace(">notes.md", "").replace("test -s notes.md", "")
    commands = commands.replace("mkdir -p dist", "")
    said = subprocess.check_output(["bash", "-ec", commands], text=True, cwd=ROOT)
    assert said.lstrip().startswith("The first version.") and "\n## " not in said


# Docker's instructions, and what is asked of each.
def dockerfile():
    text = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text())
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [line.split(maxsplit=1) for line in lines]


def test_the_images_are_small_and_run_as_nobody_special():
    stages: dict[str, list] = {}
    for word, rest in dockerfile():
        if word == "FROM":
            base, _, name = rest.split()
            assert base == "debian:12-slim" or base in stages, base  # a version, never latest
            stages[name] = [*stages.get(base, [])]
        else:
            stages[name].append((word, rest))
        if word == "RUN" and "apt-get install" in rest:
            assert "apt-get update" in rest and "--no-install-recommends" in rest, rest
            assert "rm -rf /var/lib/apt/lists/*" in rest, rest
        if word == "RUN" and "pip install" in rest:
            assert rest.count("pip install --no-cache-dir") == rest.count("pip install"), rest
        assert word in {"FROM", "SHELL", "ENV", "WORKDIR", "COPY", "RUN", "USER", *ENDS}, word
    for image in ("light", "full"):
        words = dict(stages[image])
        assert words["USER"] == "facebench"
        assert json.loads(words["ENTRYPOINT"]) == ["facebench"]
        assert ("COPY", f"--from=build-{image} /opt/facebench /opt/facebench") in stages[image]
    assert list(stages)[-1] == "full"  # what is built where no target is named


ENDS = ("ENTRYPOINT", "CMD")


def test_an_image_has_every_file_that_its_build_copies():
    for word, rest in dockerfile():
        if word == "COPY" and not rest.startswith("--from"):
            assert (ROOT / rest.split()[0]).exists()
        for lock in re.findall(r"--requirement (\S+)", rest):
            assert (ROOT / lock).exists()


# What of the Job of batch/v1 a manifest of ours may hold, as the API's own schema has it.
_TEXT = {"type": "string", "minLength": 1}
_NUMBER = {"type": "integer", "minimum": 0}
_SIZES = {
    "type": "object",
    "additionalProperties": {"type": "string", "pattern": r"^\d+(Gi|Mi|m)?$"},
}


def _object(needed, **properties):
    return {
        "type": "object",
        "properties": properties,
        "required": needed.split(),
        "additionalProperties": False,
    }


_CONTAINER = _object(
    "name image command",
    name={"type": "string", "pattern": "^[a-z0-9-]{1,63}$"},
    image=_TEXT,
    command={"type": "array", "items": {"type": "string"}, "minItems": 1},
    resources=_object("requests", requests=_SIZES, limits=_SIZES),
    volumeMounts={"type": "array", "items": _object("name mountPath", name=_TEXT, mountPath=_TEXT)},
)
_POD = _object(
    "restartPolicy containers",
    restartPolicy={"enum": ["Never", "OnFailure"]},
    nodeSelector={"type": "object", "additionalProperties": _TEXT},
    containers={"type": "array", "items": _CONTAINER, "minItems": 1},
    volumes={
        "type": "array",
        "items": _object(
            "name persistentVolumeClaim",
            name=_TEXT,
            persistentVolumeClaim=_object("claimName", claimName=_TEXT),
        ),
    },
)
JOB = _object(
    "apiVersion kind metadata spec",
    apiVersion={"const": "batch/v1"},
    kind={"const": "Job"},
    metadata=_object("name", name={"type": "string", "pattern": "^[a-z0-9-]{1,63}$"}),
    spec=_object(
        "completions completionMode template",
        completions=_NUMBER,
        parallelism=_NUMBER,
        completionMode={"const": "Indexed"},
        backoffLimitPerIndex=_NUMBER,
        maxFailedIndexes=_NUMBER,
        template=_object("spec", spec=_POD),
    ),
)


def kubernetes():
    text = (ROOT / "docs/cluster.md").read_text()
    return yaml.safe_load(re.search(r"```yaml\n(apiVersion.*?)```", text, re.DOTALL)[1])


def test_the_job_for_kubernetes_is_one():
    validate = pytest.importorskip("jsonschema").validate
    job = kubernetes()
    validate(job, JOB)
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert {m["name"] for m in container["volumeMounts"]} == {v["name"] for v in pod["volumes"]}
    # Parts count from 1, indexes from 0; a part for each.
    said = " ".join(container["command"])
    count = job["spec"]["completions"]
    assert f'--shard "$n/{count}"' in said and "n=$((JOB_COMPLETION_INDEX + 1))" in said
    with pytest.raises(Exception, match="Indexed"):
        validate(job | {"spec": job["spec"] | {"completionMode": "NonIndexed"}}, JOB)
    with pytest.raises(Exception, match="paralelism"):
        validate(job | {"spec": job["spec"] | {"paralelism": 4}}, JOB)


def test_what_a_pod_runs_are_our_options(tmp_path):
    """The command itself, with a program in facebench's place that says what it was given."""
    (container,) = kubernetes()["spec"]["template"]["spec"]["containers"]
    assert container["command"][:2] == ["/bin/sh", "-c"]
    script = container["command"][2].replace("facebench ", "echo ")
    done = subprocess.run(
        ["/bin/sh", "-ec", script],
        env={"JOB_COMPLETION_INDEX": "15", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "--shard 16/16" in done.stdout and "part-16.h5" in done.stdout


READ = r"""(?x)(?:getenv|environ(?:\.get|\.setdefault|\.pop)?)[\[(]\s*["'](FACEBENCH_[A-Z_]+)
    |\$\{?(FACEBENCH_[A-Z_]+)|=\s"(FACEBENCH_[A-Z_]+)"|environment\["(FACEBENCH_[A-Z_]+)"\]"""
OF_FUZZING = {"FACEBENCH_FUZZ_READER"}  # between scripts/fuzz.sh and its own program


def test_every_variable_that_is_read_is_on_the_page():
    files = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines()
    read = set()
    for name in files:
        path = ROOT / name
        is_source = path.suffix in (".py", ".sh", ".cc", ".h", ".cu") or name == ".ci/run"
        if is_source and not name.startswith("tests/") and path.is_file():
            for groups in re.findall(READ, path.read_text(errors="replace")):
                read |= {g for g in groups if g}
    page = (ROOT / "docs/variables.md").read_text()
    listed = set(re.findall(r"^\| `(FACEBENCH_[A-Z_]+)` \|", page, re.MULTILINE))
    assert listed == read - OF_FUZZING
    assert {"FACEBENCH_ISA", "FACEBENCH_DATA", "FACEBENCH_MODELS", "FACEBENCH_LIGHT"} <= listed


def test_the_list_of_a_workflow_is_printed():
    command = [sys.executable, ROOT / "scripts/run_workflow.py", WORKFLOWS[-1], "--list"]
    said = subprocess.check_output(command, text=True)
    assert "lint: run: scripts/lint.sh format" in said and "left out: network: doxygen" in said
