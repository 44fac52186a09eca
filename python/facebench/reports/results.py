"""The part of a page that shows run folders: numbers, matrices, plots, failures, provenance."""

import os
from urllib.parse import quote

from facebench import _eval
from facebench._rows import rests_on
from facebench.reports.page import Cell, Section, table_block
from facebench.reports.plots import cmc_svg, det_svg, histogram_svg, matrix_svg, roc_svg
from facebench.reports.runs import as_list, curves, read_run

# Enough for the spread that a band shows; the numbers of the tables have draws of their own.
_BAND_DRAWS = 200


class _Run:
    """A run folder with the title of its column."""

    def __init__(self, folder, title):
        self.title = title
        data = read_run(folder)
        self.content, self.metrics = data["content"], data["metrics"]
        self.protocol = self.metrics["protocol"]["id"]
        self.version = self.metrics["protocol"].get("version", 0)
        self.tracks = self.metrics["tracks"]
        self.curves = curves(folder, band_draws=_BAND_DRAWS)
        self.level = self.content["options"].get("level")


def runs_section(title, runs, titles=None, notes=()):
    """Run folders side by side: numbers with intervals, matrices, curves, failures, provenance.

    ``titles`` name the columns, by default by folder. Runs of one system under several protocols
    may have the same title. ``notes`` are paragraphs that stand at the top.
    """
    folders = as_list(runs)
    titles = list(titles or _eval.run_titles(folders))
    if len(titles) != len(folders):
        raise ValueError(f"{len(titles)} titles for {len(folders)} runs")
    loaded = [_Run(f, t) for f, t in zip(folders, titles, strict=True)]
    versions = {}
    for run in loaded:
        versions.setdefault(run.protocol, set()).add(run.version)
    protocols = {}
    for run in loaded:
        same = protocols.setdefault((run.protocol, run.version), [])
        if run.title in (r.title for r in same):
            raise ValueError(f"two runs of protocol {run.protocol} are titled {run.title!r}")
        same.append(run)
    section = Section(title, [{"kind": "text", "text": n} for n in notes])
    for same in protocols.values():
        if len(protocols) > 1:
            heading = same[0].content["protocol"]["title"]
            if len(versions[same[0].protocol]) > 1:
                heading += f" (version {same[0].version})"
            section.blocks.append({"kind": "heading", "text": heading})
        section.blocks += _protocol_blocks(same)
    section.blocks += [*_notes(loaded), _provenance(loaded)]
    warnings = [(run.title, text) for run in loaded for text in run.content.get("warnings", [])]
    several = len(loaded) > 1
    section.blocks[:0] = [
        {"kind": "text", "text": f"Warning{f' ({title})' if several else ''}: {text}"}
        for title, text in warnings
    ]
    return section


def folders_section(runs, titles, page_folder):
    """Links from a page to run folders and their own pages."""
    rows = []
    for run, title in zip(as_list(runs), titles, strict=True):
        folder = os.path.relpath(run, page_folder)
        own = ("report.html", "report.md", "run.json", "metrics.json", "scores.h5")
        there = [name for name in own if os.path.exists(os.path.join(run, name))]
        links = [Cell(name, href=quote(f"{folder}/{name}")) for name in there]
        rows.append([title, Cell(folder, href=quote(folder)), *links, *[""] * (5 - len(links))])
    return Section("Run folders", [table_block(["run", "folder", "files", "", "", "", ""], rows)])


def _protocol_blocks(runs):
    tracks = _eval.sorted_names(list(dict.fromkeys(t for r in runs for t in r.tracks)))
    blocks = []
    numbers = _numbers(runs, tracks)
    if numbers["groups"]:
        blocks.append({"kind": "numbers", **numbers})
    for track in tracks:
        for plots in (_matrices(runs, track), _plots(runs, track)):
            if plots:
                blocks.append({"kind": "plots", "plots": plots})
    blocks.append(_counts(runs, tracks))
    failures = [
        _failures(runs, "failed", "Failed enrolments"),
        _failures(runs, "left_out_of_templates", "Images left out of templates"),
    ]
    return blocks + [b for b in (_blemishes(runs), *failures) if b]


# --- numbers --------------------------------------------------------------------------------------


def _cells(run, track):
    return run.tracks.get(track, {"metrics": {}})["metrics"]


def _is_matrix(cell):
    return isinstance(cell["value"], list)


def _numbers(runs, tracks):
    groups, used = [], []
    for track in tracks:
        metrics = dict.fromkeys(
            m for r in runs for m, cell in _cells(r, track).items() if not _is_matrix(cell)
        )
        rows = []
        for metric in _eval.sorted_metrics(list(metrics)):
            found = [_cells(r, track).get(metric) for r in runs]
            rows.append((_eval.metric_title(metric), [c and _number(metric, c) for c in found]))
            used += [c for c in found if c]
        if rows:
            groups.append((f"{runs[0].content['protocol']['title']}, track {track}", rows))
    levels = sorted({f"{100 * c['level']:g} %" for c in used if c["level"] is not None})
    return {
        "runs": [r.title for r in runs],
        "groups": groups,
        "marked": _eval.unreliable_note(
            ["FAR" if "far_target" in c else "FPIR" for c in used if c.get("reliable") is False]
        ),
        "levels": ", ".join(levels),
        "conventions": ", ".join(
            sorted({_eval.convention_text(r.content["options"]) for r in runs})
        ),
    }


def _number(metric, cell):
    def text(value):
        return "undefined" if value is None else _eval.metric_text(metric, value)

    interval = cell["interval"]
    return {
        "value": text(cell["value"]),
        "interval": interval and f"{text(interval[0])} – {text(interval[1])}",
        "unreliable": cell.get("reliable") is False,
        "rests_on": "; ".join(filter(None, (_bounds(metric, cell), rests_on(cell)))),
        "title": _method(cell),
    }


def _bounds(metric, cell):
    if cell.get("bounds") is None:
        return ""
    return "between {} and {}".format(*(_eval.metric_text(metric, b) for b in cell["bounds"]))


def _method(cell):
    text = f"method: {cell['method']}"
    if cell.get("standard_error") is not None:
        text += f"; sd {100 * cell['sd']:.2f}, standard error {100 * cell['standard_error']:.2f}"
    return text


# --- plots ----------------------------------------------------------------------------------------


def _matrices(runs, track):
    # Systems beside each other, one metric after the other.
    found = [(m, r, c) for r in runs for m, c in _cells(r, track).items() if _is_matrix(c)]
    plots = []
    for wanted in dict.fromkeys(metric for metric, _, _ in found):
        for metric, run, cell in (f for f in found if f[0] == wanted):
            intervals = cell["interval"]
            notes = intervals and [
                [i and f"{i[0]:.3f} – {i[1]:.3f}" for i in row] for row in intervals
            ]
            name = _eval.metric_title(metric)
            svg = matrix_svg(cell["rows"], cell["columns"], cell["value"], notes, title=name)
            title = f"{run.title}: " if len(runs) > 1 else ""
            caption = f"{title}{name}, track {track} (row: template 1, column: template 2)"
            plots.append({"svg": svg, "caption": caption})
    return plots


def _plots(runs, track):
    def having(kind):
        return [(r.title, r.curves[track][kind]) for r in runs if kind in r.curves.get(track, {})]

    plots = []
    roc, cmc, identification = having("roc"), having("cmc"), having("dir")
    if roc:
        bands = [r.curves[track].get("band") for r in runs if "roc" in r.curves.get(track, {})]
        levels = {f"{100 * r.level:g} %" for r in runs if "band" in r.curves.get(track, {})}
        note = f"; bands: {', '.join(sorted(levels))}, pointwise, over draws of people"
        note = note if levels else ""
        svg = roc_svg([(t, far, tar) for t, (far, tar) in roc], bands)
        plots.append({"svg": svg, "caption": f"ROC, track {track}{note}"})
        svg = det_svg(
            [(t, far, [1 - v for v in tar]) for t, (far, tar) in roc],
            bands=[b and (b[0], 1 - b[2], 1 - b[1]) for b in bands],
        )
        plots.append({"svg": svg, "caption": f"DET, track {track}{note}"})
    if cmc:
        plots.append({"svg": cmc_svg(cmc), "caption": f"CMC, track {track}"})
    if identification:
        svg = det_svg(
            [(t, fpir, [1 - v for v in dir]) for t, (fpir, dir) in identification],
            "FPIR",
            "FNIR",
        )
        plots.append(
            {
                "svg": svg,
                "caption": f"False negative over false positive identification rate, track {track}",
            }
        )
    for title, scores in having("scores"):
        caption = f"Scores, track {track}" + (f": {title}" if len(runs) > 1 else "")
        plots.append({"svg": histogram_svg(*scores), "caption": caption})
    return plots


# --- tables ---------------------------------------------------------------------------------------


def _counts(runs, tracks):
    rows = []
    for run in runs:
        for track in (t for t in tracks if t in run.tracks):
            counts, more = run.tracks[track]["counts"], run.content["tracks"].get(track, {})
            rate = counts.get("failure_to_enrol_rate")
            rows.append(
                [
                    run.title,
                    track,
                    counts["genuine"],
                    counts["impostor"],
                    more.get("samples", "?"),
                    more.get("identities", "?"),
                    counts["failed_enrolments"],
                    "?" if rate is None else 100 * rate,
                    more.get("dropped", "?"),
                ]
            )
    columns = [
        "run",
        "track",
        "genuine",
        "impostor",
        "images",
        "people",
        "failed to enrol",
        "share, %",
        "left out",
    ]
    return table_block(columns, rows)


def _blemishes(runs):
    rules = {r["name"]: r for r in _eval.blemish_rules()}
    rows = [
        [run.title, rules[b["kind"]]["doc"], b["count"], rules[b["kind"]]["rule"], _places(b)]
        for run in runs
        for b in run.content.get("blemishes", [])
        if b["kind"] in rules
    ]
    if not rows:
        return None
    columns = ["run", "in the lists", "number", "rule", "first"]
    return table_block(columns, rows, summary="Blemishes of the lists")


def _places(blemish):
    def place(b):
        return b["file"] if b["line"] is None else f"{b['file']}:{b['line']}"

    return "; ".join(f"{place(b)}: {b['what']}" for b in blemish["first"][:3])


def _failures(runs, key, title):
    rows = [
        [run.title, track, f["name"], f["status"]]
        for run in runs
        for track, content in run.content["tracks"].items()
        for f in content.get(key, [])
    ]
    if not rows:
        return None
    columns = ["run", "track", "sample", "status"]
    return table_block(columns, rows, summary=f"{title} ({len(rows)})")


def _notes(runs):
    """What a reader of the numbers must know, each note once with the runs that have it."""
    titles = {}
    for run in runs:
        for note in run.content.get("notes", []):
            titles.setdefault(note, {})[run.title] = None
    several = len({run.title for run in runs}) > 1
    return [
        {"kind": "text", "text": f"Note{' (' + ', '.join(t) + ')' if several else ''}: {note}"}
        for note, t in titles.items()
    ]


def _provenance(runs):
    rows = []
    for run in runs:
        c, title = run.content, f"{run.title}, {run.protocol}"
        rows.append([title, "facebench", c.get("facebench", "?")])
        rows.append([title, f"protocol {c['protocol']['id']}", c["protocol"]["sha256"]])
        rows += [[title, i["role"], i["sha256"]] for i in c["inputs"]]
        rows += [[title, name, digest] for name, digest in c["outputs"].items()]
    return table_block(["run", "what", "version or SHA-256"], rows, summary="Provenance")
