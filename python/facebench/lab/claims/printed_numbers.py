"""Claims: whether a printed number is possible, and how many comparisons tell two numbers apart."""

from facebench import _eval
from facebench._eval import ClaimOptions, ProtocolSpec
from facebench.core._finding import Finding
from facebench.core._options import options_of
from facebench.protocols import load_protocol


class Claim(Finding):
    """What is known about a printed number. Its fields are those of :meth:`to_dict`.

    ``exists``: whether some count of ``total`` is printed so, rounded to the nearest; ``possible``
    names the counts for each rounding. ``spread``: what folds can have that was printed with it.
    ``far``: the false accepts behind a TAR at a FAR.
    ``against``: how many comparisons tell it from a second claim.
    """


def check_claim(printed, protocol=None, *, against="", options=None, **more):
    """Test whether a printed number can exist.

    ``printed``: the number as text ("99.63" or "99.63 %" are percent, "0.9963" is a fraction; give
    text, so that trailing zeros count), also with its spread over folds as papers and logs print it
    ("0.99783+-0.00259", "99.78 ± 0.28 %", "99.78(28)"): ``spread["kinds"]`` then has for the
    standard deviation and the standard error the counts of the number with which folds can have it;
    of those in ``spread["untried"]`` not every sum of squares was tried, so they may have it.
    What it is counted out of comes from ``protocol`` or from
    the keywords of :class:`ClaimOptions`: metric (``accuracy``, ``far``, ``tar@far=0.001`` or
    ``rate``, any share of ``genuine`` things), track, genuine, impostor, folds; level and power.
    ``against``: a second claim, to say how many comparisons and people tell the two apart.

    >>> from facebench.lab.claims import check_claim
    >>> check_claim("99.64", "lfw").exists
    False
    >>> check_claim("99.63", "lfw").possible["nearest"]
    [5978, 5978]
    >>> spread = check_claim("0.99783+-0.00259", "lfw").spread
    >>> [kind for kind, counts in spread["kinds"].items() if counts]
    ['standard_deviation']
    >>> check_claim("97.2", metric="tar@far=0.0001", genuine=5000, impostor=5000).far["reliable"]
    False
    """
    options = options_of(ClaimOptions, options, more)
    if protocol is not None and not isinstance(protocol, ProtocolSpec):
        protocol = load_protocol(protocol)
    return Claim(_eval.check_claim(str(printed), protocol, options, str(against)))
