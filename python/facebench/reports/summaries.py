"""Systems and protocols with one number each: as a table of a page, and as a text."""

from facebench import _eval
from facebench.analysis.headlines import headline
from facebench.analysis.runs import as_list, read_run
from facebench.reports.escape import on_one_line
from facebench.reports.page import Cell, table_block


def _text(metric, value):
    return "undefined" if value is None else _eval.metric_text(metric.partition("[")[0], value)


def _cell(number):
    _, metric, cell = number
    if cell is None:
        return "–"
    ends = cell["interval"] and " – ".join(_text(metric, end) for end in cell["interval"])
    return Cell(_text(metric, cell["value"]), ends or "", sort=cell["value"])


def systems_by_protocols(loaded, protocols):
    """A row for each system, a column for each protocol; ``protocols``: the runs of each."""
    columns = [""]
    cells: dict[str, list] = {run.title: [] for run in loaded}
    for runs in protocols:
        track, metric, _ = headline(runs[0].metrics)
        name = runs[0].content["protocol"]["title"]
        columns.append(f"{name}: {_eval.metric_title(metric.partition('[')[0])}")
        for title, row in cells.items():
            numbers = [
                _cell(headline(r.metrics, {"track": track, "metric": metric}))
                for r in runs
                if r.title == title
            ]
            row.append(numbers[0] if numbers else "–")
    return table_block(columns, [[title, *row] for title, row in cells.items()])


def _numbers(runs, titles):
    """Of each protocol its id, its title with what is measured, and the number of each system."""
    protocols: dict[str, dict] = {}
    for folder, title in zip(as_list(runs), titles, strict=True):
        run = read_run(folder)
        protocol, metrics = run["content"]["protocol"], run["metrics"]
        entry = protocols.setdefault(protocol["id"], {"systems": {}})
        if not entry["systems"]:
            track, metric, _ = headline(metrics)
            entry["asked"] = {"track": track, "metric": metric}
            entry["title"] = f"{protocol['title']}: {_eval.metric_title(metric)}"
        entry["systems"][title] = headline(metrics, entry["asked"])
    return protocols


def protocols_by_systems(runs, titles, links):
    """A table with a row for each protocol, which leads to its page; ``links``: by protocol."""
    systems = list(dict.fromkeys(titles))
    rows = [
        [
            Cell(entry["title"], href=links.get(protocol, "")),
            *(_cell(entry["systems"].get(name, ("", "", None))) for name in systems),
        ]
        for protocol, entry in _numbers(runs, titles).items()
    ]
    return table_block(["rates in %", *systems], rows)


def summary_text(runs, titles):
    """Systems by protocols as a text of 80 columns: two lines for each protocol."""
    systems = list(dict.fromkeys(titles))
    wide = 78 // max(len(systems), 1)

    def line(cells):
        return "  " + "".join(f"{c[: wide - 2]:{wide}}" for c in cells).rstrip()

    lines = [line(map(on_one_line, systems))]
    for entry in _numbers(runs, titles).values():
        cells = []
        for name in systems:
            _, metric, cell = entry["systems"].get(name, ("", "", None))
            ends = [_text(metric, end) for end in (cell and cell["interval"]) or ()]
            value = "–" if cell is None else _text(metric, cell["value"])
            cells.append(f"{value} [{', '.join(ends)}]" if ends else value)
        lines += [on_one_line(entry["title"])[:80], line(cells)]
    return "\n".join(lines)
