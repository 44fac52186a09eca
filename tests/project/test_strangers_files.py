"""More ways of a stranger's run folder: the kinds of its files, what its HDF5 files point at, and
what its texts hold. `verify --again`, `report` and `check` read it as data: nothing outside of it
is read into an answer, written or waited for."""

import os
import shutil
import signal

import facebench
import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("facebench._full")
h5py = pytest.importorskip("h5py")
from strangers import make, watched  # noqa: E402

pytestmark = pytest.mark.usefixtures("forged")

SECRET = "nobody may read this"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make(tmp_path_factory.mktemp("made"))


@pytest.fixture
def place(made, tmp_path, monkeypatch):
    with watched(made, tmp_path, monkeypatch) as there:
        yield there


@pytest.fixture(autouse=True)
def in_time():
    """A pipe or a device that is waited for is an error, not a hang."""

    def late(number, frame):
        raise TimeoutError("something was waited for")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(120)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def in_h5(file, name, make):
    """`make(h5, name)` writes something in place of a data set."""

    def alter(p):
        (p.home / "secret.bin").write_bytes(SECRET.encode() * 100)
        with h5py.File(p.home / "secret.h5", "w") as h5:
            h5["x"] = np.frombuffer(SECRET.encode() * 100, np.uint8)
            h5.create_dataset("texts", data=[SECRET] * 100, dtype=h5py.string_dtype())
        with h5py.File(p.run / file, "r+") as h5:
            del h5[name]
            make(p, h5, name)

    return alter


def external(path):
    return lambda p, h5, name: h5.__setitem__(name, h5py.ExternalLink(path(p), "/texts"))


def virtual(p, h5, name):
    layout = h5py.VirtualLayout((80,), h5py.string_dtype())
    layout[:] = h5py.VirtualSource(str(p.home / "secret.h5"), "texts", (100,))[:80]
    h5.create_virtual_dataset(name, layout)


def raw(p, h5, name):
    h5.create_dataset(name, (80, 8), np.float32, external=[(str(p.home / "secret.bin"), 0, 2560)])


def filtered(p, h5, name):
    """A filter that HDF5 would look for as a plugin."""
    space = h5py.h5s.create_simple((80, 8))
    how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    how.set_chunk((80, 8))
    how.set_filter(32015, h5py.h5z.FLAG_OPTIONAL, (1,))
    h5py.h5d.create(h5.id, name.encode(), h5py.h5t.IEEE_F32LE, space, how)


def instead(file, make):
    """Another kind of file of that name."""

    def alter(p):
        path = p.run / file
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        make(p, path)

    return alter


def hard(p, path):
    (p.home / "secret.txt").write_text(SECRET)
    os.link(p.home / "secret.txt", path)


def to_secret(p, path):
    (p.home / "secret.txt").write_text(SECRET)
    path.symlink_to(p.home / "secret.txt")


def content(**fields):
    return lambda p: p.change(lambda r: r["content"].update(fields))


def circumstance(**fields):
    return lambda p: p.change(lambda r: r["circumstance"].update(fields))


def deep(p):
    (p.run / "run.json").write_text('{"content": ' + "[" * 200_000 + "]" * 200_000 + "}")


def card(p):
    (p.run / "card.md").write_text(
        "---\nmodel-index: !!python/object/apply:os.system ['touch ran']\n---\n"
    )


def plugin(p):
    """What HDF5, Python and the loader look for beside the file."""
    for name in ("libh5bz2.so", "sitecustomize.py", "conftest.py", ".env", "facebench.toml"):
        (p.run / name).write_text(f"open({str(p.ran)!r}, 'w').close()\n")


def options(**fields):
    return lambda p: p.change(lambda r: r["content"]["options"].update(fields))


WAYS = {
    **{
        f"a pipe as {f}": instead(f, lambda p, path: os.mkfifo(path))
        for f in ("run.json", "report.md", "scores.h5", "pack.h5")
    },
    **{f"a link to a secret as {f}": instead(f, to_secret) for f in ("run.json", "card.md")},
    **{f"a hard link as {f}": instead(f, hard) for f in ("metrics.json", "embeddings.h5")},
    **{
        f"a link to {target} as {f}": instead(f, lambda p, path, to=target: path.symlink_to(to))
        for f, target in (
            ("metrics.json", "/dev/zero"),
            ("report.md", "/proc/self/environ"),
            ("pack.h5", ".."),
        )
    },
    "a folder as report.md": instead("report.md", lambda p, path: path.mkdir()),
    "an external link as names": in_h5(
        "pack.h5", "/name", external(lambda p: str(p.home / "secret.h5"))
    ),
    "an external link upwards": in_h5(
        "scores.h5", "/content", external(lambda p: "../home/secret.h5")
    ),
    "names of a virtual data set": in_h5("embeddings.h5", "/name", virtual),
    "pixels of another file": in_h5("pack.h5", "/images", raw),
    "embeddings of another file": in_h5("embeddings.h5", "/embedding", raw),
    "embeddings behind a plugin": in_h5("embeddings.h5", "/embedding", filtered),
    "a circle of links": in_h5(
        "embeddings.h5", "/embedding", lambda p, h5, n: h5.__setitem__(n, h5py.SoftLink(n))
    ),
    "a billion billion rows": in_h5(
        "embeddings.h5",
        "/embedding",
        lambda p, h5, n: h5.create_dataset(n, (2**60, 8), np.float32, chunks=(1, 8)),
    ),
    "a root that is elsewhere": circumstance(root="/etc"),
    "images in a folder of pipes": circumstance(images="/proc/self/fd"),
    "a command": circumstance(command=["sh", "-c", "touch ran"]),
    "2^63 threads": circumstance(threads=2**63 - 1),
    "a limit of 300 digits": content(limit=10**300),
    "notes of HTML": content(notes=["<script src=http://evil></script>", "](javascript:x)"]),
    "notes of escapes": content(notes=["\x1b]0;evil\x07\x1b[2J", "\u202egnp.exe"]),
    "a billion replicates": options(replicates=10**12),
    "a protocol that is a path": lambda p: p.change(
        lambda r: r["content"]["protocol"].update(id="../../home/secret")
    ),
    "a track above": lambda p: p.change(lambda r: r["content"]["tracks"].update({"../../x": {}})),
    "outputs above": lambda p: p.change(
        lambda r: r["content"]["outputs"].update({"../home/mine.h5": "0" * 64})
    ),
    "a run.json of brackets": deep,
    "a card with tags": card,
    "files that tools look for": plugin,
    "a job and a study": lambda p: (
        (p.run / "job.json").write_text('{"kind": "run", "out": "../home/mine.h5"}'),
        (p.run / "study.json").write_text('{"tables": [{"run": "/etc"}]}'),
    ),
    "a name with line ends": lambda p: (p.run / "x\nsame  y\x1b[2J").write_text("text"),
    "a name of no Unicode": lambda p: open(os.fsencode(p.run) + b"/\xff\xfe.md", "w").close(),
}


def answers(p):
    """What is said of the run folder, and what stands in it afterwards."""
    said = []
    for ask in (
        lambda: facebench.verify(p.run, p.root, again=4),
        lambda: facebench.report(p.run, format="markdown"),
        lambda: facebench.check(p.run, "frte-1-1"),
    ):
        try:
            said.append(str(ask()))
        except (facebench.Error, ValueError) as error:
            said.append(str(error))
    return "\n".join(said)


@pytest.mark.parametrize("name", WAYS)
def test_more_ways_of_a_run_folder(place, name, request):
    if list(WAYS).index(name) % 2:
        request.getfixturevalue("confined")  # every other one with --untrusted
    WAYS[name](place)
    before = place.outside()
    there = set(place.run.rglob("*"))
    said = answers(place)
    assert SECRET not in said and SECRET.encode().hex() not in said
    assert "root:x:0" not in said and "PATH=" not in said
    assert "\x1b" not in said and "<script src" not in said
    assert place.outside() == before
    assert set(place.run.rglob("*")) == there
    for path in list(place.home.iterdir()):  # what the way itself put there
        if path.name.startswith("secret.") and path.name != "secret.jpg":
            path.unlink()
