"""Every example of a docstring runs when it is pasted alone: with its imports, and as it says."""

import doctest
import importlib
import inspect
import pkgutil

import facebench
import pytest

# What is not installed everywhere, and the examples that ask for it.
OPTIONAL = ("onnx", "onnxruntime", "mlflow", "tensorboard", "pyarrow")


def modules():
    yield facebench
    for found in pkgutil.walk_packages(facebench.__path__, "facebench."):
        if found.name.rpartition(".")[2].startswith(("_eval", "_full", "__main__")):
            continue  # compiled: what is public of them is in the modules below
        try:
            yield importlib.import_module(found.name)
        except ImportError:  # of an optional library
            continue


def has_weights():
    try:
        return bool(facebench.detection.default_mtcnn_weights())
    except facebench.Error:
        return False


def documented():
    """{name: (docstring, what it may use)}: public things nothing, helpers their own module."""
    found = {}
    finder = doctest.DocTestFinder(exclude_empty=True)
    for module in modules():
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if inspect.ismodule(thing):
                continue
            of_it = {name: thing} | (vars(thing) if inspect.isclass(thing) else {})
            for part, value in of_it.items():
                place = f"{module.__name__}.{name}" + (f".{part}" if part != name else "")
                found[place] = (getattr(value, "__doc__", None), {})
        known = {text for text, _ in found.values()}
        for test in finder.find(module, extraglobs={}):
            if test.docstring not in known:
                own = test.name == module.__name__  # of the module itself, as users see it
                found[test.name] = (test.docstring, {} if own else test.globs)
    return {name: of for name, of in found.items() if of[0] and ">>>" in of[0]}


EXAMPLES = documented()


def test_everything_public_is_documented():
    for module in modules():
        for name in getattr(module, "__all__", ()):
            assert getattr(module, name).__doc__, f"{module.__name__}.{name}"


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_runs_alone(name, tmp_path, monkeypatch):
    text, names = EXAMPLES[name]
    for library in OPTIONAL:
        if library in text:
            pytest.importorskip(library)
    if "mtcnn" in text.lower() and not has_weights():
        pytest.skip("mtcnn.safetensors was not built")
    monkeypatch.chdir(tmp_path)
    said = []
    test = doctest.DocTestParser().get_doctest(text, dict(names), name, None, 0)
    assert not doctest.DocTestRunner().run(test, out=said.append).failed, "".join(said)
