"""Timing: statistics against numpy and scipy, steps, memory that runs out, engines, reports."""

import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

import facebench
import numpy as np
import pytest

torch = pytest.importorskip("torch")

from facebench import nn, timing  # noqa: E402
from facebench.lab import engines  # noqa: E402
from facebench.lab.timing import tables  # noqa: E402
from facebench.lab.timing.results import markdown, sections  # noqa: E402

scipy_stats = pytest.importorskip("scipy.stats")

pytestmark = pytest.mark.usefixtures("kept_workers")

SMALL = {"network_options": {"height": 32, "width": 32}, "classes": 10, "threads": 1}


def small_step(network="small4", **changes):
    settings = {"batches": [4], "iterations": 3, "rounds": 2, "skip": 1, **SMALL, **changes}
    return timing.bench_step(network, **settings)


def test_a_network_of_one_channel(tmp_path):
    """Shi et al. 2016, table 2: FCN-S has 26,752 inputs."""
    rows = small_step("lenet5", network_options={"channels": 1}, mode="inference")["rows"]
    assert rows[0]["status"] == "ok"
    from click.testing import CliRunner
    from facebench.cli.app import app

    words = "bench step lenet5 --batch 4 --iterations 3 --rounds 2 --threads 1 --set channels=1"
    out = tmp_path / "bench"
    done = CliRunner().invoke(app, [*words.split(), "--set", "classes=10", "--out", str(out)])
    assert done.exit_code == 0, done.output
    options = json.loads((out / "bench.json").read_text())["options"]
    assert options["network_options"] == {"channels": 1} and options["classes"] == 10
    images = small_step("lenet5", network_options={"channels": 1}, input="preloaded")["rows"]
    assert images[0]["status"] == "failed" and "three channels" in str(images[0])


# --- statistics -----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [12, 13, 50, 333])
def test_summary_is_numpys(n):
    times = np.random.default_rng(n).gamma(4, 0.01, n)
    s = timing.summarize_times(times, skip=10)
    kept = times[10:]
    assert s["count"] == n - 10 and s["skipped"] == 10
    assert s["first"] == times[0]
    assert s["skipped_mean"] == pytest.approx(times[:10].mean(), rel=1e-14)
    assert s["mean"] == pytest.approx(kept.mean(), rel=1e-14)
    assert s["sd"] == pytest.approx(kept.std(ddof=1), rel=1e-12)
    assert s["median"] == pytest.approx(np.median(kept), rel=1e-14)
    assert s["p95"] == pytest.approx(np.percentile(kept, 95), rel=1e-14)
    assert (s["low"], s["high"]) == (kept.min(), kept.max())


def test_intervals_of_independent_times_are_scipys():
    # Where neighbours do not resemble each other, blocks change nothing but noise.
    times = np.random.default_rng(3).gamma(4, 0.01, 400)
    ours = timing.summarize_times(times, skip=0, replicates=4000)
    for statistic, name in ((np.mean, "mean_interval"), (np.median, "median_interval")):
        theirs = scipy_stats.bootstrap(
            (times,), statistic, n_resamples=4000, method="percentile", rng=1
        ).confidence_interval
        width = theirs.high - theirs.low
        assert np.allclose(ours[name], theirs, atol=0.12 * width)


def test_intervals_of_times_that_resemble_their_neighbours_cover():
    # A slow wave (AR(1), 0.6): 95 % intervals of single draws hold the mean in 66 of 100 cases.
    random = np.random.default_rng(5)
    covered = 0
    for _ in range(100):
        noise = random.standard_normal(300)
        wave = np.zeros(300)
        for i in range(1, 300):
            wave[i] = 0.6 * wave[i - 1] + noise[i]
        low, high = timing.summarize_times(10 + wave[44:], skip=0, replicates=300)["mean_interval"]
        covered += low <= 10 <= high
    assert covered >= 82


def test_summary_depends_on_the_seed_alone():
    times = np.random.default_rng(0).random(30)
    assert timing.summarize_times(times) == timing.summarize_times(times)
    assert timing.summarize_times(times, seed=1) != timing.summarize_times(times)


def test_equation_six_of_the_papers_text():
    # Section 4.3, PyTorch's VGG-16: 127, 203, 377 images/s; printed 60 % (recomputed) and 86 %.
    assert timing.scaling_speedup(127, 203) == pytest.approx(0.598, abs=5e-4)
    assert timing.scaling_speedup(203, 377) == pytest.approx(0.857, abs=5e-4)


# --- machine --------------------------------------------------------------------------------------


def test_machine_facts_agree_with_the_system():
    facts = timing.machine_facts()
    assert facts["cpu"]["allowed"] <= len(os.sched_getaffinity(0))
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert facts["memory_bytes"] == pytest.approx(total, rel=0.02)
    json.dumps(facts, allow_nan=False)


def test_cpuinfo_that_is_not_text_is_data():
    random = np.random.default_rng(1)
    for _ in range(200):
        noise = bytes(random.integers(0, 256, 300, np.uint8)).decode("latin-1")
        timing.parse_cpuinfo("processor : 0\nmodel name : " + noise + "\n" + noise)


def test_other_work_marks_a_measurement():
    # A process that is not ours to watch takes a processor for itself.
    other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        # The meter counts its own process; so a third one is watched.
        idle = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"],
                                stdin=subprocess.PIPE)  # fmt: skip
        meter = timing.ProcessMeter(idle.pid, 0.01)
        until = time.monotonic() + 20
        # Until the other one has had a second, however busy the machine is.
        while cpu_seconds(other.pid) < 1 and time.monotonic() < until:
            os.sched_yield()
            time.sleep(0.05)
        use = meter.stop()
        idle.communicate()
    finally:
        other.kill()
        other.wait()
    assert use["processors"]["others"] > timing.busy_share
    assert use["busy"] is True


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# --- steps ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["training", "inference"])
def test_a_step_is_split_into_its_phases(mode):
    row = small_step(mode=mode)["rows"][0]
    assert row["status"] == "ok"
    expected = ["forward", "backward", "update"] if mode == "training" else ["forward"]
    assert list(row["phases"]) == expected
    assert sum(p["mean"] for p in row["phases"].values()) <= row["seconds"]["mean"]
    assert row["seconds"]["count"] == 6 and row["seconds"]["skipped"] == 1
    assert row["images_per_second"] == pytest.approx(4 / row["seconds"]["mean"])
    assert row["memory"]["peak"] > 0
    assert row["overhead"]["share"] > 0


def test_every_iteration_is_kept_and_the_first_are_drawn(tmp_path):
    """Figure 1 of Liu et al.: the speed at each iteration, those before the rounds too."""
    options = {"iterations": 2, "rounds": 2, "skip": 3, "classes": 10}
    step = options | {"network_options": {"height": 32, "width": 32}}
    row = {"name": "here", "network": "small4", "batch": 2, "threads": 1, "options": step}
    columns = [{"result": "images_per_second"}]
    table = {"id": "t", "rows": [row], "columns": columns, "plot": {"first_iterations": 4}}
    study = facebench.studies.read_study({"tables": [table]}, "mine")
    found = facebench.study(study, out=tmp_path / "s")
    (cell,) = found["t"]["rows"][0]["cells"]
    job = json.loads((tmp_path / "s" / cell["jobs"][0] / "job.json").read_text())
    (measured,) = job["result"]["rows"]
    series = measured["series"]
    assert len(series) == 3 + 2 * 2
    assert cell["value"] == pytest.approx(2 / np.mean(series[3:]))
    page = (tmp_path / "s" / "study.html").read_text()
    drawn = page[page.index("images/s by iteration") :]
    assert drawn[: drawn.index("</svg>")].count("<circle") == 4


def test_rows_that_measuring_disturbs_are_marked_in_their_table():
    result = small_step(mode="inference")
    (row,) = result["rows"]
    for share, mark in ((0.005, ""), (0.0051, "+")):
        row["overhead"]["share"] = share
        _, columns, (cells,) = tables._step_tables(result)[1]
        assert cells[columns.index("overhead")] == f"{100 * share:.3f} %{mark}"
        noted = any("measuring took more than 0.5 %" in n for n in tables._step_notes(result))
        assert noted == bool(mark)


@pytest.mark.parametrize(("precision", "rel"), [("float32", 1e-4), ("bfloat16", 2e-2)])
def test_a_step_computes_what_the_trainer_computes(precision, rel):
    """The first losses are those of plain PyTorch: forward, loss in float32, SGD with momentum."""
    mixed = precision == "bfloat16"
    options = timing.StepOptions(
        network="small4", batch=8, classes=5, threads=1, lr=0.05, precision=precision
    )
    bench = timing.StepBench(options, facebench.nn.NetworkOptions(height=32, width=32))
    tensors = {n: t.detach().clone() for n, t in bench.tensors().items()}
    net = facebench.nn.build_network("small4", height=32, width=32)
    state = {n[8:]: t for n, t in tensors.items() if n.startswith("network.")}
    net.load_state_dict(state)
    head = torch.nn.Linear(tensors["head.weight"].shape[1], 5)
    head.load_state_dict({k: tensors[f"head.{k}"] for k in ("weight", "bias")})
    optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], 0.05, 0.9)
    images = torch.randn(8, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(8) % 5
    expected = []
    full = torch.nn.functional.cross_entropy(head(net(images)), labels).item()
    for _ in range(4):
        with torch.autocast("cpu", torch.bfloat16, enabled=mixed):
            features = net(images)
        loss = torch.nn.functional.cross_entropy(head(features.float()), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        expected.append(loss.item())
    losses = bench.losses(images, labels, 4)
    assert losses == pytest.approx(expected, rel=rel)
    assert (losses[0] == pytest.approx(full, rel=1e-5)) == (not mixed)
    assert losses[3] < losses[0]


def test_auxiliary_classifiers_are_trained_where_they_are_asked_for():
    moved = {}
    for auxiliary in (0, 1):
        bench = timing.StepBench(
            timing.StepOptions(network="googlenet", batch=2, classes=5, threads=1, lr=0.05),
            facebench.nn.NetworkOptions(height=96, width=96, auxiliary=auxiliary),
        )
        before = {n: t.detach().clone() for n, t in bench.tensors().items()}
        bench.losses(torch.randn(2, 3, 96, 96), torch.tensor([0, 3]), 1)
        after = bench.tensors()
        moved[auxiliary] = {n for n in before if not torch.equal(before[n], after[n])}
    more = moved[1] - moved[0]
    assert more and all(".aux" in n for n in more)
    assert "network.conv1.conv.weight" in moved[0] and "head.weight" in moved[0]


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_data_is_a_phase_where_the_input_works(precision):
    for data_threads in (0, 1):
        result = small_step(input="preloaded", data_threads=data_threads, precision=precision)
        row = result["rows"][0]
        assert row["status"] == "ok", row["message"]
        assert row["phases"]["data"]["mean"] > 0
        model = row["model"]
        assert model["data_alone"] > 0
        total = model["data_alone"] + sum(
            row["phases"][p]["mean"] for p in ("forward", "backward", "update")
        )
        assert model["sequential"] == pytest.approx(total)


def test_inputs_from_files_and_packs(tmp_path):
    options = facebench.datasets.SyntheticOptions(people=20, images=2, size=48)
    facebench.datasets.write_synthetic_dataset(options, tmp_path / "set", 1)
    row = small_step(input="files", path=str(tmp_path / "set/images"))["rows"][0]
    assert row["status"] == "ok" and row["phases"]["data"]["mean"] > 0
    pack = tmp_path / "faces.h5"
    facebench.pack("lfw", tmp_path / "set", pack, detector="none", crop_size=32, threads=1)
    for source in ("pack", "preloaded"):
        row = small_step(input=source, path=str(pack))["rows"][0]
        assert row["status"] == "ok", row["message"]
        assert row["phases"]["data"]["mean"] > 0
    wrong = small_step(input="pack", path=str(pack), network_options={})["rows"][0]
    assert wrong["status"] == "failed" and "32x32" in wrong["message"]
    missing = small_step(input="pack", path=str(tmp_path / "none.h5"))["rows"][0]
    assert missing["status"] == "failed" and "none.h5" in missing["message"]


# An engine's mode and where it is: None, this interpreter; else what FACEBENCH_ENGINE_PYTHON names.
LOADED = [("pytorch", "training"), ("onnxruntime", "inference")]
ELSEWHERE = [("keras-tensorflow", "training"), ("keras-jax", "inference")]


@pytest.mark.parametrize(("engine", "mode"), [*LOADED, *ELSEWHERE])
def test_engines_are_fed_by_their_own_loaders(engine, mode, tmp_path):
    """Equations 7 and 8 of another engine: its loader beside our reading of the same files."""
    other = os.environ.get("FACEBENCH_ENGINE_PYTHON")
    if (engine, mode) in ELSEWHERE and not other:
        pytest.skip(f"{engine} is in no environment here")
    for package in ("torchvision", "PIL", "onnxruntime"):
        pytest.importorskip(package)
    options = facebench.datasets.SyntheticOptions(people=20, images=2, size=48)
    facebench.datasets.write_synthetic_dataset(options, tmp_path / "set", 1)
    files = {"input": "files", "path": str(tmp_path / "set/images"), "data_threads": 0}
    pythons = {engine: other} if (engine, mode) in ELSEWHERE else {}
    engines = ["facebench", engine]
    rows = small_step(engines=engines, mode=mode, pythons=pythons, **files)["rows"]
    for row in rows:
        assert row["status"] == "ok", row["message"]
        model, phases = row["model"], row["phases"]
        parts = [phases[p]["mean"] for p in ("forward", "backward", "update") if p in phases]
        compute = sum(parts) if parts else row["seconds"]["mean"] - phases["data"]["mean"]
        assert model["sequential"] == pytest.approx(model["data_alone"] + compute)
        assert phases["data"]["mean"] > 0 and model["data_alone"] > 0
    pack = small_step(engines=[engine], mode=mode, pythons=pythons, input="pack", path="a.h5")
    assert pack["rows"][0]["status"] == "absent"
    assert "no input 'pack'" in pack["rows"][0]["message"]


def test_engines_are_looked_for_elsewhere(tmp_path, monkeypatch):
    """A stand-in for the other interpreter says what it lacks; what is here is not asked for."""
    gone = engines.EngineEntry("gone", "", "keras_engine", ("numpy", "not_here", "nor_this"))
    monkeypatch.setitem(engines.ENGINES, "gone", gone)
    assert engines.absent("gone") == ["not_here", "nor_this"]
    assert engines.elsewhere("gone") is None
    for answer, lacking in (("echo nor_this", ["nor_this"]), ("exit 1", ["not_here", "nor_this"])):
        other = tmp_path / answer[:4]
        other.write_text(f"#!/bin/sh\n{answer}\n")
        other.chmod(0o755)
        monkeypatch.setenv("FACEBENCH_ENGINE_PYTHON", str(other))
        assert engines.absent("gone") == lacking
        assert engines.elsewhere("gone") == str(other)
        assert engines.elsewhere("pytorch") is None
    monkeypatch.setenv("FACEBENCH_ENGINE_PYTHON", str(tmp_path / "nothing"))
    assert engines.absent("gone") == ["not_here", "nor_this"]


def test_several_numbers_of_threads_are_one_table(tmp_path):
    """As Shi et al. print them; and the libraries that share the work are named."""
    result = small_step(threads=[1, 2])
    assert [r["threads"] for r in result["rows"]] == [1, 2] == result["options"]["threads"]
    versions = result["versions"]["facebench"]
    assert versions["blas"] and versions["thread_libraries"]
    timing.write_bench(result, tmp_path / "run")
    text = (tmp_path / "run" / "report.html").read_text()
    assert "1 threads, ms" in text and "2 threads, ms" in text and "blas" in text


def test_another_engine_alone_is_told_the_network(tmp_path):
    """Its graph and weights come from this library, with which it must agree."""
    (row,) = small_step(engines=["pytorch"])["rows"]
    assert (row["engine"], row["status"], row["message"]) == ("pytorch", "ok", "")
    assert row["difference"]["outputs"] < 1e-4 and row["seconds"]["mean"] > 0


def test_a_narrow_interval_takes_more_rounds():
    short = small_step(rounds=2, iterations=2)["rows"][0]
    long = small_step(rounds=2, iterations=2, narrow=1e-9)["rows"][0]
    assert len(short["rounds"]) == 2 and len(long["rounds"]) == 20


def test_slow_steps_get_fewer_iterations():
    row = small_step(rounds=2, iterations=100_000, seconds=0.2)["rows"][0]
    assert 4 <= row["seconds"]["count"] < 100_000


@pytest.mark.usefixtures("own_workers")
def test_memory_that_runs_out_is_a_row_and_the_next_batch_runs():
    result = small_step(batches=[4096, 4], memory_limit=1 << 29)
    big, small = result["rows"]
    assert big["status"] == "out_of_memory", big
    assert small["status"] == "ok", small
    assert big["predicted_memory"]["total"] > 1 << 29
    assert "out of memory" in markdown(result)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"engines": ["pytroch"]}, "did you mean 'pytorch'"),
        ({"mode": "trainin"}, "mode"),
        ({"rounds": 0}, "rounds"),
        ({"input": "packs"}, "input"),
        ({"network": "smal4"}, "did you mean 'small4'"),
    ],
)
def test_wrong_use(changes, words):
    with pytest.raises(ValueError, match=words):
        small_step(**changes)


# --- predicted memory -----------------------------------------------------------------------------


def test_predicted_memory_by_hand():
    options = timing.StepOptions(network="small4", batch=8, classes=10)
    network = facebench.nn.NetworkOptions(height=32, width=32)
    predicted = timing.predict_step_memory(options, network)
    graph = facebench.nn.build_graph("small4", height=32, width=32)
    width = facebench.nn.build_network("small4", height=32, width=32).eval()(
        torch.zeros(1, 3, 32, 32)
    ).shape[1]  # fmt: skip
    assert predicted["parameters"] == 4 * (graph.count_parameters() + 10 * width)
    assert predicted["gradients"] == predicted["optimizer"] == predicted["parameters"]
    assert predicted["activations"] == 8 * graph.training_activation_bytes()
    assert predicted["total"] == sum(v for k, v in predicted.items() if k != "total")


@pytest.mark.usefixtures("own_workers")
def test_resident_memory_grows_as_predicted():
    rows = small_step(batches=[16, 192], network_options={"height": 64, "width": 64})["rows"]
    growth = rows[1]["memory"]["peak"] - rows[0]["memory"]["peak"]
    predicted = rows[1]["predicted_memory"]["total"] - rows[0]["predicted_memory"]["total"]
    # The prediction counts what the graph keeps; the allocator and the kernels' work space add.
    assert 0.7 * predicted < growth < 3.5 * predicted


# --- reports --------------------------------------------------------------------------------------


def test_a_run_folder(tmp_path):
    result = small_step(batches=[2, 4])
    folder = timing.write_bench(result, tmp_path / "run", "the command")
    names = sorted(p.name for p in folder.iterdir())
    assert names == ["bench.json", "report.html", "report.md", "run.json"]
    manifest = json.loads((folder / "run.json").read_text())
    assert manifest["content"]["options"]["batches"] == [2, 4]
    assert manifest["circumstance"]["machine"]["cpu"]["allowed"] >= 1
    assert manifest["circumstance"]["command"] == "the command"
    assert json.loads((folder / "bench.json").read_text())["rows"] == json.loads(
        json.dumps(result["rows"])
    )
    page = (folder / "report.html").read_text()
    assert page.count("<svg") == 2 and "Repeat spread" in page
    with pytest.raises(facebench.Error, match="already"):
        timing.write_bench(result, tmp_path / "run")
    timing.write_bench(result, tmp_path / "run", overwrite=True)
    for wrong in ({}, {"kind": "other"}, None):
        with pytest.raises((ValueError, TypeError), match="result"):
            timing.write_bench(wrong, tmp_path / "none")
    with pytest.raises(KeyError):  # something is missing from it: nothing is written
        timing.write_bench({**result, "rows": [{}]}, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_busy_machine_is_marked():
    result = small_step()
    row = result["rows"][0]
    row["busy"], row["processors"]["others"] = True, 0.42
    text = markdown(result)
    assert "Busy machine" in text and "42 %" in text
    assert f"{1e3 * row['seconds']['mean']:.4g}*" in text
    row["busy"] = False
    assert "Busy machine" not in markdown(result)
    assert sections(result)[0].blocks


@pytest.mark.parametrize(
    "call",
    [
        lambda: timing.bench_load(threads=[1], size=32, batch=4, seconds=0.02, rounds=2),
        lambda: timing.bench_load(threads=[1], size=32, batch=4, seconds=0.02, rounds=2, race=True),
        lambda: timing.bench_detect(
            detectors=["mtcnn"], sizes=["96x64"], threads=[1], seconds=0.02, rounds=2
        ),
        lambda: timing.bench_eval(templates=64, pairs=200, threads=[1], seconds=0.02, rounds=2),
    ],
    ids=["load", "race", "detect", "eval"],
)
def test_rates(call, tmp_path):
    result = call()
    assert all(r["rate"] > 0 and len(r["rates"]) == 2 for r in result["rows"])
    for row in result["rows"]:
        assert row["repeat_spread"] >= 0 and math.isfinite(row["rate"])
    folder = timing.write_bench(result, tmp_path / "run")
    assert (folder / "report.html").read_text().count("<svg") == 1


def test_layers(tmp_path):
    result = timing.bench_layers("small4", batch=2, threads=1, rounds=2)
    macs = nn.build_network("small4").graph.count_macs()
    assert sum(row["macs"] for row in result["rows"]) == 2 * macs
    assert sum(row["of_all"] for row in result["rows"]) == pytest.approx(1)
    for row in result["rows"]:
        work = row["seconds"] * result["limit"]
        assert row["share"] is None or row["share"] == pytest.approx(row["macs"] / work)
    folder = timing.write_bench(result, tmp_path / "run")
    assert "By method" in (folder / "report.md").read_text()
    with pytest.raises(ValueError, match="torch computes"):
        timing.bench_layers("alexnet_v1", threads=1, rounds=1)
