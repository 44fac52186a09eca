"""Threads that call everything at once give the bytes of one."""

import hashlib
import threading

import facebench
import facebench.io as fio
import numpy as np
import pytest
from facebench import claims, metrics, protocols, reports

THREADS, ROUNDS = 6, 2


def digest(*values):
    """One number for arrays, bytes, texts and what else shows itself as text."""
    sha = hashlib.sha256()
    for value in values:
        if isinstance(value, np.ndarray):
            sha.update(str((value.dtype, value.shape)).encode() + value.tobytes())
        else:
            sha.update(value if isinstance(value, bytes) else repr(value).encode())
    return sha.hexdigest()


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """Name -> a call that gives its digest; `place` is a folder of the caller's own."""
    shared = tmp_path_factory.mktemp("shared")
    random = np.random.default_rng(5)
    lines = ["2\t5"]
    for fold in "AB":
        lines += [f"{fold}{k}\t1\t2" for k in range(5)]
        lines += [f"{fold}{k}\t1\t{fold}{k + 5}\t1" for k in range(5)]
    (shared / "pairs.txt").write_text("\n".join(lines) + "\n")
    trials = protocols.read_trials("lfw", shared)
    names = list(trials.names)
    embeddings = random.normal(size=(len(names), 16)).astype(np.float32)
    scores = random.normal(size=2000)
    labels = random.random(2000) < 0.3
    fio.write_embeddings(shared / "e.h5", fio.EmbeddingSet(embeddings, names))

    def evaluate(**how):
        return protocols.evaluate(
            "lfw", embeddings=embeddings, names=names, root=shared, replicates=50, **how
        )

    evaluate().save(shared / "run")

    def run_folder(place):
        evaluate().save(place / "run", overwrite=True)
        return digest(*((place / "run" / n).read_bytes() for n in ("scores.h5", "metrics.json")))

    def written(place):
        fio.write_embeddings(place / "e.h5", fio.EmbeddingSet(embeddings, names))
        return digest((place / "e.h5").read_bytes())

    def roc(place):
        curve = metrics.roc(scores, labels)
        return digest(*(np.asarray(getattr(curve, name)) for name in ("fpr", "tpr")))

    return {
        "roc": roc,
        "auc": lambda _: digest(metrics.auc(scores, labels)),
        "evaluate": lambda _: digest(evaluate().to_dict()),
        "run folder": run_folder,
        "written": written,
        "read": lambda _: digest(np.asarray(fio.read_embeddings(shared / "e.h5").values)),
        "plan": lambda _: digest(str(claims.plan(shared / "run"))),
        "verify": lambda _: digest([c["same"] for c in reports.verify_scores(shared / "run")]),
        "refused": lambda _: digest(refusal(shared)),
    }


def refusal(shared):
    with pytest.raises(facebench.Error) as said:
        fio.read_embeddings(shared / "pairs.txt")
    return str(said.value)


@pytest.fixture(scope="module")
def pictures():
    pytest.importorskip("torch")
    pytest.importorskip("facebench._full")
    from facebench import crops, detection, images

    random = np.random.default_rng(6)
    image = random.integers(0, 256, (80, 90, 3)).astype(np.uint8)
    face = detection.Face([10, 12, 50, 62])
    finder = detection.make_detector("mtcnn")

    def coded(place):
        images.write(place / "x.png", image)
        return digest((place / "x.png").read_bytes(), images.read(place / "x.png"))

    return {
        "coded": coded,
        "resized": lambda _: digest(images.resize(image, 37, 41)),
        "area": lambda _: digest(images.area_mean(image, 20, 21)),
        "cut": lambda _: digest(*crops.crop_face(image, face, "paper")),
        "detected": lambda _: digest(repr(finder.detect(image))),
    }


def at_once(work, tmp_path):
    """Every call on every thread, each thread from another place in the list."""
    alone = tmp_path / "alone"
    alone.mkdir()
    expected = {name: call(alone) for name, call in work.items()}
    wrong, names = [], list(work)
    barrier = threading.Barrier(THREADS)

    def run(number):
        place = tmp_path / str(number)
        place.mkdir()
        barrier.wait()
        for turn in range(ROUNDS * len(names)):
            name = names[(number + turn) % len(names)]
            try:
                if work[name](place) != expected[name]:
                    wrong.append((number, name, "other bytes"))
            except BaseException as e:
                wrong.append((number, name, repr(e)))

    threads = [threading.Thread(target=run, args=(k,)) for k in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong


def test_evaluation_reports_and_files(work, tmp_path):
    assert at_once(work, tmp_path) == []


def test_pictures_detection_and_crops(pictures, tmp_path):
    assert at_once(pictures, tmp_path) == []
