"""Claims: whether a printed number is possible, and how many comparisons tell two numbers apart."""

from facebench import _eval
from facebench._eval import ClaimOptions, ProtocolSpec
from facebench.core._options import options_of
from facebench.protocols import load_protocol
from facebench.reports.page import Report, Section, text

_LISTED = 5  # printed values of a list; all are in the fields


class Claim(Report):
    """What is known about a printed number. Its fields are those of :meth:`to_dict`.

    ``exists``: whether some count of ``total`` is printed so, rounded to the nearest; ``possible``
    names the counts for each rounding. ``spread``: what folds can have that was printed with it.
    ``far``: the false accepts behind a TAR at a FAR.
    ``against``: how many comparisons tell it from a second claim.
    """

    def _title(self):
        return f"The claim {self.printed}"

    def _sections(self):
        lines = [part for line in self._sentences() for part in ("\n", line)]
        return [Section("", [text(*lines[1:])])]

    def _sentences(self):
        total, printed = self.total, f"{100 * self.value:.10g} %"
        tar = self.metric.startswith("tar@far=")
        kinds = {"accuracy": "comparisons", "far": "impostor comparisons", "rate": "cases"}
        things = kinds.get(self.metric, "genuine comparisons")

        def share(k):
            return f"{100 * k / total:.6g} %"

        def counts(first, last):
            if first == last:
                return f"{first} of {total} {things} ({share(first)})"
            return f"{first} to {last} of {total} {things} ({share(first)} to {share(last)})"

        if self.folds > 1:
            yield f"The mean over {self.folds} folds of {total // self.folds} is k / {total}."
        nearest = self.possible["nearest"]
        if nearest:
            yield f"{printed} can exist: {counts(*nearest)}."
        else:
            yield (
                f"{printed} cannot exist: {self.below} of {total} {things} are "
                f"{share(self.below)}, {self.above} are {share(self.above)}."
            )
            for rounding, counts_so_rounded in self.possible.items():
                if counts_so_rounded:
                    yield f"With digits rounded {rounding} it is {counts(*counts_so_rounded)}."
            if self.left_out:
                yield (f"With {self.left_out} of {total} {things} left out it would be possible.")
            if tar:
                yield (
                    "A rule that interpolates between points of the curve, or averages splits of "
                    "different size, can print it too."
                )
        if self.spread:
            yield self._spread_sentence()
        if self.far:
            yield from _far_sentences(self.far)
        yield from _sources(self.printed_in)
        if self.against:
            yield from self._against(things)

    def _spread_sentence(self):
        printed = f"{100 * self.spread['value']:.6g} %"
        if not self.spread["kinds"]:
            return f"The spread {printed} is of folds, and their number is not known (folds)."
        over = f"over {self.folds} folds of {self.total // self.folds}"
        kinds, untried = [name for name, of in self.spread["kinds"].items() if of], []
        for name in self.spread["untried"]:
            if name in kinds:
                kinds.remove(name)
                untried.append(name)
        said = [f"{may} be their {' or '.join(names)}".replace("_", " ")
                for may, names in (("can", kinds), ("may", untried)) if names]  # fmt: skip
        if said:
            why = " (not every sum of squares was tried)" if untried else ""
            return f"The spread {printed} {over} {', and '.join(said)}{why}."
        return (
            f"The spread {printed} {over} cannot exist: no counts with that mean have it, as "
            "standard deviation or standard error, of n or of n - 1."
        )

    def _against(self, things):
        other = self.against
        if "unpaired" not in other:
            yield "The two claims are the same number as printed."
        else:
            points = 100 * abs(self.value - other["value"])
            nested, independent = other["paired_nested"], other["paired_independent"]
            yield (
                f"{points:.6g} points apart from {100 * other['value']:.10g} %. To tell them apart "
                f"at level {100 * other['level']:g} % with power {100 * other['power']:g} %:"
            )
            yield (
                f"- {nested} {things} that both systems score, if all errors of the better are "
                "errors of the other too;"
            )
            yield (
                f"- {independent} of them if the two err independently ({other['identities']} "
                "people, no two comparisons sharing any);"
            )
            yield f"- {other['unpaired']} each, if the systems score different ones."
            verdict = (
                "too few even in the first case"
                if self.total < nested
                else "enough only where most errors are common; compare the scores"
                if self.total < independent
                else "enough, if they share few people"
            )
            yield f"There are {self.total}: {verdict}."
        yield from _sources(other["printed_in"])
        for pair in other["pairs"][:_LISTED]:
            differs = "; ".join(pair["differences"]) or "nothing that is stated"
            both = f"{pair['one']} differs from {pair['other']} ({pair['place']})"
            yield f"{both} in this: {differs}."
        yield from _left_out(other["pairs"])


def _far_sentences(far):
    expected = far["expected_false_accepts"]
    yield (
        f"At FAR {100 * far['far_target']:.6g} % {expected:.6g} false accepts are expected; the "
        f"largest FAR not above it is {100 * far['far_achievable']:.6g} %."
    )
    if not far["reliable"]:
        # A rate such as 0.001 is not an exact binary number.
        weak = (
            "Less than one false accept: the value follows from the convention, not from a "
            "measurement"
            if expected < 1 - 1e-12
            else "Fewer than ten: the value rests on a handful of comparisons"
        )
        yield (
            f"{weak}: one needs {far['impostors_for_one']} impostor comparisons, ten need "
            f"{far['impostors_for_ten']}."
        )


def _sources(printed_in):
    for v in printed_in[:_LISTED]:
        conditions = ", ".join(f"{name} {stated}" for name, stated in v["conditions"].items())
        of_that = f": {conditions}" if conditions else ""
        source = f"{v['publication']}, {v['place']}"
        yield f"Printed as {v['printed']} for {v['row']} ({source}){of_that}."
    yield from _left_out(printed_in)


def _left_out(listed):
    if len(listed) > _LISTED:
        yield f"and {len(listed) - _LISTED} more (the JSON output has all)"


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

    >>> from facebench.claims import check_claim
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
