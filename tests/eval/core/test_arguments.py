"""Wrong arguments: one sentence of bounded length, that never prints what was given."""

import importlib
import inspect
import pathlib
import pickle

import facebench
import numpy as np
import pytest
from facebench import _eval, _torch, io, metrics
from facebench.core import _arguments

MODULES = [name for name in facebench._MODULES if name != "timing"]
# Right arguments of some functions are among the wrong ones of others: these would begin to work.
LONG_WORK = {"demo", "force_isa", "confine_readers"}
SECRET = "secret-value"
WRONG = [
    None,
    [None, SECRET],
    [SECRET * 10] * 40,
    np.full(2000, 7.125),
    list(range(2000)),
    {SECRET: SECRET},
    object(),
    -1.5,
    SECRET * 2000,
    b"\xff" * 5000,
]


def public():
    """Every public function and class of the package, and every method of a bound class."""
    for module in map(importlib.import_module, (f"facebench.{m}" for m in MODULES)):
        for name in module.__all__:
            thing = getattr(module, name)
            if name in LONG_WORK or not callable(thing):
                continue
            yield f"{module.__name__}.{name}", thing
            if inspect.isclass(thing) and hasattr(thing, "fields"):
                yield (
                    f"{module.__name__}.{name} option",
                    lambda *v, t=thing: [t(**{field["name"]: v[0]}) for field in t.fields()],
                )


def message_lengths(wrong):
    """Of each public function: the length of the longest message that the wrong value causes."""
    lengths = {}
    for name, function in public():
        for count in (1, 2, 3, 4, 5):
            try:
                function(*[wrong] * count)
            except OSError as error:  # Python's own, with the path that was given
                lengths[name] = len(error.strerror)
            except Exception as error:
                lengths[name] = max(lengths.get(name, 0), len(str(error)))
    return lengths


@pytest.mark.parametrize("wrong", WRONG, ids=lambda w: type(w).__name__)
def test_every_public_function_answers_wrong_arguments_in_a_sentence(wrong, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lengths = message_lengths(wrong)
    assert len(lengths) > 100
    assert {k: n for k, n in lengths.items() if n > _arguments.LONGEST} == {}


def test_the_sentence_names_argument_wanted_and_given():
    said = {}
    values, names = np.ones((2, 3), np.float32), ["a", "b"]
    for key, call in {
        "swapped": lambda: io.EmbeddingSet(names, values),
        "none": lambda: io.EmbeddingSet(values, ["a", None]),
        "path": lambda: facebench.core.closest_name(pathlib.Path("a"), ["b"]),
        "word": lambda: metrics.wilson("three", 4),
        "overloads": lambda: metrics.tar_at_far([1.0], [1], far="tenth"),
        "missing": lambda: metrics.wilson(1),
        "unknown": lambda: metrics.wilson(1, 2, lavel=0.5),
        "range": lambda: metrics.wilson(2**70, 2),
        "array": lambda: metrics.wilson(np.ones(2, int), 2),
        "length": lambda: facebench.detection.Face([0, 0, 1]),
        "landmarks": lambda: facebench.detection.Face([0, 0, 1, 1], landmarks=[[0, 0, 0]] * 5),
        "coordinate": lambda: facebench.detection.Face([0, 0, 1, "1"]),
        "nul": lambda: facebench.detection.list_image_files(["a\0b"]),
    }.items():
        with pytest.raises((TypeError, ValueError)) as caught:
            call()
        said[key] = str(caught.value)
    assert said == {
        "swapped": "EmbeddingSet(): names[0] must be text, not an array (3,) of float32",
        "none": "EmbeddingSet(): names[1] must be text, not None",
        "path": "closest_name(): name must be text, not PosixPath",
        "word": "wilson(): k must be a whole number, not str",
        "overloads": "tar_at_far(): far must be a number, not str",
        "missing": "wilson(): missing a required argument: 'n'; it takes (k, n, level)",
        "unknown": "wilson(): got an unexpected keyword argument 'lavel'; it takes (k, n, level)",
        "range": "wilson(): k or n is out of the range of its type",
        "array": "wilson(): k must be a whole number, not an array (2,) of int64",
        "length": "Face(): box must have 4 entries, not 3",
        "landmarks": "Face(): landmarks[0] must have 2 entries, not 3",
        "coordinate": "Face(): box[3] must be a number, not str",
        "nul": "list_image_files(): paths holds a character that no name may hold: NUL, or half of "
        "one",
    }


def test_compiled_functions_are_found_by_pickle_and_keep_their_texts():
    assert pickle.loads(pickle.dumps(metrics.auc)) is metrics.auc
    assert metrics.auc.__doc__ and metrics.auc.__name__ == "auc"


def test_what_was_not_made_can_be_shown():
    """The variables of a traceback, as test runners and debuggers print them: to print what an
    `__init__` that failed had left read memory that nobody wrote, and could end the process."""
    with pytest.raises(IndexError) as caught:
        io.EmbeddingSet([[1.0], [2.0]], ["a", "b"], [0, 7])
    frame = caught.tb
    while frame:
        assert not any(
            isinstance(value, io.EmbeddingSet)
            for held in frame.tb_frame.f_locals.values()
            for value in (held if isinstance(held, tuple) else (held,))
        )
        frame = frame.tb_next
    for kind in (io.EmbeddingSet, metrics.Comparisons, metrics.Interval, _eval.RocCurve):
        assert repr(kind.__new__(kind)) == f"<{kind.__name__}, not constructed>"
    for module in (_eval, _torch.full):
        for name, kind in vars(module).items():
            if isinstance(kind, type) and not issubclass(kind, (Exception, type)):
                left = kind.__new__(kind)
                assert repr(left) == f"<{name}, not constructed>" or " object at 0x" in repr(left)
    made = metrics.wilson(1, 2)
    assert repr(pickle.loads(pickle.dumps(made))) == repr(made)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol_of_pickle(protocol):
    """The two oldest ended the process."""
    made = metrics.wilson(1, 2)
    assert repr(pickle.loads(pickle.dumps(made, protocol))) == repr(made)
    status = io.SampleStatus.no_face
    assert pickle.loads(pickle.dumps(status, protocol)) == status
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(io.EmbeddingSet([[1.0]], ["a"]), protocol)


def test_what_was_not_made_cannot_be_used():
    """Memory that nobody wrote was read as the object: `len()` of a pack ended the process."""
    used = 0
    for module in (_eval, _torch.full):
        for kind in [k for k in vars(module).values() if isinstance(k, type)]:
            left = kind.__new__(kind)
            if issubclass(kind, Exception) or _eval._constructed(left):
                continue
            for name in {n for n in dir(kind) if type(vars(kind).get(n)) is property}:
                with pytest.raises(TypeError, match="not constructed"):
                    getattr(left, name)
                used += 1
            if hasattr(kind, "__len__"):
                with pytest.raises(TypeError, match="not constructed"):
                    len(left)
    assert used > 300
    with pytest.raises(TypeError, match="not constructed"):
        metrics.roc(metrics.Comparisons.__new__(metrics.Comparisons))


def test_detectors_and_files_show_themselves(tmp_path):
    """repr() of a detector was an AttributeError, in a session of Python as in a traceback."""
    assert repr(facebench.detection.make_detector("hog")) == "Detector(hog)"
    (tmp_path / "a.png").write_bytes(facebench.images.encode_png(np.zeros((2, 2, 3), np.uint8)))
    assert repr(facebench.detection.list_image_files(tmp_path)[0]) == "[ImageFile(a.png)]"


@pytest.mark.parametrize("name", [b"\xff", "a\0b"])
def test_names_that_are_no_text_are_quoted_whole(name):
    """Bytes gave a UnicodeDecodeError in place of the message, a NUL was its end."""
    with pytest.raises(ValueError, match=r"unknown network '(\\xff|a\\x00b)'.*known: alexnet_v1"):
        facebench.nn.build_graph(name)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("qualities", lambda values: facebench.quality("", qualities=values)),
        ("column", lambda values: facebench.quality("", column=values)),
        ("stated", lambda values: facebench.claims.against("", stated=values)),
        ("options", lambda values: facebench.claims.check_claim("1", "lfw", options=values)),
        ("root", lambda values: facebench.protocols.read_trials("lfw", values)),
        ("lists", lambda values: facebench.protocols.check_data("lfw", lists=values)),
        ("network_options", lambda values: facebench.timing.bench_step(network_options=values)),
    ],
)
def test_an_array_where_nothing_is_the_default(name, call):
    """What is true of an array or an empty one was asked: an error that named no argument."""
    for values in (np.arange(4), np.zeros(0)):
        with pytest.raises(TypeError, match=rf"\b{name}\b"):
            call(values)


@pytest.mark.parametrize(
    "call",
    [
        lambda path: facebench.convert(path, network="small4"),
        lambda path: facebench.explain(path, path),
        lambda path: facebench.inspect(path, out="x.html"),
        lambda path: facebench.diagnose(path, "lfw", root=path),
        lambda path: facebench.reports.training_rows(path),
        lambda path: io.read_embeddings(f"{path}.npy"),
    ],
)
def test_a_name_that_no_file_system_takes(call):
    """Python's Path.is_file() raises an OSError then."""
    with pytest.raises((facebench.Error, ValueError)):
        call("x" * 70_000)


def test_values_that_are_looked_at_late():
    """Each was a RuntimeError or an AttributeError that named no argument."""
    network = facebench.nn.build_network("small4", classes=3)
    head = object()
    for call, said in {
        lambda: network.to("cpu", 3): "dtype must be a torch.dtype, not int",
        lambda: network.to(3): "device must be text or a torch.device, not int",
        lambda: facebench.nn.NetworkModule(
            None
        ): "network must be a facebench.nn.Network, not None",
        lambda: facebench.nn.export_onnx(3, "x.onnx"): "network must be a facebench.nn.Network",
        lambda: facebench.nn.export_onnx(network, "x", metadata=[1]): "metadata: expected dict",
        lambda: facebench.training.head_memory(head, 8): "head must be one of facebench.losses",
        lambda: facebench.training.validation(
            "lfw", 3
        ): "images must be a pack, its path, or a pair",
        lambda: facebench.timing.bench_layers("small4", threads=True): "threads must be a number",
        lambda: facebench.detection.description("mtcnn"): "detector must be a Detector, not str",
        lambda: facebench.detection.detect(
            np.zeros((9, 9, 3), np.uint8), detector=3
        ): "its name, a Detector or a callable",
        lambda: facebench.embedding.export_onnx(3, "x"): "model must be a Model or",
        lambda: facebench.losses.make_head("arcface", features=8, classes=3, s="\udcff"): "UTF-8",
    }.items():
        with pytest.raises((TypeError, ValueError), match=said):
            call()
    for option in ({}, [None], object()):
        with pytest.raises(ValueError, match="option min_face cannot be"):
            facebench.detection.make_detector("mtcnn", min_face=option)
    endless = []
    endless.append(endless)
    with pytest.raises(ValueError, match="a list that holds itself"):
        facebench.training.load_recipe("demo", epochs=endless)


def test_an_array_where_a_word_a_switch_or_a_list_is_wanted(tmp_path):
    """Whether one is true numpy refuses to say, in words that name no argument; and one number that
    is shown as ten thousand million was walked, to be printed by the binding library."""
    (tmp_path / "pairs.txt").write_text("2\t1\nA\t1\t2\nA\t1\tB\t1\nC\t1\t2\nC\t1\tD\t1\n")
    result = facebench.evaluate("lfw", scores=[1, 0, 1, 0], root=tmp_path, interval="none")
    faces, array = np.zeros((1, 8, 8, 3), np.uint8), np.zeros(0)
    shown = np.broadcast_to(np.float32(1), (100_000, 100_000))
    for name, call in {
        "shard": lambda: facebench.embedding.extract(len, faces, shard=array),
        "format": lambda: facebench.detection.detect_to_file([], "x.csv", "hog", format=array),
        "strict": lambda: facebench.protocols.read_trials("lfw", tmp_path, strict=array),
        "distance": lambda: facebench.evaluate("lfw", scores=[1, 0], distance=array),
        "bands": lambda: facebench.plots.plot_roc(result, bands=array),
        "resolve": lambda: facebench.explain("a", "b", resolve=array),
        "nearest": lambda: facebench.claims.against([], nearest=array),
        "drop": lambda: facebench.embedding.convert("w.pth", network="small4", drop=array),
        "subtitle": lambda: facebench.reports.write_html("x.html", "", [], subtitle=array),
        "license": lambda: facebench.datasets.write_croissant("p.h5", tmp_path, license=array),
        "network": lambda: facebench.embedding.convert("w.pth", network=array),
        "baseline": lambda: facebench.reports.system_table([], baseline=array),
        "limit": lambda: facebench.datasets.describe(tmp_path, limit=array),
        "detector": lambda: facebench.compare("a", "b", model=len, detector=array),
        "crop_size": lambda: facebench.compare("a", "b", model=len, crop_size=array),
        "faces": lambda: facebench.detection.select_face(shown, 8, 8),
    }.items():
        with pytest.raises(TypeError, match=f"^{name}: expected .* found an array"):
            call()
    with pytest.raises(TypeError, match=r"^format: expected str, found an array"):
        facebench.report([], format=array)


def test_a_folder_of_photographs_says_how_far_it_is(tmp_path):
    """`progress` was not passed on."""
    for name in ("a.png", "b.png"):
        image = np.zeros((40, 40, 3), np.uint8)
        (tmp_path / name).write_bytes(facebench.images.encode_png(image))
    seen = []
    facebench.embed(
        lambda images: np.zeros((len(images), 2), np.float32),
        tmp_path,
        progress=lambda stage, done, total, unit: seen.append((stage, done, total, unit)),
    )
    assert seen == [("embed", k, 2, "images") for k in range(3)]


def test_an_empty_file_of_weights(tmp_path):
    """torch says nothing about it."""
    (tmp_path / "w.pth").write_bytes(b"")
    with pytest.raises(facebench.Error, match=r"w\.pth: is an empty file"):
        facebench.convert(tmp_path / "w.pth", network="small4")


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning")
def test_tensors_of_every_kind():
    """numpy refuses many of them, in torch's words."""
    torch = pytest.importorskip("torch")
    names = ["a", "b"]
    plain = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    for same in (
        torch.tensor(plain, requires_grad=True),
        torch.tensor(plain, dtype=torch.bfloat16),
        torch.complex(torch.zeros(2, 2), torch.tensor(-plain)).conj().imag,
    ):
        np.testing.assert_array_equal(io.EmbeddingSet(same, names).values, plain)
    image = torch.zeros(3, 4, 5, dtype=torch.uint8)
    for word, kind in {
        "device meta": lambda t: t.to("meta"),
        "sparse": lambda t: t.to_sparse(),
        "nested": lambda t: torch.nested.nested_tensor([t, t]),
    }.items():
        with pytest.raises(TypeError, match=rf"^embeddings must be a dense tensor.*{word}"):
            io.EmbeddingSet(kind(torch.tensor(plain)), names)
        with pytest.raises(TypeError, match=rf"^an image must be a dense tensor.*{word}"):
            facebench.images.pixels(kind(image))


def test_masked_pixels_are_refused():
    with pytest.raises(ValueError, match="masked entries"):
        facebench.images.pixels(np.ma.masked_all((4, 5, 3), np.uint8))


def test_options_of_numbers_in_any_array():
    """Long doubles and tensors were taken for True."""
    torch = pytest.importorskip("torch")
    for given in (np.array([1.5], np.longdouble), torch.tensor([1.5], requires_grad=True)):
        assert list(facebench.embedding.ModelOptions(mean=given).mean) == [1.5]


@pytest.mark.parametrize("other", [None, 3, "text"])
def test_methods_of_another_object_are_refused(other):
    """None in the place of the object was a null pointer."""
    for method in (facebench.metrics.Interval.to_dict, facebench._eval.RocCurve.__len__):
        with pytest.raises(TypeError):
            method(other)


@pytest.mark.parametrize("value", [2**63, 10**30, -(2**63) - 1])
def test_whole_numbers_that_no_option_holds(value):
    """2**63 was taken for True."""
    with pytest.raises(ValueError, match=r"option 'replicates': -?[0-9]+ is too (large|small)"):
        facebench.protocols.EvaluationOptions(replicates=value)
