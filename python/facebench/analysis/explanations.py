"""Why two runs differ."""

import os

from facebench import _eval
from facebench.analysis.runs import read_run
from facebench.core._finding import Finding


class Explanation(Finding):
    """Why two runs differ. Its fields are those of :meth:`to_dict`.

    ``cause``: "data", "images", "model", "convention", "undecided" (told from chance by itself, and
    not with all numbers together), "chance", or "same" where all numbers are equal.
    ``differences``: what the runs recorded differently, in that order, each with evidence
    and whether it ``matters``. ``warnings``: what each run warns of, for example of a model whose
    pixels were assumed. ``numbers``: each number under both runs' rules, with the paired
    difference and its own cause. ``together``: the differences of data, images and model, where
    more than one matters: no number tells them apart. ``shares``: after ``resolve`` what each
    factor is of the differences.
    """

    def __getitem__(self, metric):
        """The number of that metric: of the first track that has it."""
        for number in self.numbers:
            if number["metric"] == metric:
                return number
        known = ", ".join(dict.fromkeys(n["metric"] for n in self.numbers))
        raise KeyError(f"{metric!r}; there are: {known}")

    def take_shares(self, middle_runs):
        """Work out ``shares`` of the runs between: a dict for each number with ``track``,
        ``metric``, ``difference``, what of it each of the ``factors`` is when changed alone, and
        what they do ``together`` beyond their sum. ``unmade``: why a factor's run is missing."""
        shares = []
        for n in self.numbers:
            name = n["metric"] + (f"[{n['row']},{n['column']}]" if "row" in n else "")
            a, b = n["a"], n["b_by_a"]
            if a is None or b is None:
                continue
            alone = {m["factor"]: m["numbers"].get((n["track"], name)) for m in middle_runs}
            factors = {f: None if value is None else a - value for f, value in alone.items()}
            values = [value for value in factors.values() if value is not None]
            together = a - b - sum(values) if len(values) == len(factors) else None
            one = {"track": n["track"], "metric": name, "difference": a - b}
            shares.append(one | {"factors": factors, "together": together})
        unmade = {m["factor"]: m["why"] for m in middle_runs if m["why"]}
        self._fields |= {"shares": shares, "unmade": unmade}


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
    fields = _eval.explain(os.fspath(a), os.fspath(b), options, threads, progress)
    fields["warnings"] = {
        side: read_run(run)["content"].get("warnings", []) for side, run in (("a", a), ("b", b))
    }
    together = [d for d in fields["differences"] if d["matters"] and not follows(d)]
    together = [d for d in together if d["kind"] in ("data", "images", "model")]
    fields |= {"together": together if len(together) > 1 else [], "shares": [], "unmade": {}}
    return Explanation(fields)


def follows(difference):
    """Whether it is what others lead to: other crops, and embeddings of them."""
    return difference["what"].startswith(("the crops themselves", "the embeddings"))
