# Made by scripts/stubs.py from the compiled module.
"""
facebench: protocols and metrics
"""

from __future__ import annotations
import collections.abc
import numpy
import numpy.typing
import os
import pathlib
import typing

__all__: list[str] = [
    "Accuracy",
    "AllPairsOptions",
    "BootstrapOptions",
    "CalibrationOptions",
    "ClaimOptions",
    "Cmc",
    "Comparisons",
    "Components",
    "DenseTrials",
    "DetCurve",
    "DirAtFpir",
    "DiscardArea",
    "DiscardDifference",
    "DiscardMeasure",
    "DiscardOptions",
    "DiscardResult",
    "EmbeddingSet",
    "Error",
    "EvaluationOptions",
    "FixedThreshold",
    "FnmrAtFmr",
    "GalleryOptions",
    "GroupCell",
    "GroupMeasureResult",
    "GroupRates",
    "GroupRatesOptions",
    "GroupReportOptions",
    "IdentificationCurve",
    "IdentificationTrials",
    "InspectionOptions",
    "Interval",
    "ListedTrials",
    "MatrixTrials",
    "MatrixValue",
    "McNemar",
    "MetricBounds",
    "Moments",
    "Number",
    "PairedComparison",
    "PlanOptions",
    "ProtocolSpec",
    "RankRate",
    "RecommendedThreshold",
    "RejectCurve",
    "Result",
    "RocCurve",
    "SampleStatus",
    "ScoreCalibrator",
    "ScoreHistogram",
    "ScoreSummary",
    "ScoreTail",
    "Searches",
    "Statistic",
    "SyntheticIjbOptions",
    "TarAtFar",
    "Templates",
    "ThresholdAtFar",
    "ThresholdReportOptions",
    "Track",
    "TrackMean",
    "TrackResult",
    "TrialSet",
    "Trials",
    "VertexModel",
    "accuracy",
    "accuracy_conventions",
    "accuracy_statistic",
    "active_isa",
    "against",
    "all_pairs",
    "auc",
    "auc_statistic",
    "available_processors",
    "blemish_rules",
    "calibration_methods",
    "calibration_report",
    "canonical_json",
    "centred_accuracy",
    "check_claim",
    "check_data",
    "check_run",
    "cllr",
    "closest_name",
    "cmc",
    "compare_paired",
    "compiler",
    "component_bootstrap",
    "confine_readers",
    "connected_components",
    "convention_text",
    "conventions",
    "cuda_devices",
    "curves_of",
    "dense_scores",
    "det",
    "difference_kinds",
    "dir_at_fpir",
    "dir_at_fpir_statistic",
    "dprime",
    "dyadic_bootstrap",
    "eer",
    "eer_convex_hull",
    "eer_statistic",
    "error_versus_abstain",
    "error_versus_discard",
    "error_versus_reject",
    "evaluate_embeddings",
    "evaluate_file",
    "evaluate_scores",
    "expected_calibration_error",
    "expected_count_names",
    "explain",
    "failure_policies",
    "find_images",
    "fit_calibrator",
    "fit_vertex_model",
    "fmr_statistic",
    "fnmr_at_fmr",
    "fnmr_statistic",
    "fnmr_versus_reject",
    "force_isa",
    "gallery_sizes",
    "group_measures",
    "group_rates",
    "group_report",
    "histogram",
    "holm_adjusted",
    "identification_conventions",
    "identification_curve",
    "ijb_label",
    "ijb_scripts",
    "inspect_run",
    "interval_methods",
    "limited",
    "list_conditions",
    "list_erratum_kinds",
    "list_published_units",
    "listed_pair_scores",
    "listed_run",
    "load_protocol",
    "load_publication",
    "mcnemar",
    "metric_is_rate",
    "metric_text",
    "metric_title",
    "min_cllr",
    "min_cllr_statistic",
    "normal_quantile",
    "parse_device",
    "parse_protocol",
    "people_for_all_pairs",
    "plan_report",
    "pretty_json",
    "printable",
    "protocol_metrics",
    "protocol_names",
    "publication_names",
    "published_values",
    "quality_report",
    "quick_look_warning",
    "rank_rate",
    "rank_rate_statistic",
    "rank_runs",
    "rank_ties",
    "rates_at",
    "read_calibrator",
    "read_embeddings",
    "read_h5_manifest",
    "read_manifest",
    "read_mat5",
    "read_qualities",
    "read_rules",
    "read_run",
    "read_safetensors",
    "read_scores_csv",
    "read_toml",
    "read_trials",
    "recommend_threshold",
    "refuse_blemishes",
    "report_table",
    "roc",
    "roc_points",
    "run_curves",
    "run_titles",
    "save_run",
    "search_embeddings",
    "sha256_file",
    "sha256_hex",
    "sorted_metrics",
    "sorted_names",
    "startable_threads",
    "summarize",
    "supported_isa",
    "tar_at_far",
    "tar_at_far_conventions",
    "tar_at_far_statistic",
    "tar_at_fars",
    "template_fusions",
    "threshold_report",
    "transfer_threshold",
    "trial_kinds",
    "trial_readers",
    "variance_budget",
    "verify_inputs",
    "verify_scores",
    "version",
    "vertex_bootstrap",
    "why_not_comparable",
    "wilson",
    "without",
    "write_embeddings",
    "write_file",
    "write_safetensors",
    "write_synthetic_ijb",
]

class Error(RuntimeError):
    """
    Something is wrong with data or files. The text says what, where, and what to do.
    """

class SampleStatus:
    """
    The status of one sample.

    Members:

      ok

      no_face

      unreadable

      missing

      rejected
    """

    __members__: typing.ClassVar[dict[str, SampleStatus]]
    missing: typing.ClassVar[SampleStatus]
    no_face: typing.ClassVar[SampleStatus]
    ok: typing.ClassVar[SampleStatus]
    rejected: typing.ClassVar[SampleStatus]
    unreadable: typing.ClassVar[SampleStatus]

    def __eq__(self, other: object) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt) -> None: ...
    def __int__(self) -> int: ...
    def __ne__(self, other: object) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class EmbeddingSet:
    """
    One vector per sample, and the status of each sample.

        values: float32 (N, D), zeros where the status is not ok
        names: N sample ids, each once
        status: N numbers of SampleStatus (default: all ok)
        manifest: a dict of what decided the numbers
    """

    def __init__(
        self,
        values: typing.Any,
        names: collections.abc.Sequence[str],
        status: typing.Any | None = None,
        manifest: typing.Any | None = None,
    ) -> None: ...
    def __len__(self) -> int: ...
    def __repr__(self) -> str: ...
    @property
    def dim(self) -> int:
        """
        Numbers per vector.
        """

    @property
    def manifest(self) -> typing.Any:
        """
        What decided the numbers, as a dict.
        """

    @property
    def names(self) -> list[str]:
        """
        The sample ids.
        """

    @property
    def status(self) -> numpy.ndarray:
        """
        uint8 (N), numbers of SampleStatus.
        """

    @property
    def values(self) -> numpy.ndarray:
        """
        float32 (N, D), a read-only view.
        """

class Comparisons:
    """
    Comparisons checked and sorted once, for several metrics and for the bootstrap.

    scores: similarities (higher = more alike), finite. labels: 1 genuine, 0 impostor. folds:
    any whole numbers. Arrays of any number type, lists, torch tensors, DLPack. ValueError names
    the first index at fault.

    >>> from facebench.metrics import Comparisons
    >>> Comparisons([0.9, 0.2, 0.4], [1, 0, 0])
    Comparisons(genuine=1, impostor=2, folds=0)
    """

    def __init__(
        self, scores: typing.Any, labels: typing.Any, folds: typing.Any | None = None
    ) -> None: ...
    def __len__(self) -> int: ...
    def __repr__(self) -> str: ...
    @property
    def fold_count(self) -> int: ...
    @property
    def genuine(self) -> int: ...
    @property
    def impostor(self) -> int: ...

class RocCurve:
    """
    Exact ROC points: one for each distinct score, after a first one that accepts nothing.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __len__(self) -> int: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def false_accepts(self) -> numpy.typing.NDArray[numpy.int64]:
        """
        impostor comparisons accepted
        """

    @property
    def fnr(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        1 - tpr; with fpr the points of the DET curve
        """

    @property
    def fpr(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        false accept rate at each point
        """

    @property
    def genuine(self) -> int:
        """
        genuine comparisons
        """

    @property
    def impostor(self) -> int:
        """
        impostor comparisons
        """

    @property
    def threshold(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        accept score >= threshold; descending, first inf
        """

    @property
    def tpr(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        true accept rate at each point
        """

    @property
    def true_accepts(self) -> numpy.typing.NDArray[numpy.int64]:
        """
        genuine comparisons accepted
        """

class TarAtFar:
    """
    A TAR at a FAR, with the counts behind it.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def convention(self) -> str:
        """
        name in tar_at_far_conventions()
        """

    @property
    def expected_false_accepts(self) -> float:
        """
        far_target * impostor
        """

    @property
    def false_accepts(self) -> int:
        """
        impostor comparisons accepted
        """

    @property
    def far_achieved(self) -> float:
        """
        the FAR that the threshold gives
        """

    @property
    def far_target(self) -> float:
        """
        the FAR asked for
        """

    @property
    def genuine(self) -> int:
        """
        genuine comparisons
        """

    @property
    def genuine_accepted(self) -> int:
        """
        genuine comparisons accepted
        """

    @property
    def impostor(self) -> int:
        """
        impostor comparisons
        """

    @property
    def reliable(self) -> bool:
        """
        at least 10 false accepts expected
        """

    @property
    def threshold(self) -> float:
        """
        in the score's unit (mean over folds)
        """

    @property
    def value(self) -> float:
        """
        TAR in [0, 1]
        """

class Accuracy:
    """
    Accuracy by folds, thresholds chosen on the other folds.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def comparisons(self) -> int:
        """
        comparisons in all
        """

    @property
    def convention(self) -> str:
        """
        name in accuracy_conventions()
        """

    @property
    def fold_accuracy(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        accuracy of each fold
        """

    @property
    def fold_threshold(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        threshold of each fold, as a score
        """

    @property
    def folds(self) -> numpy.typing.NDArray[numpy.int32]:
        """
        the folds' numbers
        """

    @property
    def sd(self) -> float:
        """
        standard deviation of the folds' accuracies, n - 1
        """

    @property
    def spread(self) -> float:
        """
        what the convention prints behind the +-
        """

    @property
    def standard_error(self) -> float:
        """
        sd / sqrt(folds)
        """

    @property
    def value(self) -> float:
        """
        mean of the folds' accuracies
        """

    @property
    def wrong(self) -> int:
        """
        comparisons decided wrongly
        """

class Interval:
    """
    A confidence interval.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def high(self) -> float:
        """
        upper bound
        """

    @property
    def level(self) -> float:
        """
        confidence level
        """

    @property
    def low(self) -> float:
        """
        lower bound
        """

    @property
    def method(self) -> str:
        """
        how it was computed
        """

    @property
    def replicates(self) -> int:
        """
        replicates of a bootstrap
        """

    @property
    def undefined(self) -> int:
        """
        replicates in which the statistic is undefined
        """

class BootstrapOptions:
    """
    How an interval is bootstrapped.

    Fields:
        replicates (integer, default 1000): resampled data sets
        level (number, default 0.95): confidence level of the interval
        seed (integer, default 0): seed of the resampling
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(self, *, replicates: int = ..., level: float = ..., seed: int = ...) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    replicates: int
    "resampled data sets"
    level: float
    "confidence level of the interval"
    seed: int
    "seed of the resampling"

class Statistic:
    """
    A number computed from weighted comparisons.
    """

    def __call__(self, weights: typing.Any) -> float: ...
    def __repr__(self) -> str: ...
    @property
    def name(self) -> str: ...

class Components:
    """
    Connected components of the comparisons, per fold.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def fold(self) -> numpy.typing.NDArray[numpy.int32]:
        """
        fold of each component, numbered from 0
        """

    @property
    def identities(self) -> int:
        """
        distinct identities
        """

    @property
    def largest(self) -> int:
        """
        comparisons in the largest component
        """

    @property
    def of_comparison(self) -> numpy.typing.NDArray[numpy.int32]:
        """
        component of each comparison
        """

class Moments:
    """
    Count, mean and standard deviation (n - 1).
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def count(self) -> int:
        """
        number of values
        """

    @property
    def mean(self) -> float:
        """
        mean
        """

    @property
    def sd(self) -> float:
        """
        standard deviation, n - 1
        """

class ScoreSummary:
    """
    The two score distributions at a glance.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def dprime(self) -> float:
        """
        d'
        """

    @property
    def genuine(self) -> Moments:
        """
        moments of the genuine scores
        """

    @property
    def impostor(self) -> Moments:
        """
        moments of the impostor scores
        """

class ScoreHistogram:
    """
    Counts of both classes by score.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def edges(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        bins + 1 edges
        """

    @property
    def genuine(self) -> numpy.typing.NDArray[numpy.int64]:
        """
        genuine comparisons in each bin
        """

    @property
    def impostor(self) -> numpy.typing.NDArray[numpy.int64]:
        """
        impostor comparisons in each bin
        """

class Cmc:
    """
    Closed-set identification: the cumulative match characteristic.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def gallery(self) -> int:
        """
        people in the gallery
        """

    @property
    def mated(self) -> int:
        """
        probes with a mate in the gallery
        """

    @property
    def non_mated(self) -> int:
        """
        probes left out, having none
        """

    @property
    def rate(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        rate[k - 1]: share of mated probes whose mate has rank <= k
        """

    @property
    def tied(self) -> int:
        """
        mated probes whose rank depends on the rule for ties
        """

    @property
    def ties(self) -> str:
        """
        name in rank_ties()
        """

class IdentificationCurve:
    """
    Open-set identification at every threshold that matters, as exact counts.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __len__(self) -> int: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def dir(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        detection and identification rate at each point
        """

    @property
    def false_positives(self) -> numpy.typing.NDArray[numpy.int64]:
        """
        non-mated probes with an answer
        """

    @property
    def fpir(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        false positive identification rate at each point
        """

    @property
    def identified(self) -> numpy.typing.NDArray[numpy.int64]:
        """
        mated probes identified
        """

    @property
    def mated(self) -> int:
        """
        mated probes
        """

    @property
    def non_mated(self) -> int:
        """
        non-mated probes
        """

    @property
    def rank(self) -> int:
        """
        worst rank that counts; 0 = any
        """

    @property
    def threshold(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        answer score >= threshold; descending, first inf
        """

class DirAtFpir:
    """
    A detection and identification rate at a false positive identification rate, with the counts behind it.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def convention(self) -> str:
        """
        name in identification_conventions()
        """

    @property
    def expected_false_positives(self) -> float:
        """
        fpir_target * non_mated
        """

    @property
    def false_positives(self) -> int:
        """
        non-mated probes with an answer
        """

    @property
    def fnir(self) -> float:
        """
        1 - DIR
        """

    @property
    def fpir_achieved(self) -> float:
        """
        the FPIR that the threshold gives; NaN without non-mated probes
        """

    @property
    def fpir_target(self) -> float:
        """
        the FPIR asked for
        """

    @property
    def identified(self) -> int:
        """
        mated probes identified
        """

    @property
    def mated(self) -> int:
        """
        mated probes
        """

    @property
    def non_mated(self) -> int:
        """
        non-mated probes
        """

    @property
    def rank(self) -> int:
        """
        worst rank that counts; 0 = any
        """

    @property
    def reliable(self) -> bool:
        """
        at least 10 false positives expected
        """

    @property
    def threshold(self) -> float:
        """
        in the score's unit
        """

    @property
    def value(self) -> float:
        """
        DIR in [0, 1]
        """

class Searches:
    """
    Searches of probes in a gallery, ranked once, for several metrics and for the bootstrap.

    similarity: probes x gallery entries, finite, higher = more alike. probe_identity,
    gallery_identity: whole numbers. Candidates are people: one with several gallery entries
    scores as the highest of them. A probe whose identity is not in the gallery is non-mated.

    >>> from facebench.metrics import Searches
    >>> Searches([[0.9, 0.2], [0.4, 0.3]], probe_identity=[1, 7], gallery_identity=[1, 2])
    Searches(mated=1, non_mated=1, gallery=2)
    """

    def __init__(
        self,
        similarity: typing.Any,
        probe_identity: typing.Any,
        gallery_identity: typing.Any,
        *,
        threads: typing.SupportsInt = 0,
        progress: typing.Any | None = None,
    ) -> None: ...
    def __len__(self) -> int: ...
    def __repr__(self) -> str: ...
    @property
    def gallery(self) -> int: ...
    @property
    def mated(self) -> int: ...
    @property
    def non_mated(self) -> int: ...

class AllPairsOptions:
    """
    What is kept of the scores of all pairs.

    Fields:
        far (number, default 0.001): highest FAR at which the TAR can be told exactly; the kept tail grows with it
        bins (integer, default 0): bins of the histogram of all scores; 0 = none, which is faster
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(self, *, far: float = ..., bins: int = ...) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    far: float
    "highest FAR at which the TAR can be told exactly; the kept tail grows with it"
    bins: int
    "bins of the histogram of all scores; 0 = none, which is faster"

class ScoreTail:
    """
    What is kept of the scores of more comparisons than can be stored.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def genuine(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        every genuine score, descending
        """

    @property
    def genuine_column(self) -> numpy.typing.NDArray[numpy.int32]:
        """
        column of each genuine score
        """

    @property
    def genuine_row(self) -> numpy.typing.NDArray[numpy.int32]:
        """
        row of each genuine score
        """

    @property
    def histogram(self) -> ScoreHistogram:
        """
        of all comparisons, where bins were asked for
        """

    @property
    def histogram_blur(self) -> float:
        """
        how far below the tail an impostor may be counted from its score
        """

    @property
    def impostor(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        the highest impostor scores, descending
        """

    @property
    def impostor_column(self) -> numpy.typing.NDArray[numpy.int32]:
        """
        column of each of them
        """

    @property
    def impostor_count(self) -> int:
        """
        impostor comparisons in all
        """

    @property
    def impostor_reach(self) -> int:
        """
        impostor comparisons at or above the lowest of them
        """

    @property
    def impostor_row(self) -> numpy.typing.NDArray[numpy.int32]:
        """
        row of each impostor score above the lowest kept one
        """

class DetCurve:
    """
    The ROC's points as error rates.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __len__(self) -> int: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def fmr(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        false match rate
        """

    @property
    def fnmr(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        false non-match rate
        """

    @property
    def threshold(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        accept score >= threshold; first inf
        """

class FnmrAtFmr:
    """
    A false non-match rate at a false match rate.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def convention(self) -> str:
        """
        name in tar_at_far_conventions()
        """

    @property
    def expected_false_matches(self) -> float:
        """
        fmr_target * impostor
        """

    @property
    def false_matches(self) -> int:
        """
        impostor comparisons accepted
        """

    @property
    def false_non_matches(self) -> int:
        """
        genuine comparisons rejected
        """

    @property
    def fmr_achieved(self) -> float:
        """
        the FMR that the threshold gives
        """

    @property
    def fmr_target(self) -> float:
        """
        the FMR asked for
        """

    @property
    def genuine(self) -> int:
        """
        genuine comparisons
        """

    @property
    def impostor(self) -> int:
        """
        impostor comparisons
        """

    @property
    def reliable(self) -> bool:
        """
        at least 10 false matches expected
        """

    @property
    def threshold(self) -> float:
        """
        in the score's unit (mean over folds)
        """

    @property
    def value(self) -> float:
        """
        FNMR in [0, 1]
        """

class ScoreCalibrator:
    """
    A rising map from scores to log likelihood ratios.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def apply(self, scores: typing.Any) -> numpy.typing.NDArray[numpy.float64]:
        """
        Natural-logarithm likelihood ratios of scores.
        """

    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def llr(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        natural-logarithm likelihood ratio at each
        """

    @property
    def method(self) -> str:
        """
        see calibration_methods
        """

    @property
    def score(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        points, ascending
        """

    @property
    def slope(self) -> float:
        """
        beyond the first and the last point
        """

class RecommendedThreshold:
    """
    A threshold for a wanted FMR.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def expected_false_matches(self) -> float: ...
    @property
    def false_matches(self) -> int:
        """
        there
        """

    @property
    def fmr(self) -> float:
        """
        what was wanted
        """

    @property
    def least_bound(self) -> float:
        """
        without a false match
        """

    @property
    def level(self) -> float:
        """
        of the bound, one-sided
        """

    @property
    def reliable(self) -> bool:
        """
        at least ten are expected
        """

    @property
    def safe(self) -> float | None:
        """
        its FMR is bounded by what was wanted, or None
        """

    @property
    def safe_false_matches(self) -> int:
        """
        there
        """

    @property
    def threshold(self) -> float:
        """
        accept score >= threshold
        """

class VertexModel:
    """
    What an error rate says when people are shared.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def comparisons(self) -> int:
        """
        how many
        """

    @property
    def correlation(self) -> float:
        """
        of the errors of such two
        """

    @property
    def effective(self) -> float:
        """
        independent comparisons that say as much
        """

    @property
    def people(self) -> int:
        """
        behind them
        """

    @property
    def rate(self) -> float:
        """
        errors over comparisons
        """

    @property
    def shared(self) -> float:
        """
        ordered pairs of comparisons that share a person
        """

class RejectCurve:
    """
    The error rate when the worst share of comparisons is rejected.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __len__(self) -> int: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def area(self, limit: typing.SupportsFloat = 1.0) -> float:
        """
        Mean error (area of the step function) while up to `limit` is set aside.
        """

    def best_area(self, limit: typing.SupportsFloat = 1.0) -> float:
        """
        The same for qualities that reject every wrong comparison first.
        """

    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def error(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        error rate of those kept
        """

    @property
    def kept(self) -> numpy.typing.NDArray[numpy.int64]:
        """
        comparisons kept
        """

    @property
    def quality(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        lowest quality kept
        """

    @property
    def rejected(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        share set aside, from 0
        """

    @property
    def wrong(self) -> numpy.typing.NDArray[numpy.int64]:
        """
        wrong comparisons kept
        """

class FixedThreshold:
    """
    Error rates at a threshold that was not chosen on these comparisons.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def false_matches(self) -> int:
        """
        impostor comparisons accepted
        """

    @property
    def false_non_matches(self) -> int:
        """
        genuine comparisons rejected
        """

    @property
    def fmr(self) -> float:
        """
        false match rate; NaN without impostors
        """

    @property
    def fmr_interval(self) -> Interval:
        """
        wilson_fixed_threshold
        """

    @property
    def fnmr(self) -> float:
        """
        false non-match rate; NaN without genuine ones
        """

    @property
    def fnmr_interval(self) -> Interval:
        """
        wilson_fixed_threshold
        """

    @property
    def genuine(self) -> int:
        """
        genuine comparisons
        """

    @property
    def impostor(self) -> int:
        """
        impostor comparisons
        """

    @property
    def threshold(self) -> float:
        """
        accept score >= threshold
        """

class PairedComparison:
    """
    Two systems on the same comparisons: a - b of one number.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def a(self) -> float:
        """
        of the first system
        """

    @property
    def b(self) -> float:
        """
        of the second system
        """

    @property
    def interval(self) -> Interval:
        """
        of the difference
        """

    @property
    def p_value(self) -> float:
        """
        two-sided, that they do not differ
        """

    @property
    def value(self) -> float:
        """
        a - b
        """

class McNemar:
    """
    McNemar's exact test.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def assumes(self) -> str:
        """
        its assumptions
        """

    @property
    def only_a_wrong(self) -> int:
        """
        comparisons that only a decides wrongly
        """

    @property
    def only_b_wrong(self) -> int:
        """
        comparisons that only b decides wrongly
        """

    @property
    def p_value(self) -> float:
        """
        two-sided
        """

class GroupRatesOptions:
    """
    How the rates of groups get their intervals and tests.

    Fields:
        replicates (integer, default 1000): resampled data sets
        level (number, default 0.95): confidence level of the intervals
        seed (integer, default 0): seed of resampling and permutations
        permutations (integer, default 1000): random assignments of people to groups; 0: no test
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self, *, replicates: int = ..., level: float = ..., seed: int = ..., permutations: int = ...
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    replicates: int
    "resampled data sets"
    level: float
    "confidence level of the intervals"
    seed: int
    "seed of resampling and permutations"
    permutations: int
    "random assignments of people to groups; 0: no test"

class GroupCell:
    """
    Comparisons of one group with another, or within it.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def comparisons(self) -> int:
        """
        how many
        """

    @property
    def errors(self) -> int:
        """
        of them decided wrongly
        """

    @property
    def few(self) -> bool:
        """
        fewer than ten errors are expected
        """

    @property
    def first(self) -> int:
        """
        number of a group
        """

    @property
    def interval(self) -> Interval:
        """
        draws people
        """

    @property
    def rate(self) -> float:
        """
        errors over comparisons
        """

    @property
    def second(self) -> int:
        """
        number of a group, not smaller
        """

class GroupMeasureResult:
    """
    One number for inequality.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def interval(self) -> Interval:
        """
        draws people
        """

    @property
    def name(self) -> str:
        """
        see group_measures
        """

    @property
    def p(self) -> float:
        """
        of the permutation test; NaN where it was not made
        """

    @property
    def value(self) -> float:
        """
        NaN where undefined
        """

class GroupRates:
    """
    Error rates of groups of people at one threshold.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def fmr(self) -> float:
        """
        over all impostor comparisons
        """

    @property
    def fmr_cells(self) -> list[GroupCell]:
        """
        of pairs of groups
        """

    @property
    def fnmr(self) -> float:
        """
        over all genuine comparisons
        """

    @property
    def fnmr_cells(self) -> list[GroupCell]:
        """
        of pairs of groups
        """

    @property
    def groups(self) -> list[str]:
        """
        their names
        """

    @property
    def measures(self) -> list[GroupMeasureResult]:
        """
        in the order of group_measures
        """

    @property
    def people(self) -> numpy.typing.NDArray[numpy.int64]:
        """
        in each group
        """

    @property
    def threshold(self) -> float:
        """
        accept score >= threshold
        """

class DiscardOptions:
    """
    What is discarded by quality, and how its curve is summed up.

    Fields:
        discard (text, default comparisons): what is discarded: genuine comparisons by the quality of their two images, or images
        pair_quality (text, default minimum): the quality of a comparison out of those of its two images
        discard_threshold (text, default kept): whether the threshold is kept while more is discarded, or chosen again for the FAR
        threshold (number, optional): accept scores of at least this; default: what gives the FAR
        far (number, default 0.001): FAR that sets the threshold
        limits (numbers, default [0.2, 0.3]): shares of discards that areas go up to
        replicates (integer, default 1000): resampled data sets
        level (number, default 0.95): confidence level of the intervals
        seed (integer, default 0): seed of the resampling
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        discard: str = ...,
        pair_quality: str = ...,
        discard_threshold: str = ...,
        threshold: float | None = ...,
        far: float = ...,
        limits: collections.abc.Sequence[float] = ...,
        replicates: int = ...,
        level: float = ...,
        seed: int = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    discard: str
    "what is discarded: genuine comparisons by the quality of their two images, or images"
    pair_quality: str
    "the quality of a comparison out of those of its two images"
    discard_threshold: str
    "whether the threshold is kept while more is discarded, or chosen again for the FAR"
    threshold: float | None
    "accept scores of at least this; default: what gives the FAR"
    far: float
    "FAR that sets the threshold"
    limits: collections.abc.Sequence[float]
    "shares of discards that areas go up to"
    replicates: int
    "resampled data sets"
    level: float
    "confidence level of the intervals"
    seed: int
    "seed of the resampling"

class DiscardArea:
    """
    The partial area under a curve.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def gain(self) -> float:
        """
        1 is the oracle, 0 is chance, below 0 is harm
        """

    @property
    def interval(self) -> Interval:
        """
        draws people
        """

    @property
    def limit(self) -> float:
        """
        share of discards up to which it goes
        """

    @property
    def oracle(self) -> float:
        """
        of the best order; NaN where there is none
        """

    @property
    def value(self) -> float:
        """
        mean FNMR up to there
        """

class DiscardMeasure:
    """
    What a quality makes of the FNMR.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def areas(self) -> list[DiscardArea]:
        """
        a DiscardArea for each limit
        """

    @property
    def curve(self) -> RejectCurve:
        """
        a RejectCurve: shares are those of the discards
        """

    @property
    def name(self) -> str:
        """
        of the quality
        """

class DiscardDifference:
    """
    Area of one quality less another's.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def first(self) -> int:
        """
        number of a quality
        """

    @property
    def limit(self) -> float:
        """
        of both areas
        """

    @property
    def paired(self) -> PairedComparison:
        """
        below 0 where the first is better
        """

    @property
    def second(self) -> int:
        """
        number of a quality
        """

class DiscardResult:
    """
    Error versus discard of several qualities.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def differences(self) -> list[DiscardDifference]:
        """
        of every two qualities and each limit
        """

    @property
    def fnmr(self) -> float:
        """
        there, and of random discards
        """

    @property
    def genuine(self) -> int:
        """
        genuine comparisons
        """

    @property
    def impostor(self) -> int:
        """
        impostor comparisons
        """

    @property
    def measures(self) -> list[DiscardMeasure]:
        """
        in the order of the qualities
        """

    @property
    def oracle(self) -> RejectCurve:
        """
        empty where the threshold is chosen again
        """

    @property
    def samples(self) -> int:
        """
        samples that are compared
        """

    @property
    def threshold(self) -> float:
        """
        before anything is discarded
        """

class EvaluationOptions:
    """
    How a protocol is evaluated.

    Fields:
        convention (text, optional): how the numbers are computed (see: facebench list conventions); default: the protocol's
        accuracy_convention (text, optional): how the accuracy is computed; default: as the convention says
        tar_at_far_convention (text, optional): how a TAR at a FAR is computed; default: as the convention says
        identification_convention (text, optional): how a DIR at an FPIR is computed; default: as the convention says
        rank_ties (text, optional): the rank of a mate with the same score as other people: pessimistic, optimistic, expected; default: the protocol's, else pessimistic
        failed_enrolments (text, optional): what a failed enrolment scores; default: the protocol's
        interval (text, optional): how confidence intervals are made; default: the protocol's
        fusion (text, optional): how the embeddings of a template become one (see: facebench list fusions); default: the protocol's
        match (text, optional): how the names of embeddings are those of the lists: exact, stem (the file name alone), suffix (theirs end with ours); default: the protocol's
        replicates (integer, default 1000): bootstrap replicates
        level (number, default 0.95): level of the intervals
        seed (integer, default 0): seed of the bootstrap
        stored_scores (integer, default 100000000): comparisons of a track up to which all scores are kept; of more, the genuine and the highest impostor ones and a histogram (every image with every other), or the outcome of each search
        strict (boolean, default false): any failed enrolment and any blemish of the lists is an error
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        convention: str | None = ...,
        accuracy_convention: str | None = ...,
        tar_at_far_convention: str | None = ...,
        identification_convention: str | None = ...,
        rank_ties: str | None = ...,
        failed_enrolments: str | None = ...,
        interval: str | None = ...,
        fusion: str | None = ...,
        match: str | None = ...,
        replicates: int = ...,
        level: float = ...,
        seed: int = ...,
        stored_scores: int = ...,
        strict: bool = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    convention: str | None
    "how the numbers are computed (see: facebench list conventions); default: the protocol's"
    accuracy_convention: str | None
    "how the accuracy is computed; default: as the convention says"
    tar_at_far_convention: str | None
    "how a TAR at a FAR is computed; default: as the convention says"
    identification_convention: str | None
    "how a DIR at an FPIR is computed; default: as the convention says"
    rank_ties: str | None
    "the rank of a mate with the same score as other people: pessimistic, optimistic, expected; default: the protocol's, else pessimistic"
    failed_enrolments: str | None
    "what a failed enrolment scores; default: the protocol's"
    interval: str | None
    "how confidence intervals are made; default: the protocol's"
    fusion: str | None
    "how the embeddings of a template become one (see: facebench list fusions); default: the protocol's"
    match: str | None
    "how the names of embeddings are those of the lists: exact, stem (the file name alone), suffix (theirs end with ours); default: the protocol's"
    replicates: int
    "bootstrap replicates"
    level: float
    "level of the intervals"
    seed: int
    "seed of the bootstrap"
    stored_scores: int
    "comparisons of a track up to which all scores are kept; of more, the genuine and the highest impostor ones and a histogram (every image with every other), or the outcome of each search"
    strict: bool
    "any failed enrolment and any blemish of the lists is an error"

class ProtocolSpec:
    """
    A protocol as its TOML states it.
    """

    def __repr__(self) -> str: ...
    @property
    def about(self) -> dict:
        """
        What the protocol's page says: files, ask, failures, paper, notes.
        """

    @property
    def citations(self) -> list[str]: ...
    @property
    def convention(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def expected(self) -> list:
        """
        The counts of the official lists, one dict per track.
        """

    @property
    def failed_enrolments(self) -> str: ...
    @property
    def files(self) -> list[str]:
        """
        The list files that it reads.
        """

    @property
    def fusion(self) -> str:
        """
        Empty for protocols without templates.
        """

    @property
    def id(self) -> str: ...
    @property
    def image_folders(self) -> list[str]: ...
    @property
    def interval(self) -> str: ...
    @property
    def list_folders(self) -> list[str]: ...
    @property
    def match(self) -> str: ...
    @property
    def metrics(self) -> list: ...
    @property
    def reader(self) -> str: ...
    @property
    def sha256(self) -> str:
        """
        SHA-256 of the text.
        """

    @property
    def summary(self) -> str:
        """
        'mean' over the tracks, or 'none'.
        """

    @property
    def text(self) -> str:
        """
        The TOML itself.
        """

    @property
    def title(self) -> str: ...
    @property
    def version(self) -> int: ...

class Trials:
    """
    What is compared with what.
    """

    @property
    def kind(self) -> str: ...

class ListedTrials(Trials):
    """
    A list of comparisons.
    """

    def __len__(self) -> int: ...
    @property
    def comparisons(self) -> numpy.ndarray:
        """
        int32 (N, 2), indices of units.
        """

    @property
    def fold(self) -> numpy.ndarray:
        """
        int32 (N), or empty.
        """

    @property
    def genuine(self) -> numpy.ndarray:
        """
        uint8 (N), 1 = genuine.
        """

class DenseTrials(Trials):
    """
    Every row unit with every column unit.
    """

    @property
    def columns(self) -> numpy.ndarray:
        """
        int32, units.
        """

    @property
    def mask(self) -> typing.Any:
        """
        uint8 (rows, columns): 0 not compared, 1 genuine, 2 impostor; None = by identity.
        """

    @property
    def rows(self) -> numpy.ndarray:
        """
        int32, units.
        """

    @property
    def triangle(self) -> bool:
        """
        Rows are the columns: each unordered pair once, nothing with itself.
        """

class MatrixTrials(Trials):
    """
    Two templates of each group for each subject.
    """

    @property
    def first(self) -> numpy.ndarray:
        """
        int32 (subjects, groups): template 1, the rows of the matrix.
        """

    @property
    def groups(self) -> list[str]: ...
    @property
    def second(self) -> numpy.ndarray:
        """
        int32 (subjects, groups): template 2, the columns.
        """

class IdentificationTrials(Trials):
    """
    Probes searched in a gallery.
    """

    @property
    def gallery(self) -> numpy.ndarray: ...
    @property
    def probes(self) -> numpy.ndarray: ...

class Track:
    """
    A part of a protocol with numbers of its own.
    """

    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def trials(self) -> typing.Any: ...

class Templates:
    """
    Samples fused into one embedding each.
    """

    def __len__(self) -> int: ...
    @property
    def begin(self) -> numpy.ndarray:
        """
        int64 (templates + 1): template t has samples begin[t] to begin[t + 1].
        """

    @property
    def identity(self) -> numpy.ndarray: ...
    @property
    def medium(self) -> numpy.ndarray: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def sample(self) -> numpy.ndarray: ...
    @property
    def score(self) -> numpy.ndarray:
        """
        float32, the score of each sample's detection; empty where the lists have none.
        """

class TrialSet:
    """
    Everything that the lists of a protocol say.
    """

    def counts(self, track: typing.SupportsInt = 0) -> dict:
        """
        What a track holds: comparisons, genuine, impostor, ...
        """

    @property
    def blemishes(self) -> typing.Any:
        """
        What is odd in the lists, one dict a kind: kind, count, first (file, line, what).
        """

    @property
    def identity(self) -> numpy.ndarray:
        """
        int32, per sample an index into identity_names.
        """

    @property
    def identity_names(self) -> list[str]: ...
    @property
    def lists(self) -> list: ...
    @property
    def names(self) -> list[str]:
        """
        Sample names, relative to the image folder.
        """

    @property
    def notes(self) -> list[str]: ...
    @property
    def templates(self) -> Templates: ...
    @property
    def tracks(self) -> list[Track]: ...

class ThresholdAtFar:
    """
    What the threshold for a FAR gives.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def at(self) -> TarAtFar:
        """
        the TAR there
        """

    @property
    def people(self) -> int:
        """
        that it rests on; 0 where that is not known
        """

class RankRate:
    """
    The identification rate at a rank.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def gallery_people(self) -> int:
        """
        in the gallery
        """

    @property
    def mated(self) -> int:
        """
        probes
        """

    @property
    def rank(self) -> int: ...
    @property
    def ties(self) -> str:
        """
        how equal scores rank
        """

class TrackMean:
    """
    A mean over tracks.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def mean_less_sd(self) -> float | None:
        """
        where the protocol asks for it
        """

    @property
    def sd(self) -> float:
        """
        of the tracks' values
        """

    @property
    def standard_error(self) -> float:
        """
        sd / sqrt(tracks)
        """

    @property
    def tracks(self) -> int:
        """
        how many
        """

class MetricBounds:
    """
    Where a number of all scores lies.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def high(self) -> float: ...
    @property
    def low(self) -> float: ...

class MatrixValue:
    """
    A matrix of numbers, row by row.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> dict: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: dict) -> None: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """

    @property
    def columns(self) -> list[str]:
        """
        labels
        """

    @property
    def intervals(self) -> list[Interval]:
        """
        one a number, or none
        """

    @property
    def rows(self) -> list[str]:
        """
        labels
        """

    @property
    def values(self) -> numpy.typing.NDArray[numpy.float64]: ...

class Number:
    """
    One number with the counts behind it.
    """

    def __getstate__(self) -> tuple: ...
    def __init__(self, number: Number) -> None: ...
    def __setstate__(self, arg0: tuple) -> None: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def details(self) -> typing.Any: ...
    @property
    def high(self) -> typing.Any: ...
    @property
    def interval(self) -> Interval | None:
        """
        None where there is none, and of a matrix.
        """

    @property
    def level(self) -> typing.Any: ...
    @property
    def low(self) -> typing.Any: ...
    @property
    def method(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def no_interval(self) -> str: ...
    @property
    def rows(self) -> list[str]: ...
    @property
    def value(self) -> typing.Any: ...

class TrackResult:
    """
    The numbers of one track.
    """

    def __getstate__(self) -> tuple: ...
    def __init__(self, track: TrackResult) -> None: ...
    def __setstate__(self, arg0: tuple) -> None: ...
    @property
    def comparisons(self) -> int: ...
    @property
    def counts(self) -> dict: ...
    @property
    def dropped(self) -> int: ...
    @property
    def failed(self) -> list:
        """
        (name, status) of every failed enrolment.
        """

    @property
    def failed_comparisons(self) -> int: ...
    @property
    def failure_to_enrol_rate(self) -> float: ...
    @property
    def genuine(self) -> int: ...
    @property
    def identities(self) -> int: ...
    @property
    def impostor(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def left_out(self) -> list:
        """
        (name, status) of every failed sample of a template that has others.
        """

    @property
    def name(self) -> str: ...
    @property
    def numbers(self) -> list[Number]: ...
    @property
    def samples(self) -> int: ...
    @property
    def templates(self) -> int: ...

class Result:
    """
    The result of an evaluation.
    """

    def __getstate__(self) -> tuple: ...
    def __setstate__(self, arg0: tuple) -> None: ...
    def add_input(self, role: str, path: os.PathLike | str | bytes) -> None:
        """
        Record a file that decided the numbers.
        """

    def add_note(self, note: str) -> None:
        """
        A sentence that stands with the notes about the lists.
        """

    def add_warning(self, warning: str) -> None:
        """
        A sentence that stands before the numbers.
        """

    def labelled_scores(self, track: typing.SupportsInt = 0) -> tuple:
        """
        (scores, labels) of every comparison of a track.
        """

    def metrics(self) -> typing.Any:
        """
        The content of metrics.json.
        """

    @property
    def notes(self) -> list[str]: ...
    @property
    def options(self) -> EvaluationOptions: ...
    @property
    def scores(self) -> list:
        """
        Per track, in the shape of its kind: float64 for lists and matrices, else float32. Where not
        all are kept: the ScoreTail of a dense track, the Searches of an identification.
        """

    @property
    def spec(self) -> ProtocolSpec: ...
    @property
    def tracks(self) -> list[TrackResult]: ...
    @property
    def trials(self) -> TrialSet: ...
    @property
    def warnings(self) -> list[str]: ...

class SyntheticIjbOptions:
    """
    Lists with the structure of IJB-B or IJB-C, without images.

    Fields:
        like (text, default ijbc): the set whose lists are made
        scale (number, default 1): of templates and faces; comparisons go with its square
        dim (integer, default 0): numbers of an embedding, written to embeddings.h5; 0 = lists alone
        seed (integer, default 0): which lists, which embeddings
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self, *, like: str = ..., scale: float = ..., dim: int = ..., seed: int = ...
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    like: str
    "the set whose lists are made"
    scale: float
    "of templates and faces; comparisons go with its square"
    dim: int
    "numbers of an embedding, written to embeddings.h5; 0 = lists alone"
    seed: int
    "which lists, which embeddings"

class ClaimOptions:
    """
    What a printed number is about.

    Fields:
        metric (text, default accuracy): what the number is: accuracy, far, tar@far=F or rate
        track (text, optional): track of the protocol; default: its only one
        genuine (integer, optional): genuine comparisons; default: the protocol's
        impostor (integer, optional): impostor comparisons; default: the protocol's
        folds (integer, optional): folds of equal size; default: the protocol's
        level (number, default 0.95): level at which two claims are told apart
        power (number, default 0.8): probability of seeing the difference
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        metric: str = ...,
        track: str | None = ...,
        genuine: int | None = ...,
        impostor: int | None = ...,
        folds: int | None = ...,
        level: float = ...,
        power: float = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    metric: str
    "what the number is: accuracy, far, tar@far=F or rate"
    track: str | None
    "track of the protocol; default: its only one"
    genuine: int | None
    "genuine comparisons; default: the protocol's"
    impostor: int | None
    "impostor comparisons; default: the protocol's"
    folds: int | None
    "folds of equal size; default: the protocol's"
    level: float
    "level at which two claims are told apart"
    power: float
    "probability of seeing the difference"

class GroupReportOptions:
    """
    Which groups, and at which threshold.

    Fields:
        column (text, optional): column with the groups; default: the second
        key (text, optional): column that names people or photographs; default: the first
        track (text, optional): track of the run; default: its only verification
        threshold (number, optional): accept scores of at least this; default: what gives the FAR
        far (number, default 0.001): FAR over all groups that sets the threshold
        impostors (text, default all): all, or matched: impostor comparisons within a group alone
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        column: str | None = ...,
        key: str | None = ...,
        track: str | None = ...,
        threshold: float | None = ...,
        far: float = ...,
        impostors: str = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    column: str | None
    "column with the groups; default: the second"
    key: str | None
    "column that names people or photographs; default: the first"
    track: str | None
    "track of the run; default: its only verification"
    threshold: float | None
    "accept scores of at least this; default: what gives the FAR"
    far: float
    "FAR over all groups that sets the threshold"
    impostors: str
    "all, or matched: impostor comparisons within a group alone"

class ThresholdReportOptions:
    """
    Which threshold is recommended, and where it is tested.

    Fields:
        fmr (number, default 0.001): FMR that is wanted
        track (text, optional): track of the runs; default: the only verification
        same (boolean, default false): test on the comparisons that the threshold is made on
        replicates (integer, default 1000): resampled data sets
        level (number, default 0.95): confidence level, one-sided of the bound and two-sided of the intervals
        seed (integer, default 0): seed of the resampling
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        fmr: float = ...,
        track: str | None = ...,
        same: bool = ...,
        replicates: int = ...,
        level: float = ...,
        seed: int = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    fmr: float
    "FMR that is wanted"
    track: str | None
    "track of the runs; default: the only verification"
    same: bool
    "test on the comparisons that the threshold is made on"
    replicates: int
    "resampled data sets"
    level: float
    "confidence level, one-sided of the bound and two-sided of the intervals"
    seed: int
    "seed of the resampling"

class CalibrationOptions:
    """
    How scores become likelihood ratios, and where that is tested.

    Fields:
        method (text, default logistic): logistic (a line) or pav (rising steps)
        prior (number, default 0.5): share of genuine comparisons that errors assume
        bins (integer, default 15): of the calibration error
        track (text, optional): track of the runs; default: the only verification
        same (boolean, default false): test on the comparisons that the calibration is made on
        replicates (integer, default 1000): resampled data sets
        level (number, default 0.95): confidence level of the intervals
        seed (integer, default 0): seed of the resampling
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        method: str = ...,
        prior: float = ...,
        bins: int = ...,
        track: str | None = ...,
        same: bool = ...,
        replicates: int = ...,
        level: float = ...,
        seed: int = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    method: str
    "logistic (a line) or pav (rising steps)"
    prior: float
    "share of genuine comparisons that errors assume"
    bins: int
    "of the calibration error"
    track: str | None
    "track of the runs; default: the only verification"
    same: bool
    "test on the comparisons that the calibration is made on"
    replicates: int
    "resampled data sets"
    level: float
    "confidence level of the intervals"
    seed: int
    "seed of the resampling"

class PlanOptions:
    """
    What is to be shown.

    Fields:
        fmr (number, default 0.0001): FMR that is to be bounded
        difference (number, default 0.005): difference of two systems' FNMR to be shown
        likeness (number, default 0): correlation of two systems' errors on the same comparison; 0 asks for the most data
        far (number, default 0.001): FAR that sets the threshold of FNMR
        level (number, default 0.95): confidence level
        power (number, default 0.8): probability that the difference is shown
        track (text, optional): track of the run; default: its only verification
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        fmr: float = ...,
        difference: float = ...,
        likeness: float = ...,
        far: float = ...,
        level: float = ...,
        power: float = ...,
        track: str | None = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    fmr: float
    "FMR that is to be bounded"
    difference: float
    "difference of two systems' FNMR to be shown"
    likeness: float
    "correlation of two systems' errors on the same comparison; 0 asks for the most data"
    far: float
    "FAR that sets the threshold of FNMR"
    level: float
    "confidence level"
    power: float
    "probability that the difference is shown"
    track: str | None
    "track of the run; default: its only verification"

class InspectionOptions:
    """
    What is listed, and at which threshold.

    Fields:
        count (integer, default 20): how many of each
        track (text, optional): track of the run; default: its only verification
        threshold (number, optional): accept scores of at least this; default: what gives the FAR
        far (number, default 0.001): FAR that sets the threshold
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        count: int = ...,
        track: str | None = ...,
        threshold: float | None = ...,
        far: float = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    count: int
    "how many of each"
    track: str | None
    "track of the run; default: its only verification"
    threshold: float | None
    "accept scores of at least this; default: what gives the FAR"
    far: float
    "FAR that sets the threshold"

class GalleryOptions:
    """
    Which galleries are drawn.

    Fields:
        sizes (integers, default []): people in the gallery; default: 1/16 to 1/2 of them
        fpir (numbers, default [0.01, 0.1]): FPIRs that set the threshold
        draws (integer, default 50): draws of the gallery
        extrapolate (integers, default []): larger sizes to extrapolate to
        level (number, default 0.95): share of the draws that a range holds
        seed (integer, default 0): seed of the draws
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        sizes: collections.abc.Sequence[int] = ...,
        fpir: collections.abc.Sequence[float] = ...,
        draws: int = ...,
        extrapolate: collections.abc.Sequence[int] = ...,
        level: float = ...,
        seed: int = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    sizes: collections.abc.Sequence[int]
    "people in the gallery; default: 1/16 to 1/2 of them"
    fpir: collections.abc.Sequence[float]
    "FPIRs that set the threshold"
    draws: int
    "draws of the gallery"
    extrapolate: collections.abc.Sequence[int]
    "larger sizes to extrapolate to"
    level: float
    "share of the draws that a range holds"
    seed: int
    "seed of the draws"

def _constructed(object: typing.Any) -> bool:
    """
    Whether the __init__ of an object of this package has succeeded.
    """

def _options_of(arg0: typing.Any, arg1: dict) -> typing.Any: ...
@typing.overload
def accuracy(
    comparisons: Comparisons, convention: str = "exact", weights: typing.Any | None = None
) -> Accuracy:
    """
    Verification accuracy by folds: each fold's threshold is chosen on the other folds.

    >>> from facebench.metrics import accuracy
    >>> result = accuracy([0.9, 0.2, 0.8, 0.1, 0.7, 0.75], [1, 0, 1, 0, 1, 0], [0, 0, 1, 1, 2, 2])
    >>> round(result.value, 4), result.wrong
    (0.8333, 1)
    """

@typing.overload
def accuracy(
    scores: typing.Any,
    labels: typing.Any,
    folds: typing.Any,
    convention: str = "exact",
    weights: typing.Any | None = None,
) -> Accuracy: ...
def accuracy_conventions() -> list:
    """
    The known conventions: name, doc, source, cosine_only, spread.

    >>> from facebench.metrics import accuracy_conventions
    >>> [c['name'] for c in accuracy_conventions()][:3]
    ['exact', 'facenet', 'insightface']
    """

def accuracy_statistic(comparisons: Comparisons, convention: str = "exact") -> Statistic:
    """
    The accuracy by folds, thresholds chosen again in each replicate.
    """

def active_isa() -> str:
    """
    The instruction set in use: 'plain', 'avx2' or 'avx512'.
    """

def against(
    runs: collections.abc.Sequence[os.PathLike | str | bytes],
    publication: str,
    stated: collections.abc.Mapping[str, str],
    titles: collections.abc.Sequence[str],
) -> typing.Any: ...
def all_pairs(
    rows: typing.Any,
    identities: typing.Any,
    columns: typing.Any | None = None,
    column_identities: typing.Any | None = None,
    *,
    options: AllPairsOptions = ...,
    threads: typing.SupportsInt = 0,
    progress: typing.Any | None = None,
) -> ScoreTail:
    """
    Scores every row with every column (or every two rows) by cosine without storing the
    scores, and keeps what the TAR at a FAR takes, exactly as if all had been scored in double
    and sorted. A comparison is genuine where the identities are equal.

    rows, columns: as for listed_pair_scores. options: AllPairsOptions(far, bins). Bounded
    memory (at most 1 GB beside the embeddings at 1e10 comparisons); Ctrl-C stops it.

    >>> from facebench.metrics import AllPairsOptions, all_pairs, tar_at_far
    >>> people = [[1, 0], [0.9, 0.1], [0, 1], [0.3, 1]]
    >>> tail = all_pairs(people, [7, 7, 8, 8], options=AllPairsOptions(far=0.25))
    >>> tar_at_far(tail, 0.25).value, tail.impostor_count
    (1.0, 4)
    """

@typing.overload
def auc(comparisons: Comparisons, weights: typing.Any | None = None) -> float:
    """
    Area under the ROC curve: P(genuine > impostor), ties one half.

    >>> from facebench.metrics import auc
    >>> auc([0.9, 0.8, 0.8, 0.1], [1, 1, 0, 0])
    0.875
    """

@typing.overload
def auc(scores: typing.Any, labels: typing.Any, weights: typing.Any | None = None) -> float: ...
def auc_statistic(comparisons: Comparisons) -> Statistic:
    """
    The AUC, for the bootstrap.
    """

def available_processors() -> int:
    """
    Processors this process may use (affinity and cgroup quota respected).
    """

def blemish_rules() -> list: ...
def calibration_methods() -> list: ...
def calibration_report(
    run: os.PathLike | str | bytes,
    test: os.PathLike | str | bytes,
    options: CalibrationOptions,
    threads: typing.SupportsInt,
    progress: typing.Any,
) -> tuple: ...
def canonical_json(value: typing.Any) -> str: ...
def centred_accuracy(
    first: typing.Any,
    second: typing.Any,
    labels: typing.Any,
    folds: typing.Any,
    convention: str = "sphereface",
) -> Accuracy:
    """
    Accuracy of cosines of embeddings minus the mean of the training folds, as SphereFace and
    MagFace compute it. first, second: the two embeddings of each comparison, one a row.

    >>> from facebench.metrics import centred_accuracy
    >>> first = [[1.0, 0.1], [0.0, 1.0], [1.0, 0.0], [0.1, 1.0]]
    >>> second = [[0.9, 0.0], [1.0, 0.0], [1.0, 0.2], [0.9, 0.1]]
    >>> centred_accuracy(first, second, [1, 0, 1, 0], [0, 0, 1, 1]).value
    1.0
    """

def check_claim(
    printed: str, protocol: ProtocolSpec, options: ClaimOptions, against: str
) -> typing.Any: ...
def check_data(
    protocol: ProtocolSpec,
    root: os.PathLike | str | bytes,
    images: os.PathLike | str | bytes,
    lists: os.PathLike | str | bytes,
) -> tuple: ...
def check_run(
    run: os.PathLike | str | bytes,
    rules: os.PathLike | str | bytes,
    threads: typing.SupportsInt = 0,
) -> list: ...
@typing.overload
def cllr(comparisons: Comparisons, weights: typing.Any | None = None) -> float:
    """
    Cost of log-likelihood ratios in bits: 0 perfect, 1 no evidence, above 1 misleading.

    scores: natural-logarithm likelihood ratios; for cosines use min_cllr.

    >>> from facebench.metrics import cllr
    >>> cllr([0.0, 0.0], [1, 0])
    1.0
    """

@typing.overload
def cllr(scores: typing.Any, labels: typing.Any, weights: typing.Any | None = None) -> float: ...
def closest_name(name: str, known: collections.abc.Sequence[str]) -> str:
    """
    The known name that `name` was probably meant to be, or ''.
    """

def cmc(searches: Searches, ties: str = "pessimistic", weights: typing.Any | None = None) -> Cmc:
    """
    Closed-set identification: the share of mated probes whose mate has rank <= k.

    ties: what rank a mate with the same score as others gets, a name in rank_ties().
    weights: one a probe.

    >>> from facebench.metrics import Searches, cmc
    >>> s = Searches([[0.9, 0.2], [0.4, 0.3]], [1, 2], [1, 2])
    >>> cmc(s).rate.tolist()
    [0.5, 1.0]
    """

def compare_paired(
    a: typing.Any,
    b: typing.Any,
    first: typing.Any,
    second: typing.Any,
    folds: typing.Any | None = None,
    *,
    resampling: str = "dyadic",
    options: BootstrapOptions = ...,
    threads: typing.SupportsInt = 0,
    progress: typing.Any | None = None,
) -> typing.Any:
    """
    Difference of two systems on the same comparisons, with its interval and p-value.

    a, b: a Statistic of each system (or lists, pair by pair) over the same comparisons in the
    same order. first, second, folds: as for component_bootstrap. resampling: 'dyadic',
    'components' or 'vertices'.

    >>> from facebench.metrics import Comparisons, auc_statistic, compare_paired
    >>> labels, people = [1, 1, 0, 0, 1, 0], [0, 1, 2, 4, 6, 7]
    >>> a = auc_statistic(Comparisons([0.9, 0.3, 0.4, 0.1, 0.5, 0.2], labels))
    >>> b = auc_statistic(Comparisons([0.9, 0.3, 0.4, 0.1, 0.5, 0.2], labels))
    >>> d = compare_paired(a, b, people, [0, 1, 3, 5, 6, 8], resampling='components')
    >>> d.value, d.p_value
    (0.0, 1.0)
    """

def compiler() -> str:
    """
    The compiler that built the library.
    """

def component_bootstrap(
    statistics: typing.Any,
    first: typing.Any,
    second: typing.Any,
    folds: typing.Any | None = None,
    *,
    options: BootstrapOptions = ...,
    threads: typing.SupportsInt = 0,
    progress: typing.Any | None = None,
) -> typing.Any:
    """
    Interval for sparse lists whose folds share nobody (LFW), as earlier versions made it:
    resamples, within folds, the connected components of the identity graph.

    statistics: one Statistic, or a list (one interval each, from the same replicates);
    a Python function of the weights works too. first, second: identity numbers of each
    comparison. The same bits for any number of threads.

    >>> from facebench.metrics import Comparisons, auc_statistic, component_bootstrap
    >>> c = Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0])
    >>> i = component_bootstrap(auc_statistic(c), [0, 1, 2, 4], [0, 1, 3, 5])
    >>> i.method, 0 <= i.low <= 0.75 <= i.high <= 1
    ('component_bootstrap_logit_t', True)
    """

def confine_readers(on: bool) -> bool: ...
def connected_components(
    first: typing.Any, second: typing.Any, folds: typing.Any | None = None
) -> Components:
    """
    Components of the identity graph (identities joined by comparisons) within each fold.

    >>> from facebench.metrics import connected_components
    >>> connected_components([0, 1, 2], [1, 1, 3]).of_comparison.tolist()
    [0, 0, 1]
    """

def convention_text(options: dict) -> str: ...
def conventions() -> list: ...
def cuda_devices() -> dict:
    """
    The CUDA devices: {'devices': [{name, model, memory_bytes, compute_capability}], 'reason'};
    where there are none, 'reason' says why.
    """

def curves_of(result: Result, track: typing.SupportsInt) -> dict: ...
def dense_scores(
    rows: typing.Any,
    columns: typing.Any | None = None,
    *,
    threads: typing.SupportsInt = 0,
    progress: typing.Any | None = None,
) -> numpy.typing.NDArray[numpy.float32]:
    """
    The cosine of every row with every column: (N, M) float32, the cosine in double rounded once.

    Arguments as for listed_pair_scores; without columns every row with every row.

    >>> from facebench.metrics import dense_scores
    >>> dense_scores([[2, 0], [0, 3]], [[0, 1]]).tolist()
    [[0.0], [1.0]]
    """

@typing.overload
def det(comparisons: Comparisons, weights: typing.Any | None = None) -> DetCurve:
    """
    The DET curve; plot normal_quantile of both rates for its usual axes.

    >>> from facebench.metrics import det
    >>> curve = det([0.9, 0.8, 0.8, 0.1], [1, 1, 0, 0])
    >>> curve.fmr.tolist(), curve.fnmr.tolist()
    ([0.0, 0.0, 0.5, 1.0], [1.0, 0.5, 0.0, 0.0])
    """

@typing.overload
def det(scores: typing.Any, labels: typing.Any, weights: typing.Any | None = None) -> DetCurve: ...
def difference_kinds() -> dict: ...
def dir_at_fpir(
    searches: Searches,
    fpir: typing.SupportsFloat,
    rank: typing.SupportsInt = 1,
    convention: str = "exact",
    weights: typing.Any | None = None,
) -> DirAtFpir:
    """
    Detection and identification rate at a false positive identification rate.

    The non-mated probes set the threshold; by default the FPIR never exceeds its target. rank:
    the worst rank of the mate that counts, 0 = any. weights: one a probe.

    >>> from facebench.metrics import Searches, dir_at_fpir
    >>> s = Searches([[0.9, 0.2], [0.4, 0.3]], [1, 7], [1, 2])
    >>> cell = dir_at_fpir(s, fpir=0.1)
    >>> cell.value, cell.fnir, cell.false_positives, cell.reliable
    (1.0, 0.0, 0, False)
    """

def dir_at_fpir_statistic(
    searches: Searches,
    fpir: typing.SupportsFloat,
    rank: typing.SupportsInt = 1,
    convention: str = "exact",
) -> Statistic:
    """
    The DIR at an FPIR, threshold chosen again in each replicate; see rank_rate_statistic.
    """

def dprime(scores: typing.Any, labels: typing.Any) -> float:
    """
    d' = (mean genuine - mean impostor) / sqrt(mean of the two variances).

    >>> from facebench.metrics import dprime
    >>> dprime([3, 5, 0, 2], [1, 1, 0, 0])
    2.1213203435596424
    """

def dyadic_bootstrap(
    statistics: typing.Any,
    first: typing.Any,
    second: typing.Any,
    folds: typing.Any | None = None,
    *,
    options: BootstrapOptions = ...,
    threads: typing.SupportsInt = 0,
    progress: typing.Any | None = None,
) -> typing.Any:
    """
    Interval for any comparisons, sparse or dense, whoever is shared: each person counts twice
    or not at all, in opposed pairs of replicates. Student's t on the logit scale. Arguments as
    for component_bootstrap; folds are not used.

    >>> from facebench.metrics import Comparisons, auc_statistic, dyadic_bootstrap
    >>> c = Comparisons([0.9, 0.3, 0.7, 0.4, 0.1, 0.2], [1, 1, 1, 0, 0, 0])
    >>> i = dyadic_bootstrap(auc_statistic(c), [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2])
    >>> i.method
    'dyadic_bootstrap_logit_t'
    """

@typing.overload
def eer(comparisons: Comparisons, weights: typing.Any | None = None) -> float:
    """
    Equal error rate, linear between neighbouring exact ROC points.

    >>> from facebench.metrics import eer
    >>> eer([0.9, 0.8, 0.7, 0.1], [1, 0, 1, 0])
    0.5
    """

@typing.overload
def eer(scores: typing.Any, labels: typing.Any, weights: typing.Any | None = None) -> float: ...
@typing.overload
def eer_convex_hull(comparisons: Comparisons, weights: typing.Any | None = None) -> float:
    """
    Equal error rate on the convex hull of the ROC curve.

    >>> from facebench.metrics import eer_convex_hull
    >>> eer_convex_hull([0.9, 0.8, 0.7, 0.1], [1, 0, 1, 0])
    0.25
    """

@typing.overload
def eer_convex_hull(
    scores: typing.Any, labels: typing.Any, weights: typing.Any | None = None
) -> float: ...
def eer_statistic(comparisons: Comparisons) -> Statistic:
    """
    The EER, for the bootstrap.
    """

def error_versus_abstain(
    scores: typing.Any, labels: typing.Any, threshold: typing.SupportsFloat
) -> RejectCurve:
    """
    All errors, comparisons whose score is nearest to the threshold set aside first.

    >>> from facebench.metrics import error_versus_abstain
    >>> error_versus_abstain([0.4, 0.9, 0.2], [1, 1, 0], 0.5).wrong.tolist()
    [1, 0, 0]
    """

def error_versus_discard(
    scores: typing.Any,
    labels: typing.Any,
    first_sample: typing.Any,
    second_sample: typing.Any,
    person: typing.Any,
    qualities: dict,
    options: DiscardOptions = ...,
    threads: typing.SupportsInt = 0,
    progress: typing.Any | None = None,
) -> DiscardResult:
    """
    The FNMR that remains when samples of low quality are left out.

    scores, labels, first_sample, second_sample: of the comparisons. person: of each sample.
    qualities: {name: values of each sample, higher = better}. Equal qualities go together.
    Sources: Grother & Tabassi, IEEE TPAMI 2007; Schlett et al., 2023.

    >>> from facebench.metrics import DiscardOptions, error_versus_discard
    >>> r = error_versus_discard([.2, .9, .8, .1], [1, 1, 1, 0], [0, 2, 4, 0], [1, 3, 5, 2],
    ...                          [0, 0, 1, 1, 2, 2], {'q': [1, 5, 6, 6, 7, 8]},
    ...                          DiscardOptions(threshold=.5))
    >>> [round(float(e), 3) for e in r.measures[0].curve.error], r.measures[0].areas[0].gain
    ([0.333, 0.0, 0.0], nan)
    """

def error_versus_reject(wrong: typing.Any, quality: typing.Any) -> RejectCurve:
    """
    wrong: 1 where a comparison is decided wrongly; quality: higher = better. Equal qualities
    are set aside together.

    >>> from facebench.metrics import error_versus_reject
    >>> curve = error_versus_reject([1, 0, 0, 1], [0.1, 0.5, 0.9, 0.5])
    >>> curve.rejected.tolist(), curve.wrong.tolist()
    ([0.0, 0.25, 0.75], [2, 1, 0])
    """

def evaluate_embeddings(
    protocol: ProtocolSpec,
    trials: TrialSet,
    embeddings: EmbeddingSet,
    options: EvaluationOptions,
    threads: typing.SupportsInt,
    progress: typing.Any,
) -> Result: ...
def evaluate_file(
    protocol: ProtocolSpec,
    trials: TrialSet,
    path: os.PathLike | str | bytes,
    options: EvaluationOptions,
    threads: typing.SupportsInt,
    progress: typing.Any,
) -> Result: ...
def evaluate_scores(
    protocol: ProtocolSpec,
    trials: TrialSet,
    scores: typing.Any,
    status: collections.abc.Sequence[typing.SupportsInt],
    options: EvaluationOptions,
    threads: typing.SupportsInt,
    progress: typing.Any,
) -> Result: ...
def expected_calibration_error(
    scores: typing.Any,
    labels: typing.Any,
    prior: typing.SupportsFloat = 0.5,
    bins: typing.SupportsInt = 15,
) -> float:
    """
    Mean distance of posteriors from shares of genuine comparisons, in bins; scores as cllr.

    >>> from facebench.metrics import expected_calibration_error
    >>> expected_calibration_error([0., 0.], [1, 0])
    0.0
    """

def expected_count_names() -> list: ...
def explain(
    a: os.PathLike | str | bytes,
    b: os.PathLike | str | bytes,
    options: BootstrapOptions,
    threads: typing.SupportsInt,
    progress: typing.Any,
) -> typing.Any: ...
def failure_policies() -> list: ...
def find_images(
    protocol: ProtocolSpec,
    trials: TrialSet,
    root: os.PathLike | str | bytes,
    images: os.PathLike | str | bytes,
) -> pathlib.Path: ...
def fit_calibrator(
    scores: typing.Any, labels: typing.Any, method: str = "logistic"
) -> ScoreCalibrator:
    """
    A map from scores of any unit to log likelihood ratios, fitted to these comparisons.

    >>> from facebench.metrics import fit_calibrator
    >>> c = fit_calibrator([1., 2., 1., 0.], [1, 1, 0, 0])
    >>> abs(round(float(c.apply([1.0])[0]), 6))
    0.0
    """

def fit_vertex_model(wrong: typing.Any, first: typing.Any, second: typing.Any) -> VertexModel:
    """
    How errors of comparisons that share a person correlate.

    >>> from facebench.metrics import fit_vertex_model
    >>> fit_vertex_model([1, 1, 0, 0], [0, 0, 2, 3], [1, 4, 5, 6]).effective
    2.6666666666666665
    """

def fmr_statistic(comparisons: Comparisons, threshold: typing.SupportsFloat) -> Statistic:
    """
    The FMR at a threshold, for the bootstrap.
    """

def fnmr_at_fmr(
    comparisons: Comparisons,
    fmr: typing.SupportsFloat,
    convention: str = "exact",
    weights: typing.Any | None = None,
) -> FnmrAtFmr:
    """
    tar_at_far() in the names of ISO/IEC 19795-1: false non-match rate at a false match rate.

    >>> from facebench.metrics import Comparisons, fnmr_at_fmr
    >>> fnmr_at_fmr(Comparisons([0.9, 0.8, 0.7, 0.1], [1, 0, 1, 0]), fmr=0.1).value
    0.5
    """

def fnmr_statistic(comparisons: Comparisons, threshold: typing.SupportsFloat) -> Statistic:
    """
    The FNMR at a threshold, for the bootstrap.
    """

def fnmr_versus_reject(
    scores: typing.Any, labels: typing.Any, quality: typing.Any, threshold: typing.SupportsFloat
) -> RejectCurve:
    """
    False non-matches at a fixed threshold when pairs of low quality are rejected.
    quality: of each comparison, of two images the lower one's.

    >>> from facebench.metrics import fnmr_versus_reject
    >>> fnmr_versus_reject([0.1, 0.9, 0.2], [1, 1, 0], [0.1, 0.9, 0.5], 0.5).error.tolist()
    [0.5, 0.0]
    """

def force_isa(name: str) -> None:
    """
    Choose the instruction set for the whole process. ValueError where the processor lacks it.
    """

def gallery_sizes(
    embeddings: EmbeddingSet,
    people: collections.abc.Sequence[typing.SupportsInt],
    options: GalleryOptions,
    threads: typing.SupportsInt,
    progress: typing.Any,
) -> typing.Any: ...
def group_measures() -> list:
    """
    Every measure of inequality: name, doc, source.

    >>> from facebench.metrics import group_measures
    >>> [m['name'] for m in group_measures()][:2]
    ['fmr_ratio', 'fnmr_ratio']
    """

def group_rates(
    scores: typing.Any,
    labels: typing.Any,
    first_person: typing.Any,
    second_person: typing.Any,
    first_group: typing.Any,
    second_group: typing.Any,
    groups: collections.abc.Sequence[str],
    threshold: typing.SupportsFloat,
    *,
    unknown: typing.SupportsInt = -1,
    options: GroupRatesOptions = ...,
    threads: typing.SupportsInt = 0,
    progress: typing.Any | None = None,
) -> GroupRates:
    """
    FMR of every pair of groups and FNMR of every group at one threshold, with intervals.

    scores, labels: of the comparisons. first_person, ..., second_group: numbers of both sides'
    people and groups, from 0. groups: the groups' names; unknown: the number of the group whose
    members are not known, which the measures of inequality leave out.

    >>> from facebench.metrics import group_rates
    >>> r = group_rates([.9, .4, .6, .1], [1, 1, 0, 0], [0, 2, 0, 2], [0, 2, 1, 3],
    ...                 [0, 1, 0, 1], [0, 1, 0, 1], ['a', 'b'], 0.5)
    >>> [(c.errors, c.comparisons) for c in r.fmr_cells]
    [(1, 1), (0, 1)]
    """

def group_report(
    run: os.PathLike | str | bytes,
    attributes: os.PathLike | str | bytes,
    options: GroupReportOptions,
    rates: GroupRatesOptions,
    other: os.PathLike | str | bytes,
    threads: typing.SupportsInt,
    progress: typing.Any,
) -> typing.Any: ...
def histogram(
    scores: typing.Any, labels: typing.Any, bins: typing.SupportsInt = 100
) -> ScoreHistogram:
    """
    Counts of both classes in equal bins from the lowest to the highest score.
    """

def holm_adjusted(p_values: collections.abc.Sequence[typing.SupportsFloat]) -> list[float]: ...
def identification_conventions() -> list:
    """
    The known conventions: name, doc, source, needs_non_mated, rank (None: the caller's).

    >>> from facebench.metrics import identification_conventions
    >>> [c['name'] for c in identification_conventions()]
    ['exact', 'ijb_1n', 'ijb_evals']
    """

def identification_curve(
    searches: Searches, rank: typing.SupportsInt = 1, weights: typing.Any | None = None
) -> IdentificationCurve:
    """
    DIR and FPIR at every threshold. rank: the worst that counts, 0 = any.

    >>> from facebench.metrics import Searches, identification_curve
    >>> s = Searches([[0.9, 0.2], [0.4, 0.3]], [1, 7], [1, 2])
    >>> curve = identification_curve(s)
    >>> curve.dir.tolist(), curve.fpir.tolist()
    ([0.0, 1.0, 1.0], [0.0, 0.0, 1.0])
    """

def ijb_label(label: str, script: str) -> dict: ...
def ijb_scripts() -> list: ...
def inspect_run(
    run: os.PathLike | str | bytes,
    other: os.PathLike | str | bytes,
    people: collections.abc.Sequence[str],
    attributes: os.PathLike | str | bytes,
    group: str | None,
    qualities: os.PathLike | str | bytes,
    quality_below: typing.SupportsFloat | None,
    column: str | None,
    options: InspectionOptions,
) -> tuple: ...
def interval_methods() -> list: ...
def limited(trials: TrialSet, limit: typing.SupportsInt) -> TrialSet: ...
def list_conditions() -> list: ...
def list_erratum_kinds() -> list[str]: ...
def list_published_units() -> list[str]: ...
def listed_pair_scores(
    rows: typing.Any,
    first: typing.Any,
    second: typing.Any,
    columns: typing.Any | None = None,
    *,
    threads: typing.SupportsInt = 0,
    progress: typing.Any | None = None,
) -> numpy.typing.NDArray[numpy.float64]:
    """
    The cosine of row first[i] with row second[i] (of columns, where given), in double.

    rows, columns: (N, D) embeddings, float32 (others are converted), of any length. Numpy,
    torch (CPU), DLPack. The same bits on every processor and for any number of threads.
    ValueError or IndexError for wrong use, facebench.Error for a vector without direction.

    >>> from facebench.metrics import listed_pair_scores
    >>> listed_pair_scores([[2, 0], [0, 3], [1, 1]], [0, 0], [1, 2]).round(3).tolist()
    [0.0, 0.707]
    """

def listed_run(run: os.PathLike | str | bytes, track: str | None) -> dict: ...
def load_protocol(name_or_path: str) -> ProtocolSpec: ...
def load_publication(name_or_path: str) -> typing.Any: ...
def mcnemar(wrong_a: typing.Any, wrong_b: typing.Any) -> McNemar:
    """
    McNemar's exact test on which comparisons each system decides wrongly (1 = wrong).

    It assumes independent comparisons: a companion to compare_paired, not a replacement.

    >>> from facebench.metrics import mcnemar
    >>> mcnemar([1, 1, 1, 1, 0], [0, 0, 0, 0, 0]).p_value
    0.125
    """

def metric_is_rate(name: str) -> bool: ...
def metric_text(name: str, value: typing.SupportsFloat) -> str: ...
def metric_title(name: str) -> str: ...
@typing.overload
def min_cllr(comparisons: Comparisons, weights: typing.Any | None = None) -> float:
    """
    The lowest Cllr of any rising transformation of the scores (any unit), by PAV.

    >>> from facebench.metrics import min_cllr
    >>> min_cllr([0.9, 0.8, 0.2, 0.1], [1, 1, 0, 0])
    0.0
    """

@typing.overload
def min_cllr(
    scores: typing.Any, labels: typing.Any, weights: typing.Any | None = None
) -> float: ...
def min_cllr_statistic(comparisons: Comparisons) -> Statistic:
    """
    The minimal Cllr, for the bootstrap.
    """

def normal_quantile(p: typing.SupportsFloat) -> float:
    """
    The standard normal quantile (probit), p in (0, 1).

    >>> from facebench.metrics import normal_quantile
    >>> round(normal_quantile(0.975), 6)
    1.959964
    """

def parse_device(name: str) -> int | None:
    """
    What 'cpu', 'cuda' (the first) or 'cuda:N' means: the number of the CUDA device, None for the
    processor. ValueError for another word, or a device that this machine does not have.
    """

def parse_protocol(text: str, file: str) -> ProtocolSpec: ...
def people_for_all_pairs(
    effective: typing.SupportsFloat, correlation: typing.SupportsFloat
) -> float:
    """
    People of whom every two are compared to count as so many independent comparisons.
    """

def plan_report(run: os.PathLike | str | bytes, options: PlanOptions) -> typing.Any: ...
def pretty_json(value: typing.Any) -> str: ...
def printable(text: bytes) -> str:
    """
    What a terminal may show of a text.
    """

def protocol_metrics() -> list: ...
def protocol_names() -> list[str]: ...
def publication_names() -> list[str]: ...
def published_values(name_or_path: str) -> typing.Any: ...
def quality_report(
    run: os.PathLike | str | bytes,
    qualities: dict,
    track: str | None,
    options: DiscardOptions,
    other: os.PathLike | str | bytes,
    threads: typing.SupportsInt,
    progress: typing.Any,
) -> typing.Any: ...
def quick_look_warning(limit: typing.SupportsInt) -> str: ...
def rank_rate(
    searches: Searches,
    rank: typing.SupportsInt,
    ties: str = "pessimistic",
    weights: typing.Any | None = None,
) -> float:
    """
    The identification rate at one rank, cmc(...).rate[rank - 1].

    >>> from facebench.metrics import Searches, rank_rate
    >>> rank_rate(Searches([[0.9, 0.2], [0.4, 0.3]], [1, 2], [1, 2]), rank=1)
    0.5
    """

def rank_rate_statistic(
    searches: Searches, rank: typing.SupportsInt, ties: str = "pessimistic"
) -> Statistic:
    """
    The identification rate at a rank, for vertex_bootstrap(statistic, identity, identity)
    with the probes' identities: people are drawn among the probes, the gallery stays.
    """

def rank_runs(
    runs: collections.abc.Sequence[os.PathLike | str | bytes],
    track: str,
    metric: str,
    options: BootstrapOptions,
    threads: typing.SupportsInt,
    progress: typing.Any,
) -> typing.Any: ...
def rank_ties() -> list:
    """
    The rules for tied ranks: name, doc, source.

    >>> from facebench.metrics import rank_ties
    >>> [r['name'] for r in rank_ties()]
    ['pessimistic', 'optimistic', 'expected']
    """

def rates_at(
    comparisons: Comparisons, threshold: typing.SupportsFloat, level: typing.SupportsFloat = 0.95
) -> FixedThreshold:
    """
    FMR and FNMR at a given threshold, with Wilson's intervals (independent comparisons).

    >>> from facebench.metrics import Comparisons, rates_at
    >>> rates = rates_at(Comparisons([0.9, 0.4, 0.6, 0.1], [1, 1, 0, 0]), 0.5)
    >>> rates.fmr, rates.fnmr, rates.fmr_interval.method
    (0.5, 0.5, 'wilson_fixed_threshold')
    """

def read_calibrator(path: os.PathLike | str | bytes) -> ScoreCalibrator: ...
def read_embeddings(path: os.PathLike | str | bytes) -> EmbeddingSet: ...
def read_h5_manifest(path: os.PathLike | str | bytes) -> typing.Any: ...
def read_manifest(path: os.PathLike | str | bytes) -> typing.Any: ...
def read_mat5(path: os.PathLike | str | bytes) -> dict: ...
def read_qualities(
    path: os.PathLike | str | bytes, columns: collections.abc.Sequence[str], key: str | None
) -> dict: ...
def read_rules(path: os.PathLike | str | bytes) -> dict: ...
def read_run(folder: os.PathLike | str | bytes, check: bool = True) -> dict: ...
def read_safetensors(path: os.PathLike | str | bytes) -> tuple: ...
def read_scores_csv(path: os.PathLike | str | bytes, trials: TrialSet) -> list[float]: ...
def read_toml(text: bytes, file: str) -> typing.Any: ...
def read_trials(
    protocol: ProtocolSpec, root: os.PathLike | str | bytes, lists: os.PathLike | str | bytes
) -> TrialSet: ...
def recommend_threshold(
    scores: typing.Any,
    labels: typing.Any,
    first: typing.Any,
    second: typing.Any,
    fmr: typing.SupportsFloat,
    options: BootstrapOptions = ...,
    threads: typing.SupportsInt = 0,
) -> RecommendedThreshold:
    """
    The threshold for an FMR, and one whose FMR keeps to it by a one-sided bound.

    first, second: numbers of the people behind each comparison.
    """

def refuse_blemishes(trials: TrialSet, protocol: str) -> None: ...
def report_table(
    runs: collections.abc.Sequence[os.PathLike | str | bytes],
    titles: collections.abc.Sequence[str],
    check: bool = True,
) -> dict: ...
@typing.overload
def roc(comparisons: Comparisons, weights: typing.Any | None = None) -> RocCurve:
    """
    The ROC as exact counts, ties grouped, nothing dropped.

    >>> from facebench.metrics import roc
    >>> curve = roc([0.9, 0.8, 0.8, 0.1], [1, 1, 0, 0])
    >>> curve.true_accepts.tolist(), curve.false_accepts.tolist()
    ([0, 1, 2, 2], [0, 0, 1, 2])
    """

@typing.overload
def roc(scores: typing.Any, labels: typing.Any, weights: typing.Any | None = None) -> RocCurve: ...
def roc_points(
    scores: collections.abc.Sequence[typing.SupportsFloat],
    labels: collections.abc.Sequence[typing.SupportsInt],
    count: typing.SupportsInt,
) -> tuple: ...
def run_curves(
    run: os.PathLike | str | bytes, check: bool = True, threads: typing.SupportsInt = 0
) -> dict: ...
def run_titles(runs: collections.abc.Sequence[os.PathLike | str | bytes]) -> list[str]: ...
def save_run(
    result: Result,
    target: os.PathLike | str | bytes,
    overwrite: bool,
    command: str,
    root: os.PathLike | str | bytes,
    threads: typing.SupportsInt,
) -> None: ...
def search_embeddings(
    probes: typing.Any,
    probe_identity: typing.Any,
    gallery: typing.Any,
    gallery_identity: typing.Any,
    *,
    threads: typing.SupportsInt = 0,
    progress: typing.Any | None = None,
) -> Searches:
    """
    Searches every probe in the gallery by cosine (rounded to float32 once), in memory that
    does not grow with the number of scores.

    probes, gallery: embeddings, as for listed_pair_scores. The rest as for Searches, which this
    gives: the same as of the stored scores.

    >>> from facebench.metrics import rank_rate, search_embeddings
    >>> found = search_embeddings([[1, 0.2], [0, 1]], [1, 7], [[1, 0], [0.5, 1]], [1, 2])
    >>> found, rank_rate(found, rank=1)
    (Searches(mated=1, non_mated=1, gallery=2), 1.0)
    """

def sha256_file(path: os.PathLike | str | bytes, progress: typing.Any | None = None) -> str: ...
def sha256_hex(bytes: bytes) -> str: ...
def sorted_metrics(names: collections.abc.Sequence[str]) -> list[str]: ...
def sorted_names(names: collections.abc.Sequence[str]) -> list[str]: ...
def startable_threads(wanted: typing.SupportsInt) -> int:
    """
    How many threads, up to `wanted`, can run at once beside this one.
    """

def summarize(scores: typing.Any, labels: typing.Any) -> ScoreSummary:
    """
    Moments of both classes, and d'.
    """

def supported_isa() -> str:
    """
    The best instruction set that this processor runs.
    """

@typing.overload
def tar_at_far(
    comparisons: Comparisons,
    far: typing.SupportsFloat,
    convention: str = "exact",
    weights: typing.Any | None = None,
) -> TarAtFar:
    """
    True accept rate at a false accept rate.

    The default convention never exceeds the target FAR and groups ties; others are listed by
    tar_at_far_conventions(), some of which need folds.

    >>> from facebench.metrics import tar_at_far
    >>> cell = tar_at_far([0.9, 0.8, 0.7, 0.1], [1, 0, 1, 0], far=0.5)
    >>> cell.value, cell.false_accepts, cell.reliable
    (1.0, 1, False)
    """

@typing.overload
def tar_at_far(
    scores: typing.Any,
    labels: typing.Any,
    far: typing.SupportsFloat,
    convention: str = "exact",
    folds: typing.Any | None = None,
    weights: typing.Any | None = None,
) -> TarAtFar: ...
@typing.overload
def tar_at_far(tail: ScoreTail, far: typing.SupportsFloat) -> TarAtFar: ...
def tar_at_far_conventions() -> list:
    """
    The known conventions: name, doc, source, needs_folds, cosine_only.

    >>> from facebench.metrics import tar_at_far_conventions
    >>> tar_at_far_conventions()[0]['name']
    'exact'
    """

def tar_at_far_statistic(
    comparisons: Comparisons, far: typing.SupportsFloat, convention: str = "exact"
) -> Statistic:
    """
    The TAR at a FAR, threshold chosen again in each replicate.
    """

def tar_at_fars(
    scores: typing.Any,
    labels: typing.Any,
    fars: typing.Any,
    *,
    threads: typing.SupportsInt = 0,
    progress: typing.Any | None = None,
) -> list:
    """
    tar_at_far(scores, labels, far) for several FARs (convention exact) without sorting:
    for tens of millions of comparisons. float32 and float64 scores are not copied.

    >>> from facebench.metrics import tar_at_fars
    >>> [cell.value for cell in tar_at_fars([0.9, 0.8, 0.7, 0.1], [1, 0, 1, 0], [0.1, 0.5])]
    [0.5, 1.0]
    """

def template_fusions() -> list: ...
def threshold_report(
    run: os.PathLike | str | bytes,
    test: os.PathLike | str | bytes,
    options: ThresholdReportOptions,
    threads: typing.SupportsInt,
    progress: typing.Any,
) -> typing.Any: ...
def transfer_threshold(
    source: Comparisons,
    target: Comparisons,
    far: typing.SupportsFloat,
    convention: str = "exact",
    level: typing.SupportsFloat = 0.95,
) -> FixedThreshold:
    """
    The threshold that gives `far` on one set, and the rates that it gives on another.

    >>> from facebench.metrics import Comparisons, transfer_threshold
    >>> tuned = Comparisons([0.9, 0.8, 0.3, 0.1], [1, 1, 0, 0])
    >>> other = Comparisons([0.9, 0.4, 0.7, 0.1], [1, 1, 0, 0])
    >>> rates = transfer_threshold(tuned, other, far=0.1)
    >>> rates.false_matches, rates.false_non_matches
    (1, 1)
    """

def trial_kinds() -> list: ...
def trial_readers() -> list: ...
def variance_budget(
    runs: collections.abc.Sequence[os.PathLike | str | bytes],
    metric: str | None,
    track: str | None,
    options: BootstrapOptions,
    threads: typing.SupportsInt,
    progress: typing.Any,
) -> typing.Any: ...
def verify_inputs(
    run: os.PathLike | str | bytes, root: os.PathLike | str | bytes, progress: typing.Any
) -> list: ...
def verify_scores(
    run: os.PathLike | str | bytes, threads: typing.SupportsInt, progress: typing.Any
) -> list: ...
def version() -> str:
    """
    The version of the compiled library.
    """

def vertex_bootstrap(
    statistics: typing.Any,
    first: typing.Any,
    second: typing.Any,
    folds: typing.Any | None = None,
    *,
    options: BootstrapOptions = ...,
    threads: typing.SupportsInt = 0,
    progress: typing.Any | None = None,
) -> typing.Any:
    """
    Interval for dense comparisons (all pairs), as earlier versions made it: resamples
    identities; normal on the logit scale; too long for sparse lists. Arguments as for
    component_bootstrap; folds are not used.

    >>> from facebench.metrics import Comparisons, auc_statistic, vertex_bootstrap
    >>> c = Comparisons([0.9, 0.3, 0.7, 0.4, 0.1, 0.2], [1, 1, 1, 0, 0, 0])
    >>> i = vertex_bootstrap(auc_statistic(c), [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2])
    >>> i.method
    'vertex_bootstrap_logit'
    """

def why_not_comparable(a: os.PathLike | str | bytes, b: os.PathLike | str | bytes) -> list: ...
def wilson(
    k: typing.SupportsInt, n: typing.SupportsInt, level: typing.SupportsFloat = 0.95
) -> Interval:
    """
    Wilson's interval for k successes in n independent trials (a fixed threshold).

    >>> from facebench.metrics import wilson
    >>> interval = wilson(9, 10)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.596, 0.982)
    """

def without(trials: TrialSet, path: os.PathLike | str | bytes) -> TrialSet: ...
def write_embeddings(path: os.PathLike | str | bytes, embeddings: EmbeddingSet) -> None: ...
def write_file(path: os.PathLike | str | bytes, bytes: bytes) -> None: ...
def write_safetensors(
    path: os.PathLike | str | bytes, tensors: dict, metadata: collections.abc.Mapping[str, str] = {}
) -> None: ...
def write_synthetic_ijb(
    options: SyntheticIjbOptions,
    folder: os.PathLike | str | bytes,
    threads: typing.SupportsInt = 0,
    progress: typing.Any | None = None,
) -> dict: ...
