"""Sweeps: study files, MNIST and CIFAR-10 as distributed, points trained in processes, resumed."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("facebench._full")

import facebench
from facebench import studies, timing, training
from facebench.studies import small_images, sweep_training

QUICK = {"training.batch": 20, "network.embedding": 16, "optimizer.lr": 0.01}


def study(points, **changes):
    fields = {"title": "Batches", "recipe": "lenet5.caffe", "images": "mnist", "settings": QUICK}
    return studies.Study(**fields | {"points": points, "published": [{}] * len(points)} | changes)


# --- study files ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", studies.study_names())
def test_built_in_studies_name_recipes_and_their_keys(name):
    found = studies.load_study(name)
    assert len(found.points) == len(found.published) and found.citations
    recipe = training.load_recipe(found.recipe, **found.settings)
    for point in found.points:
        for key, value in point.items():
            if key == "threads":
                assert value in (1, 2, 4, 8, 16, 32)
            else:
                recipe.set(key, str(value))


def test_wu_table16_is_what_the_paper_prints():
    """Wu et al. 2018, table XVI."""
    found = studies.load_study("wu2018_table16")
    rows = [
        (p["training.batch"], p["training.iterations"], q["training_seconds"], q["accuracy"])
        for p, q in zip(found.points, found.published, strict=True)
    ]
    assert rows == [
        (64, 10000, 512.18, 99.03),
        (640, 1000, 478.22, 98.70),
        (6400, 100, 424.38, 93.66),
        (60000, 10, 377.16, 60.30),
    ]


def test_wu_tables_13_17_and_18_are_what_the_paper_prints():
    """Batch, epochs of all the paper's training images, seconds, accuracy."""
    tables = {
        "wu2018_table13_cpu": (
            50_000,
            [(128, 2560, 219169.14, 86.90), (128, 256, 21673.81, 86.60)],
        ),
        "wu2018_table13_gpu": (50_000, [(128, 2560, 12477.05, 87.00), (128, 256, 1359.22, 86.40)]),
        "wu2018_table17": (
            60_000,
            [
                (10, 12, 9647.34, 99.24),
                (100, 12, 3082.26, 98.86),
                (1000, 12, 1853.41, 96.89),
                (10000, 12, 2336.76, 83.61),
            ],
        ),
        "wu2018_table18": (
            50_000,
            [(50, 178, 9594.97, 99.17), (500, 200, 11555.43, 99.08), (5000, 200, 10239.11, 98.61)],
        ),
    }
    for name, (images, wanted) in tables.items():
        found = studies.load_study(name)
        rows = [
            (
                p["training.batch"],
                p["training.batch"] * p["training.iterations"] / images,
                q["training_seconds"],
                q["accuracy"],
            )
            for p, q in zip(found.points, found.published, strict=True)
        ]
        assert rows == wanted, name


@pytest.mark.parametrize(
    ("recipe", "images"),
    [("lenet5.torch", "mnist"), ("lenet5.theano", "mnist"), ("cifar10.tensorflow", "cifar10")],
)
def test_the_frameworks_recipes_train_on_their_images(recipe, images, tmp_path):
    """Also where the network's input is larger or smaller than the images."""
    asked = study(
        [{"training.iterations": 2}],
        recipe=recipe,
        images=images,
        settings={"training.batch": 10},
    )
    (row,) = studies.bench_sweep(asked, work=tmp_path / "work", train=40, test=20)["rows"]
    assert row["status"] == "ok" and np.sum(row["confusion"]) == 20


def test_axes_are_crossed(tmp_path):
    path = tmp_path / "a.toml"
    head = 'version = 1\ntitle = "t"\nrecipe = "lenet5.caffe"\nimages = "mnist"\n'
    path.write_text(head + '[axes]\n"training.batch" = [8, 16]\nthreads = [1, 2]\n')
    points = studies.load_study(path).points
    found = sorted((p["training.batch"], p["threads"]) for p in points)
    assert found == [(8, 1), (8, 2), (16, 1), (16, 2)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "nothing to train"),
        ("[axes]\nthreads = 1\n", "axis 'threads'"),
        ("sedds = 3\n[[points]]\nthreads = 1\n", "did you mean 'seeds'"),
    ],
)
def test_wrong_study_files_are_refused(tmp_path, text, said):
    path = tmp_path / "a.toml"
    path.write_text('version = 1\ntitle = "t"\nrecipe = "r"\nimages = "mnist"\n' + text)
    with pytest.raises(facebench.Error, match=said):
        studies.load_study(path)
    with pytest.raises(ValueError, match="did you mean 'wu2018_table16'"):
        studies.load_study("wu2018_tabel16")


# --- images ---------------------------------------------------------------------------------------


def write_mnist(root, packed):
    random = np.random.default_rng(0)
    for stem, count in (("train", 5), ("t10k", 3)):
        images = random.integers(0, 256, (count, 28, 28), np.uint8)
        labels = random.integers(0, 10, count).astype(np.uint8)
        for name, magic, values in (("images-idx3", 0x803, images), ("labels-idx1", 0x801, labels)):
            header = np.array([magic, *values.shape], ">u4").tobytes()
            path = root / f"{stem}-{name}-ubyte"
            if packed:
                path.with_name(path.name + ".gz").write_bytes(
                    gzip.compress(header + values.tobytes())
                )
            else:
                path.write_bytes(header + values.tobytes())
    return images, labels


@pytest.mark.parametrize("packed", [False, True])
def test_mnist_is_read(tmp_path, packed):
    images, labels = write_mnist(tmp_path, packed)
    found = small_images.read_small_images("mnist", tmp_path)
    assert found.train[0].shape == (5, 28, 28, 3)
    assert np.array_equal(found.test[0], np.stack([images] * 3, -1))
    assert found.test[1].tolist() == labels.tolist()


def test_damaged_mnist_is_refused(tmp_path):
    write_mnist(tmp_path, False)
    path = tmp_path / "t10k-images-idx3-ubyte"
    whole = path.read_bytes()
    for damaged, said in (
        (whole[:-1], "its header says"),
        (whole + b"0", "its header says"),
        (b"\x00" + whole[:3], "no IDX file"),
        (b"PK" + whole[2:], "no IDX file"),
        (whole[:4] + b"\xff" * 12 + whole[16:], "at most"),
    ):
        path.write_bytes(damaged)
        with pytest.raises(facebench.Error, match=said):
            small_images.read_mnist(tmp_path)
    path.unlink()
    with pytest.raises(facebench.Error, match="t10k-images-idx3-ubyte: not found"):
        small_images.read_mnist(tmp_path)


def test_cifar10_is_read_from_its_binary_version(tmp_path):
    folder = tmp_path / "cifar-10-batches-bin"
    folder.mkdir()
    random = np.random.default_rng(0)
    for name in [*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"]:
        records = random.integers(0, 256, (2, 3073), np.uint8)
        records[:, 0] %= 10
        (folder / name).write_bytes(records.tobytes())
    found = small_images.read_small_images("cifar10", tmp_path)
    assert found.train[0].shape == (10, 32, 32, 3)
    # Planes of red, green and blue: pixel (row 1, column 2), green.
    assert found.test[0][1, 1, 2, 1] == records[1, 1 + 1024 + 32 + 2]
    assert found.test[1].tolist() == records[:, 0].tolist()
    (folder / "test_batch.bin").write_bytes(records.tobytes()[:-1])
    with pytest.raises(facebench.Error, match="whole records"):
        small_images.read_cifar10(tmp_path)
    records[1, 0] = 10
    (folder / "test_batch.bin").write_bytes(records.tobytes())
    with pytest.raises(facebench.Error, match="record 1 has the label 10"):
        small_images.read_cifar10(tmp_path)


def test_drawn_images_are_the_same_each_time():
    a, b = (small_images.draw_images(28, 50, 20, gray=True) for _ in range(2))
    assert np.array_equal(a.train[0], b.train[0]) and np.array_equal(a.test[1], b.test[1])
    assert (a.train[0][..., 0] == a.train[0][..., 2]).all()
    assert not np.array_equal(a.train[0][:20], a.test[0])


# --- trainings ------------------------------------------------------------------------------------


def test_classes_are_the_networks_own(tmp_path):
    """The network with its classifier and the same weights says the same; scikit-learn counts."""
    metrics = pytest.importorskip("sklearn.metrics")
    import torch
    from facebench import io, nn

    data = small_images.draw_images(28, 200, 100, gray=True)
    recipe = training.load_recipe("lenet5.caffe", iterations=30, **{"training__batch": 20})
    training.train(recipe, data.train, tmp_path / "run", threads=1)
    predicted = sweep_training.classify(tmp_path / "run", data.test[0])
    state, _ = io.read_safetensors(max((tmp_path / "run/checkpoints").glob("*.safetensors")))
    network = nn.build_network("lenet5", channels=1, classes=10)
    network.load_state_dict(
        {
            k.removeprefix("network."): torch.from_numpy(v)
            for k, v in state.items()
            if "network." in k and not k.startswith("momentum")
        }
        | {f"ip2.{k}": torch.from_numpy(state[f"head.{k}"]) for k in ("weight", "bias")}
    )
    x = torch.from_numpy(data.test[0][..., 0].astype(np.float32))[:, None] / 256
    assert np.array_equal(network.infer(x, "logits").argmax(1).numpy(), predicted)
    table = sweep_training.confusion_matrix(data.test[1], predicted, 10)
    wanted = metrics.confusion_matrix(data.test[1], predicted, labels=range(10))
    assert np.array_equal(table, wanted)
    assert np.trace(table) > 50  # of 100; chance is 10


def test_a_sweep_keeps_what_is_there(tmp_path, monkeypatch):
    asked = study([{"training.iterations": 3}, {"training.iterations": 6, "threads": 1}])
    options = {"work": tmp_path / "work", "train": 100, "test": 50}
    result = studies.bench_sweep(asked, **options)
    assert [r["iterations"] for r in result["rows"]] == [3, 6]
    assert all(np.sum(r["confusion"]) == 50 and r["peak_bytes"] > 1e7 for r in result["rows"])
    assert result["options"]["synthetic"]
    answers = sorted(Path(options["work"]).glob("*[0-9a-f].json"))
    answers = [a for a in answers if "request" not in a.name]
    assert len(answers) == 2
    marked = json.loads(answers[0].read_text()) | {"accuracy": 0.125}
    answers[0].write_text(json.dumps(marked))
    monkeypatch.setattr("subprocess.run", lambda *a, **k: pytest.fail("trained again"))
    again = studies.bench_sweep(asked, **options)
    assert 0.125 in [r["accuracy"]["mean"] for r in again["rows"]]
    folder = timing.write_bench(result, tmp_path / "report")
    page = (folder / "report.html").read_text()
    assert "Drawn images" in page and "Confusion matrix" in page


def test_a_training_that_diverges_is_a_row(tmp_path):
    points = [{"optimizer.lr": 0.01}, {"optimizer.lr": 1000}]
    asked = study(points, settings=QUICK | {"training.iterations": 12})
    result = studies.bench_sweep(asked, work=tmp_path / "work", train=100, test=50)
    assert [r["status"] for r in result["rows"]] == ["ok", "diverged"]
    assert "not finite" in result["rows"][1]["message"]
    page = (timing.write_bench(result, tmp_path / "report") / "report.html").read_text()
    assert "diverged, 1 of 1: " in page


def test_wrong_settings_are_refused_before_anything_is_trained(tmp_path):
    wrong = study([{"training.iterations": 3}, {"training.batsh": 6}])
    with pytest.raises(ValueError, match="batch"):
        studies.bench_sweep(wrong, work=tmp_path / "work")
    assert not (tmp_path / "work").exists()
