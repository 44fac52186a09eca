"""Protocols: evaluate embeddings or scores from anywhere under a published protocol.

Needs neither torch nor OpenCV.

>>> from facebench.protocols import list_protocols, load_protocol
>>> "ijba_quality" in [p["name"] for p in list_protocols()]
True
>>> load_protocol("lfw").title
'LFW View 2'
"""

import os
from typing import TYPE_CHECKING

from facebench import _eval
from facebench._eval import (
    EmbeddingSet,
    EvaluationOptions,
    ProtocolSpec,
    SyntheticIjbOptions,
    TrialSet,
    blemish_rules,
    failure_policies,
    ijb_label,
    ijb_scripts,
    interval_methods,
    list_conventions,
    protocol_metrics,
    score_forms,
    template_fusions,
    write_synthetic_ijb,
)
from facebench.core import _entry_points
from facebench.core._arguments import path_text
from facebench.core._when_asked import when_asked
from facebench.protocols import _pairs
from facebench.protocols._evaluate import evaluate
from facebench.protocols._load import load_protocol, read_trials, spec_of
from facebench.protocols._results import MetricResult, Result, TrackResult
from facebench.protocols._shards import evaluate_shard

if TYPE_CHECKING:
    from facebench.protocols._data_check import DataCheck, check_data

__getattr__ = when_asked(__name__)

__all__ = [
    "DataCheck",
    "EmbeddingSet",
    "EvaluationOptions",
    "MetricResult",
    "ProtocolSpec",
    "Result",
    "SyntheticIjbOptions",
    "TrackResult",
    "TrialSet",
    "blemish_rules",
    "check_data",
    "convention_rules",
    "evaluate",
    "evaluate_shard",
    "failure_policies",
    "find_images",
    "ijb_label",
    "ijb_scripts",
    "interval_methods",
    "list_conventions",
    "list_protocols",
    "load",
    "load_protocol",
    "protocol_metrics",
    "read_trials",
    "score_forms",
    "template_fusions",
    "write_pairs",
    "write_synthetic_ijb",
]


def list_protocols():
    """Every embedded protocol, and those that installed packages bring: name, title, one line, list
    files, metrics.

    >>> from facebench.protocols import list_protocols
    >>> "LFW View 2" in [p["title"] for p in list_protocols()]
    True
    """
    result = []
    for name in [*_eval.protocol_names(), *_entry_points.brought(_entry_points.PROTOCOLS)]:
        spec = load_protocol(name)
        result.append(
            {
                "name": spec.id,
                "title": spec.title,
                "doc": spec.description.strip(),
                "version": spec.version,
                "files": spec.files,
                "metrics": [m["name"] for m in spec.metrics],
                "convention": spec.convention,
            }
        )
    return result


def convention_rules():
    """The rules that single metrics can follow: option, name, and one line each.

    ``option``: the field of `EvaluationOptions`, the option of ``facebench eval`` and the key in
    the table [evaluation] of a protocol.

    >>> from facebench.protocols import convention_rules
    >>> [r["name"] for r in convention_rules() if r["option"] == "rank_ties"]
    ['pessimistic', 'optimistic', 'expected']
    """
    tables = {
        "accuracy_convention": _eval.accuracy_conventions(),
        "tar_at_far_convention": _eval.tar_at_far_conventions(),
        "identification_convention": _eval.identification_conventions(),
        "rank_ties": _eval.rank_ties(),
    }
    return [
        {"option": option, "name": rule["name"], "doc": rule["doc"]}
        for option, rules in tables.items()
        for rule in rules
    ]


def write_pairs(protocol, out, root=None, lists=None):
    """Write the distinct pairs of a protocol as CSV (``first``, ``second``), for others to score.

    With a further column ``score`` (or ``distance``) it is what :func:`evaluate` reads, in any
    order of the rows. Returns how many pairs there are. facebench.Error for a protocol whose
    comparisons are not a list.
    """
    spec = spec_of(protocol)
    return _pairs.write(read_trials(spec, root, lists), out, f"protocol {spec.id}")


def find_images(protocol, trials, root=None, images=None):
    """The image folder of a data set: the first that holds one of the samples."""
    places = (path_text(root, "root"), path_text(images, "images"))
    return _eval.find_images(spec_of(protocol), trials, *places)


def load(folder, threads=0) -> Result:
    """The result of a run folder, with all that `facebench.evaluate` gives: metrics, plots, frames.

    Its numbers are computed again from the folder's scores. facebench.Error where it is not a run
    folder, or a file is not the one that the run wrote.

    >>> import pathlib, tempfile, facebench
    >>> folder = tempfile.TemporaryDirectory()
    >>> text = "2\\t1\\nAnn\\t1\\t2\\nAnn\\t1\\tBob\\t1\\nCat\\t1\\t2\\nCat\\t1\\tDan\\t1\\n"
    >>> _ = pathlib.Path(folder.name, "pairs.txt").write_text(text)
    >>> run = pathlib.Path(folder.name, "run")
    >>> _ = facebench.evaluate("lfw", scores=[0.9, 0.1, 0.8, 0.2], root=folder.name, out=run)
    >>> facebench.load(run).auc.value
    1.0
    >>> folder.cleanup()
    """
    result = Result(_eval.read_result(os.fspath(folder), threads), threads=threads)
    result.folder = os.fspath(folder)
    return result
