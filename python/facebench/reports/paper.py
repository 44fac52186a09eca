"""Tables for papers: a row for each system, a column for each number."""

from itertools import groupby

from facebench import _eval
from facebench.analysis.ranking import holm_adjusted, rank_runs
from facebench.analysis.runs import as_list, read_run
from facebench.core._arguments import brief, listed, of_kind, one_of
from facebench.core._rows import entries
from facebench.protocols import protocol_metrics
from facebench.reports.escape import escape_latex, escape_markdown
from facebench.reports.markdown import markdown_table

INTERVALS = ("none", "brackets", "pm")


class _Column:
    """A number of a protocol: its title, and the cell and run folder of each system."""

    def __init__(self, protocol, title, track, metric):
        self.protocol, self.title, self.track, self.metric = protocol, title, track, metric
        self.cells, self.folders = {}, {}

    def text(self, value, digits):
        """A number as the field prints it: rates in percent."""
        if value is None:
            return "undefined"
        if digits is None:
            return _eval.metric_text(self.metric, value)
        rate = _eval.metric_is_rate(self.metric)
        return f"{100 * value if rate else value:.{digits}f}"

    def best(self, digits):
        """The systems whose printed number is the best; of one alone none is."""
        values = {s: c["value"] for s, c in self.cells.items() if c["value"] is not None}
        if len(values) < 2:
            return set()
        best = (min if lower_is_better(self.metric) else max)(values.values())
        return {s for s, v in values.items() if self.text(v, digits) == self.text(best, digits)}


def lower_is_better(metric):
    """Whether the smaller of two numbers of a metric is the better one."""
    entries = {m["name"]: m for m in protocol_metrics()}
    return bool(entries.get(metric.partition("@")[0], {}).get("lower_is_better"))


def _wanted(cells, metrics):
    """The numbers that were asked for, in that order; the name of a matrix asks for all of it."""
    if not metrics:
        return list(cells)
    return [c for m in metrics for c in cells if m in (c, c.partition("[")[0])]


def _columns(folders, titles, metrics):
    columns: dict[tuple, _Column] = {}
    known = set()
    for folder, system in zip(folders, titles, strict=True):
        data = read_run(folder)
        protocol = data["content"]["protocol"]
        key = protocol["id"], protocol["version"]
        tracks = data["metrics"]["tracks"]
        for track, measured in tracks.items():
            names = _eval.sorted_metrics(list(measured["metrics"]))
            cells = entries({name: measured["metrics"][name] for name in names})
            for metric in _wanted(cells, metrics):
                known |= {metric, metric.partition("[")[0]}
                title = protocol["title"] + (f", {track}" if len(tracks) > 1 else "")
                new = _Column(key, title, track, metric)
                column = columns.setdefault((key, track, metric), new)
                if system in column.cells:
                    raise ValueError(f"two runs of {protocol['id']} are titled '{system}'")
                column.cells[system], column.folders[system] = cells[metric], folder
    if missing := [m for m in metrics if m not in known]:
        raise ValueError(f"no run has the number {brief(missing[0])}; see facebench list metrics")
    return list(columns.values())


def _differences(column, baseline, how):
    """Of each other system: its number less the baseline's, and the p-value, adjusted (Holm)."""
    if baseline not in column.folders:
        return {}
    others = [s for s in column.folders if s != baseline]
    pairs = []
    for system in others:
        two = [column.folders[system], column.folders[baseline]]
        pairs += rank_runs(two, column.track, column.metric, **how)["pairs"]
    adjusted = holm_adjusted(
        [float("nan") if pair["p_value"] is None else pair["p_value"] for pair in pairs]
    )
    return {
        s: (q["difference"], p)
        for s, q, p in zip(others, pairs, adjusted, strict=True)
        if q["p_value"] is not None
    }


def _cell(column, system, style, notes):
    cell = column.cells.get(system)
    if cell is None:
        return "–"
    digits, interval = style["digits"], style["interval"]
    text = column.text(cell["value"], digits)
    if system in style["best"][id(column)]:
        text = style["bold"](text)
        notes["best"] = "Bold: the best of the column."
    if cell.get("reliable") is False:
        text += style["mark"]
        notes["mark"] = (
            f"{style['mark']} Fewer than ten errors were expected: a handful of comparisons "
            "decides."
        )
    low, high = cell["interval"] or (None, None)
    if interval != "none" and low is not None and high is not None:
        level = f"{100 * cell['level']:g}{style['percent']}"
        if interval == "brackets":
            text += f" [{column.text(low, digits)}, {column.text(high, digits)}]"
            notes["interval"] = f"In brackets: the {level} interval."
        else:
            half = max(high - cell["value"], cell["value"] - low)
            text += f" {style['pm']} {column.text(half, digits)}"
            notes["interval"] = f"{style['pm']}: the longer side of the {level} interval."
        if note := cell.get("interval_note"):
            mark = style["notes"].setdefault(note, "+" * (len(style["notes"]) + 1))
            text += mark
            notes[note] = f"{mark} {style['escape'](note)}."
    return text


def _difference(column, system, style, notes):
    """A system's difference to the baseline as text; "" where there is none."""
    entry = style["differences"][id(column)].get(system)
    if entry is None:
        return ""
    difference, p = entry
    sign = "+" if difference >= 0 else style["minus"]
    p_text = "< .001" if p < 0.001 else f"= {p:.3f}".replace("0.", ".", 1)
    notes["p"] = (
        f"In parentheses: the difference to {style['escape'](style['baseline'])} on the same "
        "draws of people, with its p-value (Holm, by column); the chance of a training, which "
        "another seed shows, is not in it."
    )
    return f"({sign}{column.text(abs(difference), style['digits'])}, p {style['p'](p_text)})"


def system_table(
    runs,
    format="markdown",
    titles=None,
    *,
    metrics=(),
    digits=None,
    interval="brackets",
    baseline=None,
    **bootstrap,
):
    """Systems in rows, numbers in columns, as Markdown or LaTeX (booktabs): what a paper prints.

    ``titles``: the system of each run; runs of one system under several protocols share one.
    ``metrics``: which numbers, as ``metrics.json`` names them ("accuracy", "tar@far=0.001", of a
    matrix all or one, "dprime[frontal,profile]"); all where it is empty. ``digits``: decimals, of
    rates in percent; None: two, and three of what is not a rate. ``interval``: "brackets", "pm"
    (the longer side) or "none". ``baseline``: a title; every other number then has its difference
    to that system's, on the same draws of people, and its p-value, adjusted by
    Holm over the column. ``bootstrap``: replicates, seed, ... of `rank_runs`.

    The best of a column is bold, marks are explained once below the table.

    >>> import pathlib, tempfile, facebench
    >>> from facebench.reports import system_table
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> text = "2\\t1\\nAnn\\t1\\t2\\nAnn\\t1\\tBob\\t1\\nCat\\t1\\t2\\nCat\\t1\\tDan\\t1\\n"
    >>> _ = (folder / "pairs.txt").write_text(text)
    >>> for name, last in (("mine", 0.2), ("theirs", 0.95)):
    ...     scores = [0.9, 0.1, 0.8, last]
    ...     _ = facebench.evaluate("lfw", scores=scores, root=folder, out=folder / name)
    >>> runs = [folder / "mine", folder / "theirs"]
    >>> print(system_table(runs, metrics=["auc"], interval="none").split("Bold")[0].strip())
    | system | LFW View 2: AUC |
    |--------|-----------------|
    | mine   | **100.00**      |
    | theirs | 50.00           |
    """
    one_of(format, ("markdown", "latex"), "the format of systems in rows")
    one_of(interval, INTERVALS, "interval")
    of_kind(baseline, (str, type(None)), "baseline")
    folders = as_list(runs)
    titles = listed(titles, "titles") or _eval.run_titles(folders)
    if len(titles) != len(folders):
        raise ValueError(f"{len(titles)} titles for {len(folders)} runs")
    if baseline is not None and baseline not in titles:
        raise ValueError(f"baseline {brief(baseline)} is not a title; titles: {', '.join(titles)}")
    columns = _columns(folders, titles, list(metrics))
    style = {
        "digits": digits,
        "interval": interval,
        "baseline": baseline,
        "notes": {},  # each note of an interval has a mark of its own
        "best": {id(c): c.best(digits) for c in columns},
        "differences": {
            id(c): {} if baseline is None else _differences(c, baseline, bootstrap) for c in columns
        },
        **(_LATEX if format == "latex" else _MARKDOWN),
    }
    notes: dict[str, str] = {}
    rows = [
        (
            style["escape"](s),
            [_cell(c, s, style, notes) for c in columns],
            [_difference(c, s, style, notes) for c in columns],
        )
        for s in dict.fromkeys(titles)
    ]
    write = _latex if format == "latex" else _markdown
    return write(columns, rows, [notes[k] for k in sorted(notes)])


_MARKDOWN = {
    "escape": escape_markdown,
    "bold": lambda text: f"**{text}**",
    "mark": "\\*",
    "pm": "±",
    "minus": "−",
    "percent": " %",
    "p": str,
}
_LATEX = {
    "escape": escape_latex,
    "bold": lambda text: rf"\textbf{{{text}}}",
    "mark": r"$^{*}$",
    "pm": r"$\pm$",
    "minus": "$-$",
    "percent": r"\,\%",
    "p": lambda text: f"${text}$",
}


def _markdown(columns, rows, notes):
    head = [f"{c.title}: {_eval.metric_title(c.metric)}" for c in columns]
    lines = [
        [system, *(f"{c} {d}".strip() for c, d in zip(cells, differences, strict=True))]
        for system, cells, differences in rows
    ]
    table = markdown_table(["system", *map(escape_markdown, head)], lines)
    return "\n".join([table, "", " ".join([*notes, "Rates in %."])]) + "\n"


def _latex(columns, rows, notes):
    escape = escape_latex
    top, rules, at = [], [], 2
    for title, side_by_side in groupby(column.title for column in columns):
        count = len(list(side_by_side))
        top.append(rf"\multicolumn{{{count}}}{{c}}{{{escape(title)}}}")
        rules.append(rf"\cmidrule(lr){{{at}-{at + count - 1}}}")
        at += count
    body = []
    for system, cells, differences in rows:
        body.append(" & ".join([system, *cells]) + r" \\")
        if any(differences):  # in a line of their own: five columns fit a page
            small = (rf"\scriptsize {d}" if d else "" for d in differences)
            body.append(" & ".join(["", *small]) + r" \\[2pt]")
    lines = [
        "% needs booktabs; for a table* over both columns",
        r"{\small\setlength{\tabcolsep}{4pt}%",
        rf"\begin{{tabular}}{{l{'c' * len(columns)}}}",
        r"\toprule",
        rf" & {' & '.join(top)} \\",
        "".join(rules),
        rf"system & {' & '.join(escape(_eval.metric_title(c.metric)) for c in columns)} \\",
        r"\midrule",
        *(row.replace("–", "--") for row in body),
        r"\bottomrule",
        r"\end{tabular}}",
    ]
    below = " ".join([*notes, r"Rates in \%."])
    return "\n".join([*lines, rf"\par\smallskip{{\footnotesize {below}}}"]) + "\n"
