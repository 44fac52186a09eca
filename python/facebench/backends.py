"""Back ends: what stands between embeddings and their score.

A chain of steps (``facebench list backends``), fitted to embeddings of known people. Float64
throughout; the same numbers for any number of threads.

>>> import numpy as np
>>> from facebench import backends
>>> rng = np.random.default_rng(1)
>>> labels = np.repeat(np.arange(40), 5)
>>> rows = rng.normal(size=(40, 8))[labels] + 0.5 * rng.normal(size=(200, 8))
>>> backend = backends.fit("pca=6,plda", rows, labels)
>>> same, other = backend.score(rows[[0, 0]], rows[[1, 7]])
>>> bool(same > 0 > other)
True
"""

import os

from facebench import _eval
from facebench._eval import backend_kinds
from facebench.core._arguments import tensor_array

__all__ = ["Backend", "backend_kinds", "fit", "load", "score_by_folds"]


def _rows(array, name):
    import numpy as np

    if hasattr(array, "detach"):  # a torch tensor, without importing torch
        array = tensor_array(array, name)
    rows = np.ascontiguousarray(array)
    if rows.dtype.kind not in "fiu" or rows.ndim != 2:
        raise ValueError(
            f"{name} must be an array (N, D) of numbers, not {rows.dtype} {rows.shape}"
        )
    return rows.astype(np.float64, copy=False)


class Backend:
    """A back end as scikit-learn has its transformers: ``Backend(spec).fit(X, y).transform(X)``.

    ``spec``: steps by commas, such as ``pca=128,lda=64,plda``; settings of a step by colons
    (``plda=32:shrinkage=0.1``). Without a step that scores the last is ``cosine``. ValueError for
    a step or setting that is not known.

    >>> from facebench.backends import Backend
    >>> Backend("pca=64").spec
    'pca=64,cosine'
    """

    def __init__(self, spec="cosine", threads=0):
        kept = _eval.backend_spec(spec)
        self.spec = spec if spec == kept else kept  # scikit-learn's clone wants the very object
        self.threads = threads
        self._fitted = None

    def __repr__(self):
        made = f", fitted to {self.images} images" if self._fitted else ""
        return f"<Backend {self.spec}{made}>"

    def get_params(self, deep=True):
        """``spec`` and ``threads``, for scikit-learn's ``clone``."""
        return {"spec": self.spec, "threads": self.threads}

    def set_params(self, **params):
        """Other settings: the back end is to be fitted again."""
        Backend.__init__(self, **{**self.get_params(), **params})
        return self

    @property
    def fitted(self):
        """What C++ holds: ``steps`` (name, shrinkage, mean, basis), ``cross``, ``square``, ..."""
        if self._fitted is None:
            raise ValueError(f"back end {self.spec}: is not fitted; call fit(X, labels) first")
        return self._fitted

    def __sklearn_tags__(self):
        from sklearn.utils import Tags, TargetTags, TransformerTags

        target = TargetTags(required=False)
        return Tags(estimator_type=None, target_tags=target, transformer_tags=TransformerTags())

    def __sklearn_is_fitted__(self):
        return self._fitted is not None

    def fit(self, X, y=None):
        """Fit to rows ``X`` (N, D); ``y`` says who is on each (numbers or texts).

        ValueError for steps that the rows and people do not allow, facebench.Error where a
        direction has no spread.
        """
        import numpy as np

        person = []
        if y is not None:
            person = np.unique(np.asarray(y), return_inverse=True)[1].ravel().tolist()
        self._fitted = _eval.fit_backend(self.spec, _rows(X, "X"), person, self.threads)
        return self

    def transform(self, X):
        """Rows after all steps before the one that scores, float64 (N, K)."""
        return self.fitted.transform(_rows(X, "X"), self.threads)

    def fit_transform(self, X, y=None):
        """fit(), then transform() of the same rows."""
        return self.fit(X, y).transform(X)

    def score(self, a, b):
        """The score of row i of ``a`` with row i of ``b``, float64 (N).

        plda and joint_bayesian give natural-logarithm likelihood ratios, cosine [-1, 1],
        mahalanobis minus the squared distance. ``a`` and ``b`` may change places.
        """
        return self.fitted.score(_rows(a, "a"), _rows(b, "b"), self.threads)

    def score_all(self, a, b):
        """Scores of every row of ``a`` with every row of ``b``, float64 (N, M)."""
        return self.fitted.score_all(_rows(a, "a"), _rows(b, "b"), self.threads)

    def save(self, path):
        """Write a ``.backend`` file, with a hash of all that decides a score."""
        self.fitted.save(os.fspath(path))

    notes = property(lambda self: self.fitted.notes, doc="What was done beside what was asked for.")
    people = property(lambda self: self.fitted.people, doc="People it was fitted to; 0: not said.")
    images = property(lambda self: self.fitted.images, doc="Rows it was fitted to.")
    sha256 = property(lambda self: self.fitted.sha256, doc="Of all that decides a score.")


def fit(spec, X, labels=None, *, threads=0):
    """``Backend(spec).fit(X, labels)``.

    >>> import numpy as np
    >>> from facebench.backends import fit
    >>> fit("center", np.array([[3.0, 0.0], [1.0, 0.0]])).transform([[2.0, 1.0]]).tolist()
    [[0.0, 1.0]]
    """
    return Backend(spec, threads).fit(X, labels)


def load(path, *, threads=0):
    """The back end in a file of `Backend.save`. facebench.Error for a file that is damaged, was
    changed, or is another one."""
    fitted = _eval.read_backend(os.fspath(path))
    backend = Backend(fitted.spec, threads)
    backend._fitted = fitted
    return backend


def score_by_folds(spec, trials, embeddings, track=None, *, threads=0):
    """Scores of a list in folds, each fold's by a back end that never saw its people.

    For each fold the back end ``spec`` is fitted to the images of ``embeddings`` (an
    ``EmbeddingSet``) that comparisons of the other folds name; whoever takes part in the fold is
    left out there, with all images. So LFW's unrestricted protocol has it. ``trials`` is what
    `facebench.protocols.read_trials` gives; ``track`` the name of one, by default the first.

    Returns float64 in the order of the list, for ``facebench.evaluate(..., scores=...)``, and a
    list of the fitted back ends. ValueError without folds, for templates, and where names have no
    embedding or failed.

    >>> scores, fitted = score_by_folds("pca=64,plda", trials, embeddings)  # doctest: +SKIP
    >>> facebench.evaluate("lfw", scores=scores, root="LFW")  # doctest: +SKIP
    """
    import numpy as np

    known = {t.name: t.trials for t in trials.tracks}
    listed = known[track] if track is not None else next(iter(known.values()))
    folds = np.asarray(getattr(listed, "fold", ()))
    if len(folds) == 0:
        raise ValueError("the track has no folds: fit to people of your own (fit), then score")
    if len(trials.templates.names):
        raise ValueError("lists of templates have no folds to train on: fit to people of your own")
    names, status = embeddings.names, np.asarray(embeddings.status)
    row_of = {_eval.compared_name(n): i for i, n in enumerate(names) if status[i] == 0}
    row = np.array([row_of.get(_eval.compared_name(n), -1) for n in trials.names])
    first, second = np.asarray(listed.comparisons).T
    used = np.unique(np.concatenate([first, second]))
    if (row[used] < 0).any():
        lost = used[row[used] < 0]
        raise ValueError(
            f"{len(lost)} of {len(used)} names have no embedding, or it failed (first: "
            f"{trials.names[lost[0]]}); a back end is neither trained on these nor asked"
        )
    values, person = _rows(embeddings.values, "embeddings"), np.asarray(trials.identity)
    scores, fitted = np.empty(len(folds)), []
    for fold in np.unique(folds):
        test = folds == fold
        tested = np.unique(person[np.concatenate([first[test], second[test]])])
        train = np.unique(np.concatenate([first[~test], second[~test]]))
        train = train[~np.isin(person[train], tested)]
        backend = fit(spec, values[row[train]], person[train], threads=threads)
        scores[test] = backend.score(values[row[first[test]]], values[row[second[test]]])
        fitted.append(backend)
    return scores, fitted
