"""Claims: whether a printed number is possible, and how many comparisons tell two numbers apart."""

import os

from facebench import _eval
from facebench._eval import ClaimOptions, ProtocolSpec
from facebench._fields import Fields


class Claim(Fields):
    """What is known about a printed number. Its fields are those of :meth:`to_dict`.

    ``exists``: whether some count of ``total`` is printed so, rounded to the nearest; ``possible``
    names the counts for each rounding. ``far``: the false accepts behind a TAR at a FAR.
    ``against``: how many comparisons tell it from a second claim.
    """

    def __init__(self, text, fields):
        super().__init__(fields)
        self._text = text

    def __repr__(self):
        return self._text.rstrip()


def check_claim(printed, protocol=None, *, against="", options=None, **more):
    """Test whether a printed number can exist.

    ``printed``: the number as text ("99.63" or "99.63 %" are percent, "0.9963" is a fraction; give
    text, so that trailing zeros count). What it is counted out of comes from ``protocol`` or from
    the keywords of :class:`ClaimOptions`: metric (``accuracy``, ``far``, ``tar@far=0.001`` or
    ``rate``, any share of ``genuine`` things), track, genuine, impostor, folds; level and power.
    ``against``: a second claim, to say how many comparisons and people tell the two apart.

    >>> from facebench.reports import check_claim
    >>> check_claim("99.64", "lfw").exists
    False
    >>> check_claim("99.63", "lfw").possible["nearest"]
    [5978, 5978]
    >>> check_claim("97.2", metric="tar@far=0.0001", genuine=5000, impostor=5000).far["reliable"]
    False
    """
    if options is not None and more:
        raise ValueError("give options or keywords, not both")
    if protocol is not None and not isinstance(protocol, ProtocolSpec):
        protocol = _eval.load_protocol(os.fspath(protocol))
    options = options or ClaimOptions(**more)
    return Claim(*_eval.check_claim(str(printed), protocol, options, str(against)))
