"""What a diagnosis says."""

from facebench.diagnosis.settings import FACTORS, NAMES
from facebench.reports.page import Code, Report, Section, Strong, bullets, table_block, text

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


class Diagnosis(Report):
    """What :func:`facebench.diagnose` found of a model. Its fields are those of :meth:`to_dict`.

    ``verdict``: "as given" (nothing tried is clearly better), "another setting", or "near chance".
    ``best``: the setting to use; ``given``: what the model says, or what was assumed (None where it
    cannot be tried); ``tried``: every setting with AUC, d' and how far it is behind the best, each
    with its interval, and whether it is ``equal``: not to be told apart from the best. ``wrong``:
    what each factor of the given setting costs; ``commands``: the lines to type; ``untried``: the
    crops that are defined by points of another detector; ``batch_dependence``: what is wrong where
    an image's embedding depends on the other images of its batch, or "".
    """

    def _title(self):
        return f"Why is the number of {self.model} low?"

    def _sections(self):
        verdict = [*self._verdict(), *(text(sentence) for sentence in self.untried)]
        sections = [Section(self._title(), verdict, level=1)]
        if self.wrong:
            sections.append(Section("What the given setting costs", [self._wrong()]))
        sections.append(Section("Settings tried", [*self._table()]))
        sections.append(Section("Notes", [bullets([*self.notes, NO_RESULT])]))
        return sections

    def _verdict(self):
        best, as_given = self.best, self.given
        if self.batch_dependence:
            yield text(
                Strong(self.batch_dependence),
                " Elsewhere, where images go through together, its number is another one with each "
                "size and order of batches, whatever the weights.",
            )
        where = f"{self.comparisons} comparisons of {self.part} ({self.seconds / 60:.1f} minutes)"
        if self.verdict == "near chance":
            why = "untrained, or its weights are not those of this network"
            if self.batch_dependence:
                why = "so far its batch is to blame, and nothing can be said of its weights"
            yield text(
                Strong("No preparation that we know makes this model recognise faces"),
                f": {why}. The best AUC of "
                f"{len(self.tried)} settings is {_percent(best)} on {where}.",
            )
            yield text(CHANCE)
            return
        numbers = f"d' {best['dprime']:.2f} (AUC {_percent(best)})"
        if self.verdict == "as given":
            what = "Nothing that was tried is clearly better than what is given"
        else:
            what = "Another setting is clearly better than what is given"
            if as_given:
                numbers += f"; as given {as_given['dprime']:.2f} ({_percent(as_given)})"
        lines = [part for line in self.commands for part in ("\n", Code(line))]
        yield text(Strong(what), f": {numbers}, on {where}.", "\n", "To write down: ", *lines)
        equal = sum(t["equal"] for t in self.tried) - 1
        if equal > 0:
            yield text(
                f"Cannot be told apart from it on so few comparisons: what is marked = below "
                f"({equal}). Where the model's authors state one of them, take theirs."
            )
        if self.expected is not None:
            chance = best["probability"]
            chances = "below 0.1 %" if chance < 0.001 else f"{100 * chance:.3g} %"
            yield text(
                f"The expected {100 * self.expected:.6g} % or more has probability {chances} with "
                "this setting."
            )

    def _wrong(self):
        columns = ["factor", "given", "better", "d' lost", "95 %"]
        keys = ("factor", "given", "better")
        return table_block(columns, [[*(w[k] for k in keys), *_behind(w)] for w in self.wrong])

    def _table(self):
        columns = ["", *(NAMES[factor] for factor in FACTORS), "of", "AUC", "95 %", "d'"]
        columns += ["behind", "95 %"]
        expected = self.expected is not None
        columns += [f"P({100 * self.expected:.6g} %)"] if expected else []
        rows = []
        for t in self.tried:
            mark = "best" if t["setting"] == self.best["setting"] else "=" if t["equal"] else ""
            row = [mark, *t["shown"], t["comparisons"], _percent(t)]
            row += [_interval(t["auc_interval"], 100), f"{t['dprime']:.2f}", *_behind(t)]
            rows.append([*row, f"{t['probability']:.2g}"] if expected else row)
        yield table_block(columns, rows)
        yield text(RULE)
        if self.refused:
            yield text("Could not be tried: ")
            yield bullets(f"{what}: {why}" for what, why in self.refused.items())


def _percent(trial):
    return f"{100 * trial['auc']:.2f} %"


def _interval(bounds, scale=1):
    return "[{:.2f}, {:.2f}]".format(*(scale * b for b in bounds))


def _behind(trial):
    return f"{trial['behind']:.2f}", _interval(trial["behind_interval"])


class Suspicions(Report):
    """What is suspicious in a run folder: ``found``, a dict each with ``sign`` and ``text``."""

    def _title(self):
        return f"What is suspicious in {self.run}"

    def _sections(self):
        lines = [(Strong(one["sign"]), ": ", one["text"]) for one in self.found]
        nothing = "Nothing that we know to look for. `facebench inspect` shows the worst pairs."
        block = bullets(lines) if lines else text(nothing)
        return [Section(self._title(), [block], level=1)]
