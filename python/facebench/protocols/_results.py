"""What an evaluation gives: numbers of tracks, as attributes, tables, frames and plots."""

import html
import json
import textwrap
from collections import Counter
from typing import Any

from facebench import _eval
from facebench.core._above import from_above
from facebench.core._arguments import did_you_mean, of_kind
from facebench.core._fields import NamedValues
from facebench.core._rows import frame, rests_on, rows_of


def _is_number(value):
    return hasattr(value, "__float__") or hasattr(value, "__index__")


def _mark(notes, text, sign):
    """The mark of a footnote, another for each text; "" where there is none."""
    if not text:
        return ""
    number = 1 + sum(mark.startswith(sign) for mark in notes.values())
    return notes.setdefault(text, f"[{number}]" if sign == "[" else sign * number)


def _footnotes(notes):
    """Footnotes by their marks, each once, in lines of a terminal."""
    return [
        textwrap.fill(f"{mark} {text}", 80, subsequent_indent="  ", break_long_words=False)
        for text, mark in notes.items()
    ]


class MetricResult(_eval.Number, NamedValues):
    """One number: ``value``, ``low``, ``high``, ``level``, ``method``, and the counts behind it.

    ``no_interval`` says why there is none where one was asked for; the bounds are then None or NaN.
    ``interval_note`` says where the level is not what it seems: "at least", or of few people.
    Of a matrix ``value``, ``low`` and ``high`` are arrays, ``rows`` and ``columns`` their labels.
    """

    def _named(self):
        return self.details

    @property
    def is_matrix(self):
        return bool(self.rows)

    def __float__(self):
        if self.is_matrix:
            raise TypeError(f"{self.name} is a matrix, not a number")
        return self.value

    def __format__(self, spec):
        return format(float(self), spec) if spec else str(self)

    def __eq__(self, other):
        return self is other or (
            not self.is_matrix and _is_number(other) and self.value == float(other)
        )

    def __hash__(self):
        return id(self) if self.is_matrix else hash(self.value)

    def __lt__(self, other):
        return float(self) < float(other)

    def __le__(self, other):
        return float(self) <= float(other)

    def __gt__(self, other):
        return float(self) > float(other)

    def __ge__(self, other):
        return float(self) >= float(other)

    def __repr__(self):
        if self.is_matrix:
            lines = [f"{self.name} ({' '.join(self.columns)})"]
            for label, row in zip(self.rows, self.value, strict=True):
                lines.append(f"{label}: " + " ".join(f"{x:.3f}" for x in row))
            return "\n    ".join(lines)
        return self._line(None)

    def _line(self, notes):
        """The number on one line. What is to be known of it is a footnote in ``notes`` (by its
        text its mark), which several lines share; None: it stands on the line itself."""
        written = self.written
        unit = " %" if written["is_rate"] else ""
        interval, said = self._interval(), [self.rests_on]
        text = f"{self.name} = {written['value']}{unit}"
        text += f" {interval.rstrip('+')}" if interval.startswith("[") else ""
        if "bounds" in self.details:
            said.append("between {} and {}".format(*written["bounds"]))
        few = "fewer than ten errors were expected" if self.details.get("reliable") is False else ""
        missing = interval if interval.startswith("no") else ""
        if notes is None:
            said = [missing, *said, few, self.interval_note]
        else:
            text += _mark(notes, few, "*") + _mark(notes, self.interval_note, "+")
            said[:0] = [f"no interval {_mark(notes, missing, '[')}"] if missing else []
        said = list(filter(None, said))
        return f"{text} ({'; '.join(said)})" if said else text

    def _interval(self):
        if self.low is None:
            return ""
        if self.low != self.low and self.no_interval:
            return f"no interval: {self.no_interval}"
        mark = "+" if self.interval_note else ""
        return "[{}, {}]".format(*self.written["interval"]) + mark

    @property
    def is_rate(self):
        """Whether it is printed in percent; a threshold or a similarity is not."""
        return self.written["is_rate"]

    @property
    def rests_on(self):
        """The error rate achieved and its number of errors; "" for other numbers."""
        return rests_on(self.details)

    def rows_of_text(self):
        """(title, value, interval) of each number, rates in percent."""
        if self.is_matrix:
            for i, row in enumerate(self.rows):
                for j, column in enumerate(self.columns):
                    interval = (
                        "" if self.low is None else f"[{self.low[i, j]:.3f}, {self.high[i, j]:.3f}]"
                    )
                    title = f"{self.written['title']}: {row} / {column}"
                    yield title, f"{self.value[i, j]:.3f}", interval
            return
        mark = "*" if self.details.get("reliable") is False else ""
        yield self.written["title"], f"{self.written['value']}{mark}", self._interval()


class TrackResult(_eval.TrackResult, NamedValues):
    """The numbers of one track. Metrics are attributes where their names allow it, and items.

    ``scores`` has the shape of the track's ``kind``: (N,) of a list, (rows, columns) of a dense
    track, (groups, subjects, groups, subjects) of a matrix, (probes, gallery) of an identification;
    ``trials`` says what the axes are.
    """

    def __init__(self, raw, index):
        super().__init__(of_kind(raw, _eval.Result, "raw").tracks[index])
        self._raw, self._index = raw, index
        self.metrics = {n.name: MetricResult(n) for n in self.numbers}
        # A summary over tracks has no trials of its own.
        track = raw.trials.tracks[index : index + 1]
        self.trials: Any = track[0].trials if track else None

    @property
    def scores(self):
        return self._raw.scores[self._index]

    @property
    def labels(self):
        """1 = genuine, of every comparison in order (``labelled_scores()`` has both)."""
        return self.labelled_scores()[1]

    def labelled_scores(self):
        """``(scores, labels)`` of every comparison, in the order of the lists, row by row."""
        return self._raw.labelled_scores(self._index)

    def __getitem__(self, metric):
        of_kind(metric, str, "metric")
        try:
            return self.metrics[metric]
        except KeyError:
            raise KeyError(f"{metric!r}; there are: {', '.join(self.metrics)}") from None

    def _named(self):
        return self.__dict__.get("metrics", {})

    def __reduce__(self):
        return TrackResult, (self._raw, self._index)

    def roc(self, count=500):
        """``(far, tar)``: at most ``count`` exact points of the curve, ends included.

        Every comparison is in it, failed ones with the lowest score.
        """
        scores, labels = self.labelled_scores()
        return _eval.roc_points(scores, labels, count)

    def roc_band(self):
        """``(far, low, high)``: intervals of the TAR at eight FARs a decade, down to that of one
        false accept, from the draws of the result's intervals; the threshold is chosen again in
        each. They are pointwise, at the level of the result; empty arrays where it has none.
        """
        import numpy as np

        return _eval.curves_of(self._raw, self._index).get("band", (np.empty(0),) * 3)

    def cmc(self):
        """Of an identification: the share of mated probes found at rank k or better, for each k.

        ValueError for a track of another kind.
        """
        if self.kind != "identification":
            raise ValueError(f"track {self.name} is not an identification but {self.kind}")
        searches = self.scores
        if not isinstance(searches, _eval.Searches):
            trials = self._raw.trials
            identity = (trials.templates if len(trials.templates) else trials).identity
            probes, gallery = (
                identity[units] for units in (self.trials.probes, self.trials.gallery)
            )
            searches = _eval.Searches(searches, probes, gallery)
        return _eval.cmc(searches, self._raw.options.rank_ties).rate

    def _failures(self):
        text = f"{len(self.failed)} failed enrolments ({100 * self.failure_to_enrol_rate:.2f} %)"
        if missing := sum(status == "missing" for _, status in self.failed):
            text += f", {missing} of them missing"
        if self.left_out:
            text += f", {len(self.left_out)} of {self.samples} images left out of templates"
        return text

    def __repr__(self):
        notes: dict[str, str] = {}
        return "\n".join([self._lines(notes), *_footnotes(notes)])

    def _lines(self, notes):
        lines = [
            f"{self.name}: {self.genuine} genuine + {self.impostor} impostor comparisons, "
            f"{self._failures()}"
        ]
        numbers = [repr(m) if m.is_matrix else m._line(notes) for m in self.metrics.values()]
        return "\n  ".join(lines + numbers)


class Result(NamedValues):
    """The result of an evaluation; Jupyter shows it as a table."""

    def __init__(self, raw, root="", threads=0):
        self._raw, self._root, self._threads = of_kind(raw, _eval.Result, "raw"), root, threads
        self.protocol = raw.spec
        self.options = raw.options
        self.notes = raw.notes
        self.warnings = raw.warnings
        self.folder = ""  # that it was loaded from
        self.cache = ""  # where a run keeps its pack and embeddings
        self.reused = []  # what it took from there: "pack", "embeddings"
        self.content: dict[str, Any] = {}  # what a run's manifest holds of what made the scores
        self.tracks = {t.name: TrackResult(raw, i) for i, t in enumerate(raw.tracks)}

    def __getitem__(self, name) -> Any:
        """A track by its name, or a metric by its name where one track alone has it."""
        of_kind(name, str, "track or metric")
        if name in self.tracks:
            return self.tracks[name]
        if len(self.tracks) == 1:
            return next(iter(self.tracks.values()))[name]
        having = [track for track in self.tracks.values() if name in track.metrics]
        if len(having) == 1:
            return having[0][name]
        if having:
            names = ", ".join(t.name for t in having)
            raise KeyError(
                f"{name!r} is of several tracks: {names}; say result[{having[0].name!r}][{name!r}]"
            )
        there = [f"{t.name} ({', '.join(t.metrics)})" for t in self.tracks.values()]
        metrics = [metric for t in self.tracks.values() for metric in t.metrics]
        near = did_you_mean(name, [*self.tracks, *metrics])
        raise KeyError(f"{name!r}{near or '; there are: ' + '; '.join(there)}")

    def __getstate__(self):
        return self._raw, self._root, self._threads, self.content

    def __setstate__(self, state):
        *made_of, content = state
        Result.__init__(self, *made_of)
        self.content = content

    def to_rows(self):
        """A dict for each number: protocol, track, metric, value, low, high, level, method.

        Of a matrix ``row`` and ``column`` say which of its numbers it is.
        """
        return rows_of(self.to_dict())

    def to_frame(self):
        """`to_rows` as a pandas DataFrame."""
        return frame(self.to_rows())

    def plot_roc(self, ax=None, *, bands=True, marks=True, **line):
        """TAR over FAR of each track; see `facebench.plots.plot_roc`."""
        return from_above("plots").plot_roc(self, ax, bands=bands, marks=marks, **line)

    def plot_det(self, ax=None, *, bands=True, marks=True, axes="normal", **line):
        """FNMR over FMR of each track; see `facebench.plots.plot_det`."""
        return from_above("plots").plot_det(self, ax, bands=bands, marks=marks, axes=axes, **line)

    def plot_cmc(self, ax=None, **line):
        """Identification rate over rank of each search; see `facebench.plots.plot_cmc`."""
        return from_above("plots").plot_cmc(self, ax, **line)

    def plot_scores(self, ax=None, **line):
        """Histograms of genuine and impostor scores; see `facebench.plots.plot_scores`."""
        return from_above("plots").plot_scores(self, ax, **line)

    def _named(self):
        """The tracks, and the metrics that one alone has; of a single track its metrics."""
        tracks = self.__dict__.get("tracks", {})
        if len(tracks) == 1:
            return next(iter(tracks.values())).metrics
        count = Counter(metric for track in tracks.values() for metric in track.metrics)
        alone = {m: t[m] for t in tracks.values() for m in t.metrics if count[m] == 1}
        return alone | tracks

    @property
    def all_failed(self):
        """Whether nothing at all could be enrolled: then the numbers say nothing."""
        return all(t.failure_to_enrol_rate == 1 for t in self.tracks.values())

    def to_dict(self):
        """The content of ``metrics.json``."""
        return self._raw.metrics()

    def to_json(self):
        """`to_dict` as a text of JSON: what ``metrics.json`` holds."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def save(self, path, overwrite=False, command=""):
        """Write a run folder: run.json, scores.h5, metrics.json, curves.json, report.md and
        report.html, whole or not at all. ValueError for a result that `facebench.load` gave.
        """
        if self.folder:
            raise ValueError(f"this result is that of {self.folder}: copy the folder")
        how = (overwrite, command, self._root, self._threads)
        _eval.save_run(self._raw, path, *how, from_above("write_run_pages"), self.content)

    def _convention(self):
        return f"convention {_eval.convention_text(self.options.to_dict())}"

    def __repr__(self):
        head = f"{self.protocol.title} (version {self.protocol.version}), {self._convention()}"
        warnings = [f"WARNING: {w}" for w in self.warnings]
        notes: dict[str, str] = {}
        tracks = [track._lines(notes) for track in self.tracks.values()]
        return "\n".join([*warnings, head, *tracks, *_footnotes(notes), *self.notes])

    def _repr_html_(self):
        rows = []
        for track in self.tracks.values():
            for m in track.metrics.values():
                for title, value, interval in m.rows_of_text():
                    method = "; ".join(filter(None, [m.method, m.interval_note]))
                    cells = (track.name, title, value, interval, m.rests_on, method)
                    rows.append(
                        "<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in cells) + "</tr>"
                    )
        failed = ", ".join(f"{t.name}: {t._failures()}" for t in self.tracks.values())
        notes = "".join(f"<p>{html.escape(n)}</p>" for n in self.notes)
        warnings = "".join(f"<p><b>Warning:</b> {html.escape(w)}</p>" for w in self.warnings)
        return (
            f"{warnings}<p><b>{html.escape(self.protocol.title)}</b>, "
            f"{html.escape(self._convention())}; {html.escape(failed)}</p>"
            "<table><tr><th>track</th><th>metric</th><th>%</th><th>interval</th>"
            "<th>rests on</th><th>method</th></tr>" + "".join(rows) + "</table>" + notes
        )
