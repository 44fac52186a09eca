"""The command line: every verb's help, options, messages, exit codes."""

import csv
import inspect
import json
import os
import re
import resource
import shlex
import subprocess
import sys
from pathlib import Path

import click
import facebench
import numpy as np
import pytest
from command_line import ENVIRONMENT, assert_user_error, command, run, runner
from facebench.cli.app import app
from facebench.cli.common import give_back_names, out_path, parse_assignments
from facebench.cli.options import HEADINGS, click_parameter, fields, option, with_parameters
from facebench.cli.verb import report_errors
from facebench.cli.verbs import VERBS as TABLE
from facebench.cli.verbs import listing

VERBS = [
    "demo",
    "list",
    "show",
    "detect",
    "pack",
    "train",
    "convert",
    "quantize",
    "embed",
    "pairs",
    "eval",
    "run",
    "study",
    "suite",
    "compare",
    "report",
    "explain",
    "diagnose",
    "groups",
    "quality",
    "threshold",
    "calibrate",
    "fuse",
    "plan",
    "gallery",
    "budget",
    "inspect",
    "open",
    "verify",
    "check",
    "data synth",
    "data check",
    "data scan",
    "data convert",
    "data describe",
    "data overlap",
    "data keep",
    "data merge",
    "data croissant",
    "bench step",
    "bench scale",
    "bench load",
    "bench detect",
    "bench eval",
    "bench layers",
    "bench factors",
    "bench compare-datasets",
]


# --- help, version, usage -------------------------------------------------------------------------


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_has_help_with_an_example_of_itself(name):
    result = runner.invoke(app, [*name.split(), "--help"])
    assert result.exit_code == 0
    assert f"Example: facebench {name} " in " ".join(result.output.split())
    # As a person would write it: --out PATH, [0 to 1], not <str>, <list[Path]>, [0.0<=x<=1.0].
    assert not re.search(r"<(?!=)|list\[|<=|>=|RANGE", result.output)


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_answers_machines(name):
    assert "--json" in runner.invoke(app, [*name.split(), "--help"]).output


def test_these_are_all_the_verbs():
    names = []
    for name, entry in TABLE.items():
        names += [f"{name} {verb}" for verb in entry] if isinstance(entry, dict) else [name]
    assert sorted(names) == sorted(VERBS)


def whole_help(name):
    """With every option, where --help shows the common ones alone."""
    text = runner.invoke(app, [*name.split(), "--help"]).output
    if "--help-all" in text:
        text = runner.invoke(app, [*name.split(), "--help-all"]).output
    return text


@pytest.mark.parametrize("name", ["run", "eval", "train"])
def test_help_of_many_options_shows_the_common_ones(name):
    """15 and those that every verb has; what must be given is among them."""
    command = app.get_command(None, name)
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help_all"]
    text = runner.invoke(app, [name, "--help"]).output
    shown = set(re.findall(r"^  (?:-h, )?(--[a-z-]+)", text, re.MULTILINE))
    assert len(shown - {"--quiet", "--json", "--help", "--help-all"}) <= 15
    assert {p.opts[0] for p in options if p.required} <= shown
    assert f"Show all {len(options) + 2} options" in text
    every = set(re.findall(r"^  (?:-h, )?(--[a-z-]+)", whole_help(name), re.MULTILINE))
    assert every == {p.opts[0] for p in options} | {"--help", "--help-all"}
    # The same answer with other words before it, and none beside it.
    assert runner.invoke(app, [name, "--threads", "1", "--help-all"]).output == whole_help(name)
    assert runner.invoke(app, [name, "--help-all", "--json"]).exit_code == 0


def test_help_shows_verbs_and_many_options_by_heading():
    text = runner.invoke(app, ["--help"]).output
    assert re.search(r"Start:\n  demo .*\nSingle steps:\n.*\nStudies:\n  study ", text, re.DOTALL)
    text = whole_help("run")
    for heading, first in [
        ("Input", "root"),
        ("Faces", "detector"),
        ("Model", "model"),
        ("Numbers", "convention"),
        ("Output", "cache"),
    ]:
        assert re.search(rf"^{heading}:\n  --{first} ", text, re.MULTILINE), heading
    # What a heading names is an option of some verb.
    verbs = [app.get_command(None, name) for name in ("run", "eval", "embed", "study")]
    options = {p.name for verb in verbs for p in verb.params} | {"help", "help_all"}
    assert {n for names in HEADINGS.values() for n in names.split()} <= options


def test_examples_in_help_are_valid_options():
    """Every --option of an example exists in the help that shows it."""
    for name in VERBS:
        text = whole_help(name)
        example = " ".join(text.split()).partition("Example: ")[2]
        # What stands before the program's name are options of another one (torchrun).
        own = re.sub(r"torchrun .*?-m facebench", "facebench", example)
        for flag in re.findall(r"--[a-z-]+", own):
            assert f"{flag} " in text.partition("Example: ")[0], (name, flag)


def test_an_option_has_the_name_of_its_parameter_or_its_own():
    def work(
        device: option("Where.", metavar="DEVICE"), to: option("There.", int, "--into") = 1
    ): ...

    parameters = inspect.signature(with_parameters(work, [])).parameters.values()
    to, device = map(click_parameter, parameters)  # a device stands among the last
    assert (device.name, device.opts, device.required) == ("device", ["--device"], True)
    assert (to.name, to.opts, to.default) == ("to", ["--into"], 1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--replicates 1e3", "'1e3' is not a whole number"),
        ("--level nan", "nan is not allowed"),
        ("--level 1.5", "1.5 is not allowed; the greatest is 0.9999"),
        ("--seed -1", "-1 is not allowed; the least is 0"),
        ("--limit 9223372036854775808", "9223372036854775808 is not allowed; the greatest is"),
        ("--threads 99999999999999999999999999", "is not allowed; the greatest is"),
    ],
)
def test_a_number_says_what_is_wrong_with_it(words, said):
    result = runner.invoke(app, f"eval lfw --root . --scores s.csv {words}".split())
    assert result.exit_code == 2 and said in " ".join(result.stderr.split()), result.output


# --- options made from their description ----------------------------------------------------------


@pytest.mark.parametrize("name", ["eval", "run"])
def test_every_evaluation_option_is_an_option_of_the_verb(name):
    """The description is walked, so one line in EvaluationOptions::describe is enough."""
    command = app.get_command(None, name)
    options = {parameter.name: parameter for parameter in command.params}
    text = " ".join(whole_help(name).split())
    described = facebench.protocols.EvaluationOptions.fields()
    assert len(described) >= 9
    for field in described:
        option = options[field["name"]]
        assert option.opts == ["--" + field["name"].replace("_", "-")]
        assert option.default == field["default"]
        assert option.help.lower() == field["doc"].lower() + "."
        assert f"{option.opts[0]} " in text


def test_every_evaluation_option_is_a_keyword_and_a_key_of_the_manifest(tmp_path):
    """As a keyword of `facebench.evaluate` and on the command line, with another value."""
    text = "2\t1\nAnn\t1\t2\nAnn\t1\tBob\t1\nCat\t1\t2\nCat\t1\tDan\t1\n"
    (tmp_path / "pairs.txt").write_text(text)
    (tmp_path / "scores.csv").write_text("score\n0.9\n0.1\n0.8\n0.2\n")
    other = {
        "convention": "facenet",
        "failed_enrolments": "drop",
        "interval": "none",
        "fusion": "mean_unit",
        "match": "stem",
        "accuracy_convention": "exact",
        "tar_at_far_convention": "exact",
    }
    # Refused where no metric uses them, as here; test_convention_choice.py tries them.
    elsewhere = ["identification_convention", "rank_ties"]
    # Of embeddings; the manifest has them in its `backend`. test_backend_runs.py tries them.
    elsewhere += ["backend", "train", "allow_overlap", "normalise", "cohort"]
    given = {}
    for field in facebench.protocols.EvaluationOptions.fields():
        if field["name"] in elsewhere:
            continue
        by_type = {"integer": 77, "number": 0.9, "boolean": True}
        given[field["name"]] = by_type.get(field["type"]) or other[field["name"]]
        assert given[field["name"]] != field["default"]
    data = {"scores": tmp_path / "scores.csv", "root": tmp_path}
    facebench.evaluate("lfw", out=tmp_path / "keywords", **data, **given)
    options = [
        word
        for name, value in given.items()
        for word in [f"--{name.replace('_', '-')}", *([] if value is True else [value])]
    ]
    shared = ["--scores", data["scores"], "--root", tmp_path]
    result = run("eval", "lfw", *shared, "--out", tmp_path / "options", *options)
    assert result.returncode == 0, result.stderr
    for folder in ("keywords", "options"):
        manifest = json.loads((tmp_path / folder / "run.json").read_text())
        kept = manifest["content"]["options"]
        assert {k: v for k, v in kept.items() if k not in elsewhere} == given


def test_a_described_option_has_its_range_choices_and_default():
    class Options:
        @staticmethod
        def fields():
            shared = {"low": None, "high": None, "choices": []}
            return [
                shared
                | {"name": "far_rate", "type": "number", "default": 0.1, "doc": "rate"}
                | {"low": 0.0, "high": 1.0},
                shared
                | {"name": "seed", "type": "integer", "default": 0, "doc": "seed"}
                | {"low": 0.0, "high": 9e15},
                shared
                | {"name": "kind", "type": "text", "default": None, "doc": "which"}
                | {"choices": ["a", "b"]},
                shared | {"name": "decode", "type": "boolean", "default": True, "doc": "decode"},
            ]

    described = fields(Options, renamed={"kind": "sort"}, defaults={"seed": 3})
    toy = click.Command(
        "toy",
        params=list(map(click_parameter, described)),
        callback=lambda **given: print(sorted(given.items())),
    )
    help_text = " ".join(runner.invoke(toy, ["--help"]).output.split())
    assert "0 to 1]" in help_text and "[a|b]" in help_text and "--no-decode" in help_text
    default = {"far_rate": 0.1, "seed": 3, "sort": None, "decode": True}
    assert runner.invoke(toy, []).output.strip() == str(sorted(default.items()))
    typed = runner.invoke(toy, ["--far-rate", "1", "--sort", "a", "--no-decode"])
    given = default | {"far_rate": 1.0, "sort": "a", "decode": False}
    assert typed.output.strip() == str(sorted(given.items()))
    assert runner.invoke(toy, ["--far-rate", "2"]).exit_code == 2


def test_a_value_out_of_range_names_option_and_range(tmp_path):
    arguments = ("eval", "lfw", "--scores", "s.csv", "--root", tmp_path)
    assert_user_error(run(*arguments, "--replicates", "5"), 2, "--replicates", "20")


def test_version():
    result = run("--version")
    assert (result.returncode, result.stdout) == (0, f"facebench {facebench.__version__}\n")


@pytest.mark.parametrize(
    ("words", "most"),  # some tenth above what was counted: 48, 285, 440, 270 modules
    [("", 55), ("--help", 320), ("run --help", 500), ("verify --help", 310)],
)
def test_few_modules_are_imported_before_the_work_begins(words, most):
    """Their number holds what the time to the first answer rests on; torch alone has 700."""
    code = (
        f"import sys; sys.argv = ['facebench', *{words!r}.split()]; before = len(sys.modules)\n"
        "import facebench\n"
        "if sys.argv[1:]:\n"
        "    before = 0\n"
        "    from facebench.cli import main\n"
        "    try: main()\n"
        "    except SystemExit: pass\n"
        "assert not {'torch', 'matplotlib', 'pandas'} & set(sys.modules)\n"
        "print(len(sys.modules) - before, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert int(done.stderr) <= most


@pytest.mark.parametrize("verb", ["embed", "compare"])
def test_what_needs_no_tensor_does_not_import_torch(verb):
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "facebench", verb, "--help"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert " facebench.cli" in done.stderr and " torch\n" not in done.stderr


def test_a_mistyped_verb_gets_a_suggestion():
    assert_user_error(run("detcet"), 2, "detect")


def test_a_mistyped_option_is_wrong_use():
    assert_user_error(run("list", "networks", "--jsno"), 2, "--json")


def test_a_mistyped_kind_gets_a_suggestion():
    assert_user_error(run("list", "netwroks"), 2, "did you mean 'networks'?")


def test_no_arguments_shows_help():
    result = run()
    assert result.returncode == 2
    assert "Usage:" in result.stdout + result.stderr


# --- explain --------------------------------------------------------------------------------------


def test_a_claim_is_tested():
    result = run("explain", "--claim", "99.64", "--protocol", "lfw", "--against", "99.53", "--json")
    assert result.returncode == 3, result.stderr  # the answer is no
    claim = json.loads(result.stdout)
    assert claim["exists"] is False
    assert claim["against"]["paired_nested"] > 6000
    text = run("explain", "--claim", "99.64", "--protocol", "lfw").stdout
    assert "99.64 % cannot exist: 5978 of 6000 comparisons are 99.6333 %" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["two run folders or --claim"]),
        (["a", "--claim", "99.6"], ["two run folders or --claim"]),
        (["a"], ["two run folders", "1"]),
        (["--claim", "9,9,6", "--protocol", "lfw"], ["9,9,6"]),
        (["--claim", "99.6"], ["counted out of"]),
        (["--claim", "99.6", "--protocol", "lfv"], ["did you mean 'lfw'"]),
    ],
)
def test_wrong_use_of_explain(arguments, words):
    assert_user_error(run("explain", *arguments), 2, *words)


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (facebench.Error("pairs.txt:3: bad"), 1, "pairs.txt:3: bad"),
        (ValueError("wrong"), 2, "wrong"),
        (IndexError("beyond"), 2, "beyond"),
        (ImportError("needs torch"), 1, "needs torch"),
        (FileNotFoundError(2, "No such file or directory", "x.h5"), 1, "x.h5: No such file"),
        (OSError(28, "No space left on device", "x.h5"), 1, "x.h5: the disk is full"),
        (MemoryError(), 1, "not enough memory: allow more"),
        (MemoryError("interning a name"), 1, "allow more (ulimit -v, a container's limit) (intern"),
        (MemoryError("not enough memory: 8 GiB are wanted"), 1, ": not enough memory: 8 GiB"),
        (ImportError("lib.so: failed to map segment from shared object"), 1, "allow more"),
        (KeyboardInterrupt(), 130, "stopped"),
        # As pybind11 says that Ctrl-C came while a compiled module was loaded.
        (ImportError("initialization failed"), 130, "stopped"),
    ],
)
def test_errors_become_a_sentence_and_an_exit_code(error, code, text, capsys):
    @report_errors
    def fails():
        raise error from (KeyboardInterrupt() if code == 130 else None)

    with pytest.raises(click.exceptions.Exit) as caught:
        fails()
    assert caught.value.exit_code == code
    assert text in capsys.readouterr().err


@pytest.mark.parametrize("megabytes", [250, 700, 1800])
def test_a_limit_of_memory_is_one_sentence(megabytes, tmp_path):
    """Libraries that cannot be mapped; `eval` needs fewer."""
    pytest.importorskip("torch")
    limit = megabytes << 20
    done = subprocess.run(
        [sys.executable, "-m", "facebench", "run", "lfw", "--model", "m.onnx", "--root", "."],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        cwd=tmp_path, env=os.environ, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1 and done.stdout == "", done
    said = r"facebench: there is not enough memory: allow more .*\n"
    assert re.fullmatch(said, done.stderr), done


@pytest.mark.parametrize("place", ["loop", "n" * 300])
def test_places_that_cannot_be_are_one_sentence(place, tmp_path):
    """A link to itself; a name that no file system takes."""
    os.symlink("loop", tmp_path / "loop")
    at = tmp_path / place
    for arguments in (
        ("detect", at),
        ("pack", "folders", "--root", at, "--out", "x.h5"),
        ("pack", "lfw", "--root", at, "--out", at),
        ("data", "check", "lfw", "--root", at),
        ("eval", "lfw", "--embeddings", at, "--root", at),
        ("run", "lfw", "--model", at, "--root", at),
        ("train", "demo", "--pack", at),
        ("report", at),
        ("verify", at),
    ):
        result = runner.invoke(app, [str(a) for a in arguments])
        assert result.exit_code in (1, 2), (arguments, result.output)
        assert isinstance(result.exception, SystemExit), (arguments, result.exception)


def test_a_bug_is_one_sentence_and_keeps_its_traceback_on_request(monkeypatch, capsys):
    @report_errors
    def buggy():
        raise ZeroDivisionError("two\nlines \x1b[2J")

    monkeypatch.delenv("FACEBENCH_TRACEBACK", raising=False)
    with pytest.raises(click.exceptions.Exit) as exit:
        buggy()
    said = capsys.readouterr().err
    assert exit.value.exit_code == 1 and "ZeroDivisionError: two lines \\x1b[2J" in said
    assert said.count("\n") == 1
    monkeypatch.setenv("FACEBENCH_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        buggy()


def test_a_reader_that_has_seen_enough_is_no_error():
    process = subprocess.Popen(
        command("list", "networks", "--json"),
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
    process.wait()


@pytest.mark.parametrize("words", ["list losses", "list losses --json", "list --help", "--version"])
@pytest.mark.parametrize("output", ["closed", "full"])
def test_an_answer_that_is_lost_is_an_error(words, output, tmp_path):
    to = ">&-" if output == "closed" else ">/dev/full"
    line = [*map(shlex.quote, command(*words.split())), to]
    ended = subprocess.run(
        ["sh", "-c", " ".join(line)],
        env=ENVIRONMENT,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1 and "standard output: " in ended.stderr
    assert ("the disk is full" if output == "full" else "Bad file descriptor") in ended.stderr


def test_letters_beyond_the_locale_and_a_folder_that_is_gone(tmp_path):
    """With the locale C, argv holds bytes that are not ASCII as surrogates."""
    rng = np.random.default_rng(3)
    names = [f"{person}/{image}.jpg" for person in "ab" for image in (1, 2)]
    for name in names:
        (tmp_path / "own" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "own" / name).write_text(name)
    np.savez(tmp_path / "e.npz", embeddings=rng.normal(size=(4, 8)), names=names)
    given = ("--root", tmp_path / "own", "--embeddings", tmp_path / "e.npz", "--interval", "none")
    ascii_only = ENVIRONMENT | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for folder, kept, shown in (
        ("o\u00e9".encode(), "o\u00e9", b"o\\xe9/report.html"),
        (b"o\xe9", r"o\xe9", b"o\\xe9/report.html"),
    ):
        line = [*map(str, command("eval", "folders", *given)), "--out", os.fsencode(folder)]
        ended = subprocess.run(line, env=ascii_only, cwd=tmp_path, capture_output=True, check=True)
        assert shown in ended.stdout
        run = json.loads(
            (Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + folder)) / "run.json").read_text(
                "utf-8"
            )
        )
        assert f"--out '{kept}'" in run["circumstance"]["command"]
    gone = tmp_path / "gone"
    gone.mkdir()
    line = " ".join(map(shlex.quote, map(str, command("list", "protocols"))))
    subprocess.run(
        ["sh", "-c", f"cd {shlex.quote(str(gone))} && rmdir {shlex.quote(str(gone))} && {line}"],
        env=ENVIRONMENT,
        check=True,
        capture_output=True,
    )


def test_a_closed_error_stream_leaves_the_answer_alone():
    """Python prints what is meant for an error stream that is absent to the output."""
    line = " ".join([*map(shlex.quote, command("show", "nonsense")), "2>&-"])
    ended = subprocess.run(["sh", "-c", line], env=ENVIRONMENT, stdout=subprocess.PIPE, check=False)
    assert (ended.returncode, ended.stdout) == (2, b"")


def test_out_is_the_first_free_number(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert out_path(None, "run", "lfw") == Path("runs/run-lfw-1")
    assert out_path(None, "run", "lfw") == Path("runs/run-lfw-2")
    assert out_path(None, "pack", "lfw", ".h5") == Path("runs/pack-lfw-1.h5")
    assert "out: runs/run-lfw-2" in capsys.readouterr().err
    Path("runs/run-lfw-2/run.json").write_text("{}")
    Path("runs/pack-lfw-1.h5").write_text("a pack")
    give_back_names()
    assert sorted(p.name for p in Path("runs").iterdir()) == ["pack-lfw-1.h5", "run-lfw-2"]


@pytest.mark.parametrize(
    "words",
    [
        ("run", "lfw", "--model", "no.safetensors", "--root", "."),
        ("run", "lfw", "--model", "no.onnx", "--root", "."),
        ("run", "lfw", "lfv", "--model", "math:sqrt", "--root", "."),
        ("embed", "math:no", "p.h5"),
    ],
)
def test_what_is_refused_names_no_result(words, tmp_path, monkeypatch):
    pytest.importorskip("facebench._full")
    monkeypatch.chdir(tmp_path)
    said = runner.invoke(app, words)
    assert said.exit_code and said.stderr.strip() and "out:" not in said.stderr
    assert not any(tmp_path.iterdir())


def test_assignments():
    assert parse_assignments(["a=1", "b=x", "c=[1, 2]", "d=true", "e=a=b"]) == {
        "a": 1,
        "b": "x",
        "c": [1, 2],
        "d": True,
        "e": "a=b",
    }
    assert parse_assignments(["m=1,2.5", "c=a,b", "n=[1,2]", "x=1,b"]) == {
        "m": [1, 2.5],
        "c": "a,b",
        "n": [1, 2],
        "x": "1,b",
    }
    with pytest.raises(ValueError, match="NAME=VALUE"):
        parse_assignments(["lr"])


def test_an_unknown_device_is_wrong_use(tmp_path):
    args = ("detect", tmp_path)
    assert_user_error(run(*args, "--device", "gpu", cwd=tmp_path), 2, "unknown device 'gpu'")
    assert_user_error(run(*args, "--device", "cuda:99", cwd=tmp_path), 2, "cuda:99")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("verb", ["run", "embed"])
def test_help_shows_a_device_and_an_example_of_pixels(verb, tmp_path):
    assert "--device" in run(verb, "--help", cwd=tmp_path).stdout
    assert "mean=123.675,116.28,103.53" in " ".join(
        run(verb, "--help", cwd=tmp_path).stdout.split()
    )


# --- list -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", list(listing.KINDS))
def test_every_kind_lists_names_and_docs(kind):
    result = runner.invoke(app, ["list", kind, "--json"])
    assert result.exit_code == 0, result.output
    # Warnings about absent devices go to the error stream.
    entries = json.loads(result.stdout)
    assert entries
    assert all(entry["name"] for entry in entries)


def test_list_networks_has_the_agreed_fields():
    entries = json.loads(runner.invoke(app, ["list", "networks", "--json"]).stdout)
    fields = {"name", "parameters", "parameters_caffe_first_blob", "macs", "input", "embedding"}
    assert all(fields | {"source"} <= set(entry) for entry in entries)


# --- detect ---------------------------------------------------------------------------------------


@pytest.fixture
def pictures(tmp_path) -> list[Path]:
    """Four files: an image without a face, a text file, an empty file, none at all."""
    folder = tmp_path / "in"
    folder.mkdir()
    files = [folder / n for n in ("blank.png", "text.jpg", "empty.jpg", "absent.jpg")]
    facebench.images.write(files[0], np.full((60, 60, 3), 90, np.uint8))
    files[1].write_text("not an image")
    files[2].write_bytes(b"")
    return files


def test_bad_images_are_rows_with_a_status(pictures, tmp_path):
    result = run("detect", *pictures, "--detector", "hog", "--json", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    rows = json.loads(result.stdout)
    assert [row["status"] for row in rows] == ["no_face", "unreadable", "unreadable", "missing"]
    assert run("detect", *pictures, "--detector", "hog", "--strict").returncode == 1


def test_detect_writes_drawings(pictures, tmp_path):
    result = run("detect", pictures[0], "--detector", "hog", "--draw", tmp_path / "drawn")
    assert result.returncode == 0, result.stderr
    assert [p.name for p in (tmp_path / "drawn").iterdir()] == ["blank.png"]


@pytest.fixture
def tree(pictures) -> Path:
    """A folder with the above, one more image in a folder below it, and notes."""
    folder = pictures[0].parent
    facebench.images.write(folder / "deep" / "er" / "10.jpg", np.full((50, 40, 3), 99, np.uint8))
    facebench.images.write(folder / "deep" / "er" / "2.jpg", np.full((30, 40, 3), 99, np.uint8))
    (folder / "notes.md").write_text("notes")
    return folder


TREE = ["blank.png", "deep/er/2.jpg", "deep/er/10.jpg", "empty.jpg", "text.jpg"]


def test_detect_takes_a_tree_of_folders(tree, tmp_path):
    result = run("detect", tree, "--detector", "hog", "--draw", tmp_path / "drawn")
    assert result.returncode == 0, result.stderr
    rows = list(csv.DictReader(result.stdout.splitlines()))
    assert [row["name"] for row in rows] == TREE
    assert [row["status"] for row in rows] == ["no_face"] * 3 + ["unreadable"] * 2
    assert rows[0]["x0"] == rows[0]["score"] == ""
    assert "skipped, no JPEG, PNG, PNM, BMP, TIFF and WebP: 1 (notes.md)" in result.stderr
    drawn = sorted(p.relative_to(tmp_path / "drawn") for p in tmp_path.rglob("drawn/**/*.*"))
    assert [str(p) for p in drawn] == ["blank.png", "deep/er/10.jpg", "deep/er/2.jpg"]


def test_detect_writes_a_file_and_says_what_is_in_it(tree, tmp_path):
    out = tmp_path / "faces.csv"
    result = run("detect", tree, "--detector", "hog", "--out", out)
    assert result.stdout == f"{out}: 0 faces on 5 images (3 no_face, 2 unreadable)\n"
    assert [line.split(",")[0] for line in out.read_text().splitlines()[1:]] == TREE
    result = run("detect", tree, "--detector", "hog", "--out", tmp_path / "f.json", "--json")
    summary = json.loads(result.stdout)
    assert summary["counts"]["unreadable"] == 2
    assert summary["skipped"] == [str(tree / "notes.md")]
    assert [row["name"] for row in json.loads((tmp_path / "f.json").read_text())] == TREE


def test_detect_refuses_what_it_cannot_write(tree, tmp_path):
    assert_user_error(run("detect", tree, "--detector", "hog", "--out", "faces.txt"), 2, ".csv")
    before = (tree / "blank.png").read_bytes()
    assert_user_error(run("detect", tree, "--detector", "hog", "--draw", tree), 2, "replace")
    assert (tree / "blank.png").read_bytes() == before
    (tmp_path / "none").mkdir()
    assert_user_error(run("detect", tmp_path / "none", "--detector", "hog"), 1, "no image")


def test_an_unknown_detector_gets_a_suggestion(pictures):
    assert_user_error(run("detect", pictures[0], "--detector", "mtcn"), 2, "did you mean 'mtcnn'?")
