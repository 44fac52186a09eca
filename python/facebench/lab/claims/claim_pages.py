"""How what is known about a printed number is said."""

from facebench.lab.claims.printed_numbers import Claim
from facebench.reports.drawn import draws
from facebench.reports.page import Section, text

_LISTED = 5  # printed values of a list; all are in the fields


@draws
def draw_claim(claim: Claim):
    title = f"The claim {claim.printed}"
    lines = [part for line in _sentences(claim) for part in ("\n", line)]
    return title, [Section("", [text(*lines[1:])])]


def _sentences(claim):
    total, printed = claim.total, f"{100 * claim.value:.10g} %"
    tar = claim.metric.startswith("tar@far=")
    kinds = {"accuracy": "comparisons", "far": "impostor comparisons", "rate": "cases"}
    things = kinds.get(claim.metric, "genuine comparisons")

    def share(k):
        return f"{100 * k / total:.6g} %"

    def counts(first, last):
        if first == last:
            return f"{first} of {total} {things} ({share(first)})"
        return f"{first} to {last} of {total} {things} ({share(first)} to {share(last)})"

    if claim.folds > 1:
        yield f"The mean over {claim.folds} folds of {total // claim.folds} is k / {total}."
    nearest = claim.possible["nearest"]
    if nearest:
        yield f"{printed} can exist: {counts(*nearest)}."
    else:
        yield (
            f"{printed} cannot exist: {claim.below} of {total} {things} are "
            f"{share(claim.below)}, {claim.above} are {share(claim.above)}."
        )
        for rounding, counts_so_rounded in claim.possible.items():
            if counts_so_rounded:
                yield f"With digits rounded {rounding} it is {counts(*counts_so_rounded)}."
        if claim.left_out:
            yield (f"With {claim.left_out} of {total} {things} left out it would be possible.")
        if tar:
            yield (
                "A rule that interpolates between points of the curve, or averages splits of "
                "different size, can print it too."
            )
    if claim.spread:
        yield _spread_sentence(claim)
    if claim.far:
        yield from _far_sentences(claim.far)
    yield from _sources(claim.printed_in)
    if claim.against:
        yield from _against(claim, things)


def _spread_sentence(claim):
    printed = f"{100 * claim.spread['value']:.6g} %"
    if not claim.spread["kinds"]:
        return f"The spread {printed} is of folds, and their number is not known (folds)."
    over = f"over {claim.folds} folds of {claim.total // claim.folds}"
    kinds, untried = [name for name, of in claim.spread["kinds"].items() if of], []
    for name in claim.spread["untried"]:
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


def _against(claim, things):
    other = claim.against
    if "unpaired" not in other:
        yield "The two claims are the same number as printed."
    else:
        points = 100 * abs(claim.value - other["value"])
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
            if claim.total < nested
            else "enough only where most errors are common; compare the scores"
            if claim.total < independent
            else "enough, if they share few people"
        )
        yield f"There are {claim.total}: {verdict}."
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
