"""Why two runs differ, and where several causes differ together the runs between them."""

import os
from pathlib import Path

from facebench import analysis, pipeline
from facebench.analysis.explanations import Explanation
from facebench.analysis.headlines import cells_of
from facebench.core import Error
from facebench.core._arguments import of_kind
from facebench.protocols import EvaluationOptions, evaluate, load
from facebench.verbs import _recorded
from facebench.verbs._recorded import Undone

_PACK, _MODEL = "faces and crops", "weights"


def explain(
    a: str | os.PathLike,
    b: str | os.PathLike,
    *,
    resolve: bool = False,
    model=None,
    replicates: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    threads: int = 0,
    progress=None,
) -> Explanation:
    """Why the numbers of two run folders differ: see `facebench.analysis.explain`.

    ``resolve``: where several causes differ together, the missing runs are made, one factor at a
    time: run ``a`` with the pack of ``b``, with its model, and with each of its options of the
    extraction. ``shares`` of the result then says what each is of the difference. Embedded are the
    packs that the runs kept; ``model``: of both, where they name no file. Needs torch.
    """
    of_kind(resolve, bool, "resolve")
    how = {"replicates": replicates, "level": level, "seed": seed}
    explanation = analysis.explain(a, b, **how, threads=threads, progress=progress)
    if model is not None and not resolve:
        raise ValueError("model: goes with resolve")
    if resolve:
        explanation.take_shares(_resolved(a, b, model, threads, progress))
    return explanation


def _resolved(a, b, model, threads, progress) -> list[dict]:
    """For each factor in which two runs differ: ``factor``, ``numbers`` ({(track, metric): value})
    of run ``a`` with this factor as run ``b`` has it, and ``why`` where it could not be made."""
    one, other = (_Side(Path(run), model) for run in (a, b))
    shares = []
    for factor in dict.fromkeys([*one.factors, *other.factors]):
        if one.factors.get(factor) == other.factors.get(factor):
            continue
        try:
            numbers, why = _with(one, other, factor, threads, progress), ""
        except (Undone, Error, ValueError, TypeError) as error:
            numbers, why = {}, str(error)
        shares.append({"factor": factor, "numbers": numbers, "why": why})
    return shares


class _Side:
    """A run, and what its embeddings were made of."""

    def __init__(self, run, model):
        record = analysis.read_run(run, check=False)
        self.run = run
        self.content = _recorded.table_at(record, "content")
        self.circumstance = _recorded.table_at(record, "circumstance")
        embeddings = self.content.get("embeddings")
        manifest = embeddings.get("manifest", {}) if isinstance(embeddings, dict) else {}
        if "extract" not in manifest or "pack_sha256" not in self.content:
            raise Error(f"{run}: facebench run did not make it, so that nothing can be made again")
        self.model = model
        self.factors = {
            _PACK: self.content["pack_sha256"],
            _MODEL: manifest.get("model_sha256") or self.content["embedder"],
            **_recorded.extract_options(self.content),
        }

    def pack(self):
        path = self.run / "pack.h5"
        if not os.path.isfile(path):
            raise Undone(f"{path} is not there: the run was made with --discard")
        return path

    def ready_model(self):
        if self.model is not None:
            return self.model
        return _recorded.model_file(self.run, self.content, self.circumstance)


def _with(one, other, factor, threads, progress):
    """The numbers of one run with one factor of the other."""
    pack = (other if factor == _PACK else one).pack()
    model = (other if factor == _MODEL else one).ready_model()
    extract = {k: v for k, v in one.factors.items() if k not in (_PACK, _MODEL)}
    if factor in extract:
        extract[factor] = other.factors.get(factor)
    embeddings = pipeline.embed(model, pack, threads=threads, progress=progress, **extract)
    result = load(one.run, threads)
    known = {field["name"] for field in EvaluationOptions.fields()}
    options = {k: v for k, v in one.content["options"].items() if k in known and v is not None}
    again = evaluate(
        result.protocol,
        embeddings,
        trials=result._raw.trials,
        options=EvaluationOptions(**options | {"interval": "none"}),
        threads=threads,
    )
    return {(t, name): cell["value"] for t, name, cell in cells_of(again.to_dict())}
