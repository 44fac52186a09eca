"""Which setting suits a network: one factor at a time from the best so far, then pairs of factors;
on few comparisons first, then what is left on all."""

import itertools
import math
from dataclasses import dataclass, field

import numpy as np

from facebench import metrics
from facebench.core import Error
from facebench.lab.diagnosis.settings import FACTORS, FLIPS, SCALES, WHOLE, Setting, cells

FEW = 200  # comparisons of the first look
WEAK = 0.9  # AUC below which values that failed alone are tried in pairs


def dprime_statistic(scores, genuine):
    """d' of weighted comparisons, for the bootstrap."""
    scores, kinds = np.asarray(scores), [np.asarray(genuine) == kind for kind in (1, 0)]
    powers = np.stack([scores, scores**2])

    def dprime(weights):
        moments = []
        for kind in kinds:
            w = weights * kind
            total = w.sum()
            if total == 0:
                return math.nan
            mean, square = powers @ w / total
            moments.append((mean, square - mean * mean))
        (high, a), (low, b) = moments
        spread = math.sqrt(max((a + b) / 2, 0))
        return (high - low) / spread if spread > 0 else 0.0

    return dprime


@dataclass
class Trial:
    """A setting that was tried: on how many comparisons, and what came of it."""

    setting: Setting
    tried: str  # what was changed
    comparisons: int
    auc: float
    auc_interval: tuple[float, float]
    dprime: float
    scores: np.ndarray = field(repr=False)
    behind: float = 0.0  # the best setting's d' less its own, on the same comparisons
    behind_interval: tuple[float, float] = (0.0, 0.0)
    equal: bool = False  # measured on all comparisons, and not clearly behind the best

    def to_dict(self) -> dict:
        names = ("tried", "comparisons", "auc", "auc_interval", "dprime")
        names += ("behind", "behind_interval", "equal")
        shown = {"setting": self.setting.to_dict(), "shown": cells(self.setting)}
        return shown | {name: getattr(self, name) for name in names}


class Search:
    """Tries settings on the comparisons of a `Development`. ``trials``: all that was tried;
    ``near_chance``: whether the best is no better than the crops' own pixels are."""

    def __init__(self, development, start, sizes, told=lambda text: None):
        self._development, self._told = development, told
        self.pairs = development.pairs  # as they are after detection
        self.start = start.but(crop=WHOLE) if development.cropped_already else start
        network = development.network
        scales = () if network.own_arithmetic else SCALES
        self.values = {
            "crop": development.crops(),
            "scale": (*scales, *(() if start.scale in scales else (start.scale,))),
            "color": ("gray",) if network.gray else ("rgb", "bgr"),
            "size": sizes,
        }
        self.trials: dict[Setting, Trial] = {}
        self.refused: dict[str, str] = {}
        self.near_chance = False

    def measure(self, setting, count, tried="") -> Trial | None:
        """None where no image can be prepared so, or the network refuses."""
        known = self.trials.get(setting)
        if known is not None and known.comparisons >= count:
            return known
        self._told(f"{tried or 'setting'} on {count} comparisons")
        try:
            scores = self._development.scores(setting, count)
        except (Error, ValueError, RuntimeError) as error:
            where = f"{setting.crop} {setting.size[1]}x{setting.size[0]}"
            self.refused[where] = str(error).splitlines()[0]
            return None
        genuine = self.pairs.genuine[:count]
        compared = metrics.Comparisons(scores, genuine)
        interval = metrics.dyadic_bootstrap(
            metrics.statistic("auc", compared),
            *self._people(count),
            options=_bootstrap(),
            threads=1,
            progress=False,
        )
        trial = Trial(
            setting,
            known.tried if known is not None else tried,
            count,
            metrics.auc(compared),
            (interval.low, interval.high),
            dprime_statistic(scores, genuine)(np.ones(count)),
            scores,
        )
        self.trials[setting] = trial
        return trial

    def _people(self, count):
        return self.pairs.people[:count].T

    def lead(self, a, b, level=0.95):
        """d' of trial ``a`` less that of ``b`` with its interval, on the comparisons both have."""
        n = min(a.comparisons, b.comparisons)
        if np.array_equal(a.scores[:n], b.scores[:n]):
            return 0.0, (0.0, 0.0)
        genuine = self.pairs.genuine[:n]
        statistics = (dprime_statistic(t.scores[:n], genuine) for t in (a, b))
        paired = metrics.compare_paired(
            *statistics, *self._people(n), options=_bootstrap(level), threads=1, progress=False
        )
        return paired.value, (paired.interval.low, paired.interval.high)

    def _clearly(self, ahead, behind, level=0.95):
        return self.lead(ahead, behind, level)[1][0] > 0

    def _better(self, best, trials):
        """The best of those found if it is clearly ahead of the best so far, or else this one."""
        ahead = max((t for t in trials if t), key=lambda t: t.dprime, default=best)
        return ahead if ahead is not best and self._clearly(ahead, best) else best

    def ascend(self, best, count, values):
        """One factor after another, each time from the best so far, until nothing is better."""
        while True:
            before = best
            for factor, choices in values.items():
                settings = [best.setting.but(**{factor: value}) for value in choices]
                best = self._better(best, [self.measure(s, count, factor) for s in settings])
            if best is before:
                return best

    def pairs_of_factors(self, best, count, values):
        """Two factors at once."""
        trials = []
        for (one, ones), (other, others) in itertools.combinations(values.items(), 2):
            for a, b in itertools.product(ones, others):
                setting = best.setting.but(**{one: a, other: b})
                if a != getattr(best.setting, one) and b != getattr(best.setting, other):
                    trials.append(self.measure(setting, count, f"{one} and {other}"))
        return self._better(best, trials)

    def left(self, best):
        """The values of each factor that the best is not clearly ahead of, at 99 %."""

        def stays(factor, value):
            trial = self.trials.get(best.setting.but(**{factor: value}))
            return trial is not None and not self._clearly(best, trial, 0.99)

        return {f: [v for v in choices if stays(f, v)] for f, choices in self.values.items()}

    def run(self):
        """The best setting's trial; all others know how far they are behind it."""
        few, everything = min(FEW, len(self.pairs)), len(self.pairs)
        plain = self.start.but(flip="none")
        begins = [plain, *(plain.but(crop=crop) for crop in self.values["crop"])]
        best = next((t for s in begins if (t := self.measure(s, few, "as given"))), None)
        if best is None:
            raise Error(f"diagnose: no setting can be tried: {'; '.join(self.refused.values())}")
        best = self.ascend(best, few, self.values)
        if not self._learnt(best):  # a second look with all comparisons, at this one alone
            best = self.measure(best.setting, everything)
            self.near_chance = not self._learnt(best)
        if not self.near_chance:
            best = self._finest(best, few, everything)
        for t in self.trials.values():
            t.behind, t.behind_interval = self.lead(best, t)
            t.equal = t.comparisons == everything and t.behind_interval[0] <= 0
        return best

    def _finest(self, best, few, everything):
        values = self.values if best.auc < WEAK else self.left(best)
        best = self.ascend(self.pairs_of_factors(best, few, values), few, self.values)
        left = self.left(best)
        # From here with mirror images: what is left is compared with those of the best.
        best = self.measure(best.setting.but(flip=self.start.flip), everything, "flip")
        best = self.ascend(best, everything, {"flip": FLIPS} | left)
        as_given = self.measure(self.start, everything, "as given")
        if as_given is not None and not self._clearly(best, as_given):
            best = as_given
        for factor in FACTORS:
            value = getattr(self.start, factor)
            self.measure(best.setting.but(**{factor: value}), everything, factor)
        return best

    def costs(self, best):
        """(factor, trial with the given value of it alone) of each factor whose given value is not
        the best's."""
        alone = {f: best.setting.but(**{f: getattr(self.start, f)}) for f in FACTORS}
        return [
            (factor, self.trials[setting])
            for factor, setting in alone.items()
            if setting != best.setting and setting in self.trials
        ]

    def _learnt(self, trial) -> bool:
        """Whether the network clearly tells people apart, better than its crops' own pixels do."""
        n = trial.comparisons
        genuine = self.pairs.genuine[:n]
        scores = [trial.scores, *self._development.pixel_scores(n)]
        network, *pixels = (metrics.Comparisons(s, genuine) for s in scores)
        statistics = [metrics.statistic("auc", c) for c in (network, max(pixels, key=metrics.auc))]
        paired = metrics.compare_paired(
            *statistics, *self._people(n), options=_bootstrap(), threads=1, progress=False
        )
        return trial.auc_interval[0] > 0.5 and paired.interval.low > 0


def _bootstrap(level=0.95):
    return metrics.BootstrapOptions(replicates=400, level=level)


def accuracy_of(scores, genuine) -> tuple[int, int]:
    """(right, all) decisions of a threshold that is chosen on the other nine of ten folds."""
    folds = np.empty(len(scores), np.int32)
    for kind in (0, 1):
        folds[genuine == kind] = np.arange(np.sum(genuine == kind)) % 10
    value = metrics.accuracy(metrics.Comparisons(scores, genuine, folds)).value
    return round(value * len(scores)), len(scores)


def probability_of(expected, total, right, tried) -> float:
    """That ``total`` comparisons like those tried give at least the expected accuracy: of a
    beta-binomial with Jeffreys' prior."""
    a, b = right + 0.5, tried - right + 0.5
    least = math.ceil(round(expected * total, 6))

    def log_beta(x, y):
        return math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)

    def log_choose(k):
        return math.lgamma(total + 1) - math.lgamma(k + 1) - math.lgamma(total - k + 1)

    counts = range(least, total + 1)
    logs = [log_choose(k) + log_beta(k + a, total - k + b) - log_beta(a, b) for k in counts]
    return min(1.0, math.fsum(map(math.exp, logs)))
