"""Archives at addresses, by fsspec: its store in memory, and a plain HTTP server with ranges."""

import gzip
import re
import sys
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from archive_files import jpeg, write_tar
from command_line import invoke
from facebench import Error, datasets
from facebench._full import remote_address

fsspec = pytest.importorskip("fsspec")
REGISTRY = sys.modules["fsspec.registry"]._registry  # what was imported already

IMAGES = [jpeg(i) for i in range(6)]
FILES = [(f"p{i // 2}/{i}.jpg", image) for i, image in enumerate(IMAGES)]
EXPECTED = [(f"p{i // 2}", image) for i, image in enumerate(IMAGES)]


def read(path, **options):
    found = datasets.read_archive(path, **options)
    return [(found.label_names[s.label], s.read()) for s in found.samples]


def write_parquet(path, first=0, count=6):
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    rows = [{"bytes": IMAGES[i], "path": None} for i in range(first, first + count)]
    struct = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    people = [f"p{i // 2}" for i in range(first, first + count)]
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"image": pa.array(rows, struct), "label": people}), path)


@pytest.fixture
def files(tmp_path):
    """One archive of each kind, and a folder of tables in the Hub's layout."""
    folder = tmp_path / "files"
    folder.mkdir()
    write_tar(folder / "a.tar", FILES)
    (folder / "a.tar.gz").write_bytes(gzip.compress((folder / "a.tar").read_bytes()))
    with zipfile.ZipFile(folder / "a.zip", "w") as archive:
        for name, data in FILES:
            archive.writestr(name, data)
    write_tar(folder / "s-0.tar", FILES[:4])
    write_tar(folder / "s-1.tar", FILES[4:])
    write_parquet(folder / "a.parquet")
    write_parquet(folder / "hub/data/train-00000-of-00002.parquet", 0, 2)
    write_parquet(folder / "hub/data/train-00001-of-00002.parquet", 2, 2)
    write_parquet(folder / "hub/data/test-00000-of-00001.parquet", 4, 2)
    return folder


class Ranges(BaseHTTPRequestHandler):
    """Files with ranges of bytes, as object stores answer over HTTP."""

    root: Path
    asked: list

    def do_HEAD(self):
        self.answer(body=False)

    def do_GET(self):
        self.answer(body=True)

    def answer(self, body):
        file = self.root / self.path.lstrip("/")
        if not file.is_file():
            self.send_error(404)
            return
        data = file.read_bytes()
        span = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        self.asked.append((file.name, bool(span)))
        first, last = 0, len(data) - 1
        if span:
            first, last = int(span[1]), min(int(span[2] or last), last)
        self.send_response(206 if span else 200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(last + 1 - first))
        if span:
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        self.end_headers()
        if body:
            self.wfile.write(data[first : last + 1])

    def log_message(self, *_):
        pass


@pytest.fixture
def server(files):
    pytest.importorskip("aiohttp", reason="needs aiohttp: pip install 'facebench[remote]'")
    handler = type("Handler", (Ranges,), {"root": files, "asked": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}", handler.asked
        running.shutdown()


@pytest.fixture
def memory(files):
    """The same files in fsspec's store in memory."""
    system = fsspec.filesystem("memory")
    for file in files.rglob("*"):
        if file.is_file():
            system.pipe(f"/b/{file.relative_to(files).as_posix()}", file.read_bytes())
    yield "memory://b"
    system.rm("/b", recursive=True)


ARCHIVES = ["a.tar", "a.tar.gz", "a.zip", "a.parquet"]


@pytest.mark.parametrize("name", [*ARCHIVES, "s-{0..1}.tar"])
def test_in_a_store(memory, files, name):
    assert read(f"{memory}/{name}") == EXPECTED
    here = datasets.read_archive(files / name) if "{" not in name else None
    there = datasets.read_archive(f"{memory}/{name}")
    if here:
        assert [s.id for s in there.samples] == [s.id for s in here.samples]
    assert there.samples[5].where.startswith(f"{memory}/")
    # A path makes one slash of two.
    assert read(Path(f"{memory}/{name}")) == EXPECTED


@pytest.mark.parametrize("name", ARCHIVES)
def test_over_http(server, name):
    address, asked = server
    assert read(f"{address}/{name}") == EXPECTED
    assert {file for file, _ in asked} == {name}
    if name == "a.parquet":
        assert any(ranged for _, ranged in asked)
    with pytest.raises(Error, match=rf"{address}/no-{name}: (is not there|cannot be)"):
        read(f"{address}/no-{name}")


def test_folders_of_tables(memory):
    hub = f"{memory}/hub"
    with pytest.raises(Error, match=r"several splits.*test \(1\), train \(2\)"):
        datasets.read_dataset("parquet", hub)
    for split, expected in {
        "train": EXPECTED[:4],
        "test": EXPECTED[4:],
        "train+test": EXPECTED,
    }.items():
        assert read(hub, format="parquet", split=split) == expected
    assert read(f"{hub}/data/t*-0000*.parquet", split="train") == EXPECTED[:4]
    fsspec.filesystem("memory").rm("/b/hub/data/train-00001-of-00002.parquet")
    with pytest.raises(Error, match="1 of 2 parts are not there: data/train-00001-of-00002"):
        read(hub, format="parquet", split="train")
    with pytest.raises(Error, match=r"no .parquet or .arrow file there"):
        read(f"{memory}/none", format="parquet")


def test_what_is_not_understood_is_one_sentence(memory, monkeypatch):
    for address, wanted in [
        ("s3://b/x.tar", "for 's3://' fsspec needs a package.*pip install s3fs"),
        ("gs://b/x.parquet", "for 'gs://' fsspec needs a package.*pip install gcsfs"),
        ("hf://datasets/a/b/x.tar", "for 'hf://' fsspec needs a package.*huggingface_hub"),
        ("nonsense://b/x.tar", "is not understood by fsspec: Protocol not known: nonsense"),
        (f"{memory}/none.tar", "is not there"),
        (f"{memory}/x.rec", "is not a tar, zip, Parquet or Arrow file"),
        (f"{memory}/faces", "is not a tar, zip, Parquet or Arrow file"),
    ]:
        scheme = address.partition("://")[0]
        if scheme in ("s3", "gs", "hf"):
            with pytest.MonkeyPatch.context() as patch:
                module = {"s3": "s3fs", "gs": "gcsfs", "hf": "huggingface_hub"}[scheme]
                patch.setitem(sys.modules, module, None)
                patch.delitem(REGISTRY, scheme, raising=False)
                with pytest.raises(Error, match=wanted) as error:
                    read(address)
        else:
            with pytest.raises(Error, match=wanted) as error:
                read(address)
        assert str(error.value).startswith(address) and "\n" not in str(error.value)
    with pytest.raises(Error, match=r"is not a folder of this machine\. On object stores"):
        datasets.read_dataset("folder", f"{memory}/faces")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(Error, match=r"'memory://' is read with fsspec, which is not inst"):
        read(f"{memory}/a.tar")


def test_paths_of_this_machine_are_no_addresses(tmp_path, monkeypatch):
    for path in (
        "/data/x.tar",
        "x.tar",
        "a:b/x.tar",
        "c:/x.tar",
        "s3:",
        "S3://b/x",
        "://x",
        "s3://",
    ):
        assert remote_address(path) is None, path
    assert remote_address("s3://b/x.tar") == remote_address("s3:/b/x.tar") == "s3://b/x.tar"
    assert remote_address("simplecache::s3://b/x") == "simplecache::s3://b/x"
    monkeypatch.chdir(tmp_path)
    Path("s3:/b").mkdir(parents=True)
    write_tar(Path("s3:/b/x.tar"), FILES)
    assert remote_address("s3:/b/x.tar") is None
    assert read("s3:/b/x.tar") == EXPECTED


def test_the_commands(server, files, tmp_path):
    address, _ = server
    how = ("--detector", "none", "--crop-size", 16)
    invoke("pack", "tar", "--root", f"{address}/s-{{0..1}}.tar", *how, "--out", tmp_path / "a.h5")
    invoke("pack", "tar", "--root", files / "s-{0..1}.tar", *how, "--out", tmp_path / "b.h5")
    one, other = datasets.Pack(tmp_path / "a.h5"), datasets.Pack(tmp_path / "b.h5")
    assert (one.images[:] == other.images[:]).all() and one.names == other.names
    invoke("data", "convert", f"{address}/a.parquet", "--out", tmp_path / "c.rec")
    assert [image for _, image in read(tmp_path / "c.rec")] == IMAGES
    scanned = invoke("data", "scan", "zip", "--root", f"{address}/a.zip")
    assert "6 images" in scanned.output
