"""A target for the reader of ONNX files, which is Python: inputs that reach new lines or branches
of it are changed further.

    PYTHONPATH=build/python python tests/fuzz/onnx_reader.py SECONDS [FOUND]

Prints executions and the lines reached; an input that ends in something else than facebench.Error
is written into FOUND (default: build-fuzz/found). Its test,
tests/vision/embedding/test_onnx_reader.py, runs the seeds.
"""

import random
import struct
import sys
import tempfile
import time
import traceback
from pathlib import Path

from facebench._onnx import bounds
from facebench._onnx import file as onnx_file
from facebench.core import Error
from facebench.embedding import (
    _onnx_arranging,
    _onnx_beginning,
    _onnx_graph,
    _onnx_import,
    _onnx_operations,
)

SEEDS = Path(__file__).parent / "seeds/onnx"
LARGEST = 1 << 16
# Numbers that lengths, shapes and attributes have at their bounds.
NUMBERS = [0, 1, 2, 3, 7, 127, 128, 1 << 16, (1 << 31) - 1, 1 << 31, 1 << 40, (1 << 64) - 1]


def read(data: bytes, path: Path) -> bool:
    """Whether the reader accepts the file; whatever else than Error comes out is a finding."""
    path.write_bytes(data)
    try:
        onnx_file.hashes_beside(path)
        bounds.check_bounds(path)
        _cut(path)
        found = _onnx_import.read(path, height=8, width=8)
        _ = found.metadata, found.input_type, found.batch  # what convert asks of it
    except Error as e:
        length = len(str(e).replace(str(path), ""))
        if length > 450:
            raise RuntimeError(f"a message of {length} characters beside the path") from e
        return False
    except ValueError as e:
        if "takes images of" not in str(e):  # height and width are the caller's
            raise
        return False
    return True


def _cut(path: Path):
    """What stands before the first layer; that is then run by onnxruntime, as the file would be."""
    graph, tensors = onnx_file.outline(path)
    _onnx_beginning.cut(path, graph, graph.nodes, tensors)


def varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def field(number: int, value) -> bytes:
    """A field of a protobuf message: a whole number, a float, text or bytes."""
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value & (1 << 64) - 1)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def parts(data: bytes) -> list:
    """The fields of a message, [number, value] each, where they are messages again; else none."""
    found = []
    try:
        for number, wire, value in onnx_file._fields(memoryview(data)):
            if wire == 5:
                value = struct.unpack("<f", value)[0]
            elif wire == 1:
                return []
            found.append([number, value if isinstance(value, int | float) else bytes(value)])
    except onnx_file.Malformed:
        return []
    return found


def changed(data: bytes, rng: random.Random, depth: int = 0) -> bytes:
    """A field, at any depth, with another value, twice, gone or elsewhere; or bytes changed."""
    fields = parts(data)
    if not fields or rng.random() < 0.1:
        return changed_bytes(data, rng)
    at = rng.randrange(len(fields))
    number, value = fields[at]
    if isinstance(value, bytes) and depth < 6 and rng.random() < 0.75:
        fields[at][1] = changed(value, rng, depth + 1)
    else:
        kind = rng.randrange(5)
        if kind == 0:
            del fields[at]
        elif kind == 1:
            fields.insert(rng.randrange(len(fields) + 1), [number, value])
        elif kind == 2:
            fields[at][0] = rng.randrange(16)
        elif kind == 3 or isinstance(value, bytes):
            other = rng.choice(fields)[1]
            fields[at][1] = other if rng.random() < 0.5 else changed_bytes(data, rng)
        else:
            fields[at][1] = rng.choice(NUMBERS) if isinstance(value, int) else rng.gauss(0, 1e9)
    return b"".join(field(*f) for f in fields)


def changed_bytes(data: bytes, rng: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(out) + 1)
        kind = rng.randrange(3)
        if kind == 0 and at < len(out):
            out[at] = rng.randrange(256)
        elif kind == 1:
            out[at:at] = varint(rng.choice(NUMBERS))
        else:
            del out[at : at + rng.randint(1, 4)]
    return bytes(out)


class Coverage:
    """Lines of the modules, and whether the last call reached new ones."""

    reading = (onnx_file, _onnx_beginning, _onnx_import)
    growing = (_onnx_graph, _onnx_arranging, _onnx_operations)
    files = tuple(module.__file__ for module in (*reading, *growing))

    def __init__(self):
        self.lines: set = set()

    def __enter__(self):
        self.before = len(self.lines)
        sys.settrace(self.call)
        return self

    def __exit__(self, *_):
        sys.settrace(None)
        self.new = len(self.lines) > self.before

    def call(self, frame, event, argument):
        if frame.f_code.co_filename not in self.files:
            return None
        last = [0]

        def line(frame, event, argument):
            if event == "line":  # an edge: which line came before
                self.lines.add((frame.f_code.co_filename, last[0], frame.f_lineno))
                last[0] = frame.f_lineno
            return line

        return line

    def shares(self) -> dict:
        """File -> share of the lines of its functions that were reached."""
        result = {}
        for file in self.files:
            code = compile(Path(file).read_text(), file, "exec")
            inside = set()
            for function in functions_of(code):
                inside |= {n for _, _, n in function.co_lines() if n} - {function.co_firstlineno}
            reached = {n for name, _, n in self.lines if name == file}
            result[Path(file).name] = (len(inside & reached), len(inside), inside - reached)
        return result


def functions_of(code):
    for constant in code.co_consts:
        if hasattr(constant, "co_lines"):
            if constant.co_flags & 2:  # with local variables: a function, not the body of a class
                yield constant
            yield from functions_of(constant)


def main():
    seconds = float(sys.argv[1])
    found = Path(sys.argv[2] if len(sys.argv) > 2 else "build-fuzz/found")
    found.mkdir(parents=True, exist_ok=True)
    corpus = [p.read_bytes() for p in sorted(SEEDS.iterdir())]
    rng, coverage = random.Random(1), Coverage()
    path = Path(tempfile.mkdtemp()) / "m.onnx"
    for data in corpus:
        with coverage:
            read(data, path)
    executions = findings = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        data = rng.choice(corpus)
        for _ in range(rng.choice((1, 1, 2, 4))):
            data = changed(data, rng)
        executions += 1
        try:
            with coverage:
                read(data[:LARGEST], path)
        except Exception:
            findings += 1
            (found / f"onnx-{findings}").write_bytes(data)
            traceback.print_exc(limit=-2)
        if coverage.new:
            corpus.append(data[:LARGEST])
    for name, (reached, all_lines, missed) in coverage.shares().items():
        print(f"{name}: {reached} of {all_lines} lines; not {sorted(missed)}")
    print(f"onnx: {executions} executions, corpus {len(corpus)}, findings {findings}")
    for k, data in enumerate(corpus):
        (found.parent / "corpus/onnx").mkdir(parents=True, exist_ok=True)
        (found.parent / f"corpus/onnx/{k:05}").write_bytes(data)
    return findings > 0


if __name__ == "__main__":
    sys.exit(main())
