"""What a diagnosis says."""

from facebench.core._finding import Finding
from facebench.lab.diagnosis.settings import FACTORS, NAMES
from facebench.reports.drawn import draws
from facebench.reports.page import Code, Section, Strong, bullets, table_block, text


class Diagnosis(Finding):
    """What :func:`facebench.diagnose` found of a model. Its fields are those of :meth:`to_dict`.

    ``verdict``: "as given" (nothing tried is clearly better), "another setting", or "near chance".
    ``best``: the setting to use; ``given``: what the model says, or what was assumed (None where it
    cannot be tried); ``tried``: every setting with AUC, d' and how far it is behind the best, each
    with its interval, and whether it is ``equal``: not to be told apart from the best. ``wrong``:
    what each factor of the given setting costs; ``commands``: the lines to type; ``untried``: the
    crops that are defined by points of another detector; ``batch_dependence``: what is wrong where
    an image's embedding depends on the other images of its batch, or "".
    """


class Suspicions(Finding):
    """What is suspicious in a run folder: ``found``, a dict each with ``sign`` and ``text``."""


NO_RESULT = (
    "A setting chosen on comparisons that are also tested is not a result: write it down, and "
    "measure on others."
)

RULE = (
    "d' is the distance of the means of genuine and impostor scores in their standard deviations. "
    "It decides, since the AUC of a good model hangs on a few comparisons. Behind: how much of it "
    "is missing to the best, on the same comparisons; =: measured on all of them, and not to be "
    "told apart from the best. Intervals are of 95 % and account for shared people."
)

CHANCE = (
    "Near chance means that the best AUC is not clearly (95 %) above one half, or not above that "
    "of the crops' own pixels without a network."
)


@draws
def draw_diagnosis(found: Diagnosis):
    title = f"Why is the number of {found.model} low?"
    verdict = [*_verdict(found), *(text(sentence) for sentence in found.untried)]
    sections = [Section(title, verdict, level=1)]
    if found.wrong:
        sections.append(Section("What the given setting costs", [_wrong(found)]))
    sections.append(Section("Settings tried", [*_table(found)]))
    sections.append(Section("Notes", [bullets([*found.notes, NO_RESULT])]))
    return title, sections


def _verdict(found):
    best, as_given = found.best, found.given
    if found.batch_dependence:
        yield text(
            Strong(found.batch_dependence),
            " Elsewhere, where images go through together, its number is another one with each "
            "size and order of batches, whatever the weights.",
        )
    where = f"{found.comparisons} comparisons of {found.part} ({found.seconds / 60:.1f} minutes)"
    if found.verdict == "near chance":
        why = "untrained, or its weights are not those of this network"
        if found.batch_dependence:
            why = "so far its batch is to blame, and nothing can be said of its weights"
        yield text(
            Strong("No preparation that we know makes this model recognise faces"),
            f": {why}. The best AUC of {len(found.tried)} settings is {_percent(best)} on {where}.",
        )
        yield text(CHANCE)
        return
    numbers = f"d' {best['dprime']:.2f} (AUC {_percent(best)})"
    if found.verdict == "as given":
        what = "Nothing that was tried is clearly better than what is given"
    else:
        what = "Another setting is clearly better than what is given"
        if as_given:
            numbers += f"; as given {as_given['dprime']:.2f} ({_percent(as_given)})"
    lines = [part for line in found.commands for part in ("\n", Code(line))]
    yield text(Strong(what), f": {numbers}, on {where}.", "\n", "To write down: ", *lines)
    equal = sum(t["equal"] for t in found.tried) - 1
    if equal > 0:
        yield text(
            f"Cannot be told apart from it on so few comparisons: what is marked = below "
            f"({equal}). Where the model's authors state one of them, take theirs."
        )
    if found.expected is not None:
        chance = best["probability"]
        chances = "below 0.1 %" if chance < 0.001 else f"{100 * chance:.3g} %"
        yield text(
            f"The expected {100 * found.expected:.6g} % or more has probability {chances} with "
            "this setting."
        )


def _wrong(found):
    columns = ["factor", "given", "better", "d' lost", "95 %"]
    keys = ("factor", "given", "better")
    return table_block(columns, [[*(w[k] for k in keys), *_behind(w)] for w in found.wrong])


def _table(found):
    columns = ["", *(NAMES[factor] for factor in FACTORS), "of", "AUC", "95 %", "d'"]
    columns += ["behind", "95 %"]
    expected = found.expected is not None
    columns += [f"P({100 * found.expected:.6g} %)"] if expected else []
    rows = []
    for t in found.tried:
        mark = "best" if t["setting"] == found.best["setting"] else "=" if t["equal"] else ""
        row = [mark, *t["shown"], t["comparisons"], _percent(t)]
        row += [_interval(t["auc_interval"], 100), f"{t['dprime']:.2f}", *_behind(t)]
        rows.append([*row, f"{t['probability']:.2g}"] if expected else row)
    yield table_block(columns, rows)
    yield text(RULE)
    if found.refused:
        yield text("Could not be tried: ")
        yield bullets(f"{what}: {why}" for what, why in found.refused.items())


@draws
def draw_suspicions(found: Suspicions):
    title = f"What is suspicious in {found.run}"
    lines = [(Strong(one["sign"]), ": ", one["text"]) for one in found.found]
    nothing = "Nothing that we know to look for. `facebench inspect` shows the worst pairs."
    block = bullets(lines) if lines else text(nothing)
    return title, [Section(title, [block], level=1)]


def _percent(trial):
    return f"{100 * trial['auc']:.2f} %"


def _interval(bounds, scale=1):
    return "[{:.2f}, {:.2f}]".format(*(scale * b for b in bounds))


def _behind(trial):
    return f"{trial['behind']:.2f}", _interval(trial["behind_interval"])
