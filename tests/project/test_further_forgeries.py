"""Further forged run folders (tests/support/further_forgeries.py), each against `verify --again`
with the verifier's own data and model."""

import facebench
import pytest

pytest.importorskip("torch")
pytest.importorskip("facebench._full")
pytest.importorskip("h5py")
import further_forgeries

FAST = {
    "a key of the content",
    "a key of the embeddings",
    "a key of the circumstance",
    "anonymous as a word",
    "another kind of score",
    "another hash of images in embeddings",
    "another version in embeddings",
    "faces outside of the image",
    "turned images",
    "a data set more in scores.h5",
    "a track that is not listed",
    "a data set more in pack.h5",
    "a data set more in embeddings.h5",
    "a key in the manifest of scores.h5",
    "a key in the manifest of pack.h5",
    "the counts in pack.h5",
    "the data set of pack.h5",
    "who decided, of words",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return further_forgeries.make(tmp_path_factory.mktemp("further"))


@pytest.mark.parametrize(
    ("run", "verdict"),
    [("run", "same"), ("groups", "same"), ("aligned", "same"), ("hidden", "unchecked")],
)
def test_honest_folders(made, tmp_path, run, verdict):
    """Also where they were sealed by the forger's own code."""
    forger = further_forgeries.Forger(made, tmp_path, run)
    assert forger.verify().verdict == verdict, str(forger.verify())
    forger.seal()
    assert forger.verify().verdict == verdict, str(forger.verify())


def marked(name):
    return pytest.param(name, marks=[] if name in FAST else [pytest.mark.slow])


@pytest.mark.parametrize("name", [marked(name) for name in further_forgeries.FURTHER])
def test_a_forged_folder_is_not_taken_for_honest(made, tmp_path, name, forged):
    expected = further_forgeries.FURTHER[name][2]
    forger = further_forgeries.forge(made, tmp_path, name)
    if expected == "refused":
        with pytest.raises(facebench.Error):
            forger.verify()
        return
    found = forger.verify()
    assert found.verdict == ("same" if expected == "stated" else expected), str(found)
    if expected == "stated":
        honest = further_forgeries.Forger(made, tmp_path / "honest", "run").verify()
        stated = [(n, s) for n, s in found.stated.items() if honest.stated.get(n) != s]
        quoted = "more stated, not checked" in str(found)
        assert stated or quoted, str(found)
