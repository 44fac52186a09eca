"""The command line's verbs one after another, on drawn faces; Ctrl-C, and nothing half-written."""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import facebench
import facebench.io as fio
import numpy as np
import pytest
from command_line import ENVIRONMENT, assert_user_error, command, invoke


@pytest.fixture(scope="session")
def faces(tmp_path_factory) -> Path:
    """Synthetic faces in LFW's format, made by the command line itself."""
    folder = tmp_path_factory.mktemp("faces")
    drawn = ("--people", 20, "--images", 2, "--size", 96, "--set", "supersampling=1")
    invoke("data", "synth", "--out", folder / "data", *drawn, "--sheet", folder / "sheet.png")
    return folder


@pytest.fixture(scope="session")
def trained(faces) -> dict[str, Path]:
    """Pack, model, embeddings and run folder, each made by its verb."""
    files = {
        "root": faces / "data",
        "pack": faces / "pack.h5",
        "training": faces / "training",
        "embeddings": faces / "embeddings.h5",
        "run": faces / "run",
    }
    invoke("pack", "lfw", "--root", files["root"], "--detector", "none", "--out", files["pack"])
    invoke(
        *("train", "small4.softmax", "--pack", files["pack"], "--out", files["training"]),
        *("--set", "epochs=1", "--set", "batch=8", "--threads", 1),
    )
    files["model"] = files["training"] / "model.safetensors"
    invoke("embed", files["model"], files["pack"], "--out", files["embeddings"])
    invoke(
        *("eval", "lfw", "--embeddings", files["embeddings"], "--root", files["root"]),
        *("--replicates", 50, "--out", files["run"]),
    )
    return files


def test_train_is_judged_by_a_protocol(trained, tmp_path):
    train = ("train", "small4.softmax", "--pack", trained["pack"], "--out", tmp_path / "run")
    small = ("--set", "epochs=2", "--set", "batch=8", "--threads", 1, "--json")
    judge = ("--validate", "lfw", "--validation-pack", trained["pack"], "--root", trained["root"])
    result = json.loads(invoke(*train, *small, *judge, "--validation-metric", "auc").stdout)
    assert (tmp_path / "run" / "best.safetensors").exists()
    lines = [json.loads(x) for x in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    values = [line["value"] for line in lines if line.get("metric") == "auc"]
    assert len(values) == 3
    assert result["best_score"] == max(values[1:])
    assert "validation-pack" in invoke(*train, "--validate", "lfw", code=2).output


def test_train_leaves_out_what_a_list_names(trained, tmp_path):
    left_out = facebench.datasets.Pack(trained["pack"]).label_names[0]
    (tmp_path / "list.txt").write_text(f"person\t{left_out}\n")
    result = invoke(
        *("train", "small4.softmax", "--pack", trained["pack"], "--out", tmp_path / "run"),
        *("--set", "epochs=1", "--set", "batch=8", "--threads", 1),
        *("--exclude", tmp_path / "list.txt"),
    )
    assert f"left out by {tmp_path / 'list.txt'}: 2 images" in result.output


def test_pack_cuts_crops_of_the_size_that_is_said(trained, tmp_path):
    pack = ("pack", "lfw", "--root", trained["root"], "--detector", "none", "--crop", "paper")
    for said, shape in (("24", (24, 24)), ("20x28", (28, 20))):
        path = tmp_path / f"{said}.h5"
        invoke(*pack, "--crop-size", said, "--out", path)
        assert facebench.datasets.Pack(path).images.shape[1:3] == shape
    for wrong in ("20x", "20x28x3", "-20", "half"):
        assert "--crop-size" in invoke(*pack, f"--crop-size={wrong}", code=2).output


def test_synth_writes_lists_and_sheet(faces):
    assert (faces / "sheet.png").is_file()
    assert list((faces / "data").rglob("pairs.txt"))


def test_check_finds_what_is_wrong(faces, tmp_path):
    root = tmp_path / "data"
    shutil.copytree(faces / "data", root)
    report = json.loads(
        invoke("data", "scan", "lfw", "--root", root, "--protocol", "lfw", "--json").stdout
    )
    assert (report["images"], report["people"], report["findings"]) == (40, 20, [])
    damaged = sorted(root.rglob("*_0001.*"))[0]
    damaged.write_bytes(b"")
    report = json.loads(invoke("data", "scan", "lfw", "--root", root, "--json", code=3).stdout)
    assert [f["kind"] for f in report["findings"]] == ["empty"]


def test_eval_prints_the_metrics_file_as_json(trained, tmp_path):
    arguments = ("--embeddings", trained["embeddings"], "--root", trained["root"])
    result = invoke(
        *("eval", "lfw", *arguments, "--replicates", 50, "--out", tmp_path / "run", "--json")
    )
    answer = json.loads(result.stdout)
    assert answer.pop("out") == str(tmp_path / "run")
    assert answer.pop("report") == str(tmp_path / "run/report.html")
    assert answer == json.loads((trained["run"] / "metrics.json").read_text())
    first, second = (p / "scores.h5" for p in (trained["run"], tmp_path / "run"))
    assert first.read_bytes() == second.read_bytes()


def test_files_of_strangers_give_the_same_numbers(trained, tmp_path, confinable):
    """Pack, embeddings and scores are read by confined processes; every file comes out the same."""
    embeddings, out = tmp_path / "embeddings.h5", tmp_path / "run"
    arguments = ("--root", trained["root"], "--replicates", 50, "--out", out)
    try:
        invoke("--untrusted", "embed", trained["model"], trained["pack"], "--out", embeddings)
        invoke("--untrusted", "eval", "lfw", "--embeddings", embeddings, *arguments)
        root = ("--root", trained["root"])
        verified = invoke("--untrusted", "verify", out, *root, "--json", code=3)
    finally:
        assert fio.confine_readers(False)
    checks = json.loads(verified.stdout)["checks"]
    differing = [c["name"] for c in checks if c["same"] is False]
    assert differing == ["input embeddings"]  # outside the root
    assert embeddings.read_bytes() == trained["embeddings"].read_bytes()
    for name in ("scores.h5", "metrics.json"):
        assert (out / name).read_bytes() == (trained["run"] / name).read_bytes()


def test_eval_does_not_replace_unless_told(trained):
    arguments = ("--embeddings", trained["embeddings"], "--root", trained["root"])
    again = ("eval", "lfw", *arguments, "--replicates", 50, "--out", trained["run"])
    assert "exists" in invoke(*again, code=1).output
    invoke(*again, "--overwrite")


def test_eval_wants_embeddings_or_scores(trained):
    invoke("eval", "lfw", "--root", trained["root"], code=2)


def test_run_goes_from_photographs_to_a_report(trained, tmp_path):
    arguments = ("--root", trained["root"], "--detector", "none", "--replicates", 50)
    out = tmp_path / "run"
    invoke("run", "lfw", "--model", trained["model"], *arguments, "--out", out)
    assert {"run.json", "scores.h5", "metrics.json", "report.md"} <= {p.name for p in out.iterdir()}
    invoke("verify", out)


def test_verify_says_what_differs(trained, tmp_path):
    run_folder, root = tmp_path / "run", tmp_path / "data"
    shutil.copytree(trained["run"], run_folder)
    shutil.copytree(trained["root"], root)
    invoke("verify", run_folder, "--root", root)
    pairs = next(root.rglob("pairs.txt"))
    pairs.write_text(pairs.read_text() + "\n")
    result = invoke("verify", run_folder, "--root", root, "--json", code=3)
    checks = json.loads(result.stdout)["checks"]
    differing = [c["name"] for c in checks if c["same"] is False]
    assert differing == ["input pairs", "comparisons from the lists"]


def test_report_in_every_format(trained, tmp_path):
    assert "accuracy" in invoke("report", trained["run"], trained["run"]).stdout.lower()
    for name in ("csv", "latex"):
        invoke("report", trained["run"], "--format", name, "--out", tmp_path / name)
        assert (tmp_path / name).is_file()
    invoke("report", trained["run"], "--format", "html", "--out", tmp_path / "page")
    assert (tmp_path / "page" / "report.html").is_file()


def test_convert_refuses_what_is_no_weights_file(tmp_path):
    bad = tmp_path / "w.pt"
    bad.write_bytes(b"not weights")
    invoke("convert", bad, "--network", "small4", "--out", tmp_path / "m.safetensors", code=1)
    assert [p.name for p in tmp_path.iterdir()] == ["w.pt"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "lwf", "--model", "MODEL", "--root", "."),
        ("pack", "lfww", "--root", "."),
        ("eval", "lwf", "--embeddings", "e.h5", "--root", "."),
    ],
)
def test_an_unknown_name_gets_a_suggestion_and_writes_nothing(
    arguments, trained, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    arguments = [trained["model"] if a == "MODEL" else a for a in arguments]
    assert "did you mean 'lfw'?" in invoke(*arguments, code=2).output
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


# --- Ctrl-C ---------------------------------------------------------------------------------------


def interrupt(args, cwd, by=signal.SIGINT) -> subprocess.CompletedProcess:
    """Starts a long verb, waits for its first line of progress, sends Ctrl-C or another signal."""
    lines = []
    with subprocess.Popen(
        command(*args),
        cwd=cwd,
        env=ENVIRONMENT | {"PYTHONFAULTHANDLER": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Who runs the tests in the background may have them ignore Ctrl-C, which children inherit.
        preexec_fn=lambda: signal.signal(by, signal.SIG_DFL),
    ) as process:
        for line in process.stderr:
            lines.append(line)
            if not line.startswith("out: "):
                break
        process.send_signal(by)
        try:
            out, err = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)  # faulthandler prints where each thread is
            pytest.fail(f"{args} did not end:\n{process.communicate()[1]}")
        finally:
            process.kill()
    return subprocess.CompletedProcess(args, process.returncode, out, "".join(lines) + err)


@pytest.fixture(scope="session")
def many(tmp_path_factory) -> Path:
    """So many images of one person that nothing is through them soon; one file, many names."""
    root = tmp_path_factory.mktemp("many")
    folder = root / "Some_Body"
    folder.mkdir()
    first = folder / "Some_Body_0001.png"
    noise = np.random.default_rng(0).integers(0, 256, (500, 500, 3), np.uint8)
    facebench.images.write(first, noise)
    for number in range(2, 1501):
        os.link(first, folder / f"Some_Body_{number:04}.png")
    return root


def long_command(name: str, trained: dict[str, Path], many: Path) -> tuple:
    """A call of the verb that would take minutes."""
    out = ("--out", "result")
    evaluation = ("--root", trained["root"], "--replicates", 10_000_000)
    embeddings, model, pack = trained["embeddings"], trained["model"], trained["pack"]
    endless = ("--set", "epochs=100000", "--set", "batch=8")
    return {
        "detect": ("detect", many, "--detector", "hog", "--out", "faces.csv"),
        "pack": ("pack", "lfw", "--root", many, *out),
        "train": ("train", "small4.softmax", "--pack", pack, *endless, *out),
        "eval": ("eval", "lfw", "--embeddings", embeddings, *evaluation, *out),
        "run": ("run", "lfw", "--model", model, *evaluation, "--detector", "none", *out),
        "demo": ("demo", *out),
        "data synth": ("data", "synth", "--people", 5_000, *out),
        "data scan": ("data", "scan", "lfw", "--root", many),
    }[name]


@pytest.mark.parametrize(
    "name", ["detect", "pack", "train", "eval", "run", "demo", "data synth", "data scan"]
)
def test_ctrl_c_ends_long_verbs_and_leaves_nothing_half_written(name, trained, many, tmp_path):
    result = interrupt(long_command(name, trained, many), tmp_path)
    assert_user_error(result, 130, "stopped")
    assert result.stdout == ""
    left = [p.relative_to(tmp_path) for p in tmp_path.rglob("*") if p.is_file()]
    # Training writes a checkpoint before it stops, to go on from; the cache keeps what is whole.
    own = {"train": "result", "run": "runs/cache"}.get(name)
    assert [p for p in left if own is None or not str(p).startswith(own)] == []
    assert left or name != "train"


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_end_a_verb_as_ctrl_c_does(by, trained, many, tmp_path):
    result = interrupt(long_command("pack", trained, many), tmp_path, by)
    assert_user_error(result, 130, "stopped")
    assert list(tmp_path.iterdir()) == []


def test_an_unnamed_result_has_its_name_from_the_start(trained, many, tmp_path):
    """So that two calls at once cannot find the same name free; what fails gives it back."""
    (tmp_path / "runs" / "pack-lfw-1.h5").parent.mkdir()
    (tmp_path / "runs" / "pack-lfw-1.h5").write_bytes(b"another call's")
    result = interrupt(("pack", "lfw", "--root", many), tmp_path)
    assert_user_error(result, 130, "stopped")
    assert "out: runs/pack-lfw-2.h5" in result.stderr
    assert [p.name for p in (tmp_path / "runs").iterdir()] == ["pack-lfw-1.h5"]
