"""The tables of words that a protocol may use. `facebench.protocols` offers them."""

from facebench import _eval


def list_conventions():
    """The named ways of computing published numbers: name, one line, and the rule of each metric.

    ``accuracy``, ``tar_at_far``, ``identification``: a name in the table of that metric (see
    `facebench.metrics.accuracy_conventions` and its like), "" where there is no rule; a protocol
    computes that metric exactly then, unless it gets a rule of its own (``accuracy_convention``,
    ``tar_at_far_convention``, ``identification_convention``).

    >>> from facebench.protocols import list_conventions
    >>> next(c for c in list_conventions() if c["name"] == "ijb_1n")["identification"]
    'ijb_1n'
    """
    return _eval.conventions()


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


def score_forms():
    """The forms of score files that say themselves which scores are genuine: name, one line, how
    many files, and whose they are. `evaluate` reads them.

    >>> from facebench.protocols import score_forms
    >>> [form["name"] for form in score_forms() if form["files"] == 2]
    ['genuine_impostor', 'bee']
    """
    return _eval.score_forms()


def template_fusions():
    """The ways in which the samples of a template become one embedding: name, one line and source.

    >>> from facebench.protocols import template_fusions
    >>> "mean_raw" in [f["name"] for f in template_fusions()]
    True
    """
    return _eval.template_fusions()


def ijb_scripts():
    """The scripts for IJB-B and IJB-C that print labels such as N1D1F1, and what their N1 means."""
    return _eval.ijb_scripts()


def ijb_label(label, script):
    """What a label such as N1D1F1 means in a script: ``fusion`` and ``flip``.

    The letter N means the opposite in two families of scripts.

    >>> from facebench.protocols import ijb_label
    >>> ijb_label("N1D1F1", "eval_ijbc") == ijb_label("N0D1F1", "ijb_evals")
    True
    """
    return _eval.ijb_label(label, script)


def blemish_rules():
    """What lists may have wrong and are evaluated all the same: name, what it is, and the rule.

    >>> from facebench.protocols import blemish_rules
    >>> [r["rule"] for r in blemish_rules() if r["name"] == "repeated_pair"]
    ['every row counts']
    """
    return _eval.blemish_rules()


def interval_methods():
    """How the interval of a number is found: name and one line.

    >>> from facebench.protocols import interval_methods
    >>> "dyadic" in [m["name"] for m in interval_methods()]
    True
    """
    return _eval.interval_methods()


def failure_policies():
    """What becomes of a comparison with a failed enrolment: name and one line.

    >>> from facebench.protocols import failure_policies
    >>> "lowest_score" in [p["name"] for p in failure_policies()]
    True
    """
    return _eval.failure_policies()


def protocol_metrics():
    """What a protocol can ask for: name, one line, and what it applies to.

    >>> from facebench.protocols import protocol_metrics
    >>> "eer" in [m["name"] for m in protocol_metrics()]
    True
    """
    return _eval.protocol_metrics()
