"""Why two runs differ."""

import os

from facebench import _eval
from facebench._fields import Fields
from facebench.reports.runs import read_run


class Explanation(Fields):
    """Why two runs differ. Its fields are those of :meth:`to_dict`.

    ``cause``: "data", "images", "model", "convention", "chance", or "same" where all numbers are
    equal. ``differences``: what the runs recorded differently, in that order, each with evidence
    and whether it ``matters``. ``warnings``: what each run warns of, for example of a model whose
    pixels were assumed. ``numbers``: each number under both runs' rules, with the paired
    difference and its own cause.
    """

    def __init__(self, text, fields):
        super().__init__(fields)
        self._text = text

    def __getitem__(self, metric):
        """The number of that metric: of the first track that has it."""
        for number in self.numbers:
            if number["metric"] == metric:
                return number
        known = ", ".join(dict.fromkeys(n["metric"] for n in self.numbers))
        raise KeyError(f"{metric!r}; there are: {known}")

    def __repr__(self):
        return self._text.rstrip()

    def _repr_markdown_(self):
        return self._text


def explain(a, b, *, replicates=1000, level=0.95, seed=0, threads=0, progress=None):
    """Why the numbers of two run folders differ: data, images, model, convention or chance.

    Compares what the runs recorded and what their ``scores.h5`` hold, computes both numbers under
    both conventions, and, where both hold the same comparisons, gives the difference an interval
    and a p-value (``replicates``, ``level`` and ``seed`` of the bootstrap). Returns an
    :class:`Explanation`, which shows itself as a text.

    >>> import pathlib, tempfile, facebench
    >>> from facebench import explain
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> text = "2\\t1\\nAnn\\t1\\t2\\nAnn\\t1\\tBob\\t1\\nCat\\t1\\t2\\nCat\\t1\\tDan\\t1\\n"
    >>> _ = (folder / "pairs.txt").write_text(text)
    >>> for name, last in (("a", 0.2), ("b", 0.95)):
    ...     scores = [0.9, 0.1, 0.8, last]
    ...     _ = facebench.evaluate("lfw", scores=scores, root=folder, out=folder / name)
    >>> explanation = explain(folder / "a", folder / "b", replicates=50)
    >>> explanation["auc"]["a"], explanation["auc"]["b"]
    (1.0, 0.5)
    """
    options = _eval.BootstrapOptions(replicates=replicates, level=level, seed=seed)
    text, fields = _eval.explain(os.fspath(a), os.fspath(b), options, threads, progress)
    fields["warnings"] = {
        side: read_run(run)["content"].get("warnings", []) for side, run in (("a", a), ("b", b))
    }
    marked = [f"- {side}: {w}" for side, said in fields["warnings"].items() for w in said]
    if marked:
        text = "\n".join([text.rstrip(), "", "## Warnings of the runs", "", *marked, ""])
    return Explanation(text, fields)
