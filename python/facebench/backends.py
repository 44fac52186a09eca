"""Back ends: what stands between embeddings and their score.

A chain of steps (``facebench list backends``), fitted to embeddings of known people. Float64
throughout; the same bits for any number of threads and on any processor.

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
from facebench._eval import backend_kinds, score_normalisations
from facebench.core._arguments import tensor_array

__all__ = ["Backend", "backend_kinds", "fit", "load", "score_normalisations"]


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
        """Fit to rows ``X`` (N, D); ``y`` says who is on each (numbers or texts). Texts are kept as
        ``people_names``, so that `facebench.evaluate` sees whether somebody of them is tested.

        ValueError for steps that the rows and people do not allow, facebench.Error where a
        direction has no spread.
        """
        import numpy as np

        person: list[int] = []
        names: list[str] = []
        if y is not None:
            people, numbers = np.unique(np.asarray(y), return_inverse=True)
            person = numbers.ravel().tolist()
            names = people.tolist() if people.dtype.kind == "U" else []
        self._fitted = _eval.fit_backend(self.spec, _rows(X, "X"), person, names, self.threads)
        return self

    def transform(self, X):
        """Rows after all steps before the one that scores, float64 (N, K)."""
        return self.fitted.transform(_rows(X, "X"), self.threads)

    def fit_transform(self, X, y=None):
        """fit(), then transform() of the same rows."""
        return self.fit(X, y).transform(X)

    def score(self, a, b, *, normalise=None, cohort=None):
        """The score of row i of ``a`` with row i of ``b``, float64 (N).

        plda and joint_bayesian give natural-logarithm likelihood ratios, cosine [-1, 1],
        mahalanobis minus the squared distance. ``a`` and ``b`` may change places.

        ``normalise``: ``z-norm``, ``t-norm`` or ``s-norm`` (`score_normalisations`), measured
        against the scores with ``cohort``, rows (M, D) of other people; ``s-norm:top=200`` by the
        200 highest of each side's.
        """
        if (normalise is None) != (cohort is None):
            raise ValueError("normalise and cohort go together")
        if normalise is not None:
            rows = (_rows(a, "a"), _rows(b, "b"), _rows(cohort, "cohort"))
            return self.fitted.normalised_scores(*rows, normalise, self.threads)
        return self.fitted.score(_rows(a, "a"), _rows(b, "b"), self.threads)

    def score_all(self, a, b):
        """Scores of every row of ``a`` with every row of ``b``, float64 (N, M)."""
        return self.fitted.score_all(_rows(a, "a"), _rows(b, "b"), self.threads)

    def save(self, path):
        """Write a ``.backend`` file, with a hash of all that decides a score."""
        self.fitted.save(os.fspath(path))

    notes = property(lambda self: self.fitted.notes, doc="What was done beside what was asked for.")
    people_names = property(lambda self: self.fitted.people_names, doc="Who they are, if said.")
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
