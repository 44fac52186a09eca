"""The pictures of a track on a page of runs: matrices, curves with the table's numbers, scores."""

from facebench.reports.error_curves import ErrorCurve, Mark
from facebench.reports.plots import cmc_svg, det_svg, histogram_svg, matrix_svg, roc_svg


def of_track(table, track):
    """The rows of single numbers, and those of each matrix, of a track."""
    numbers: list[dict] = []
    matrices: dict[str, list[dict]] = {}
    for row in table["rows"]:
        if row["track"] != track:
            continue
        if row["row"] or row["column"]:
            matrices.setdefault(row["metric"], []).append(row)
        else:
            numbers.append(row)
    return numbers, matrices


def as_matrix(rows, run):
    """The cells of a matrix of a run: labels of columns, and (label, cells) of each row."""
    columns = list(dict.fromkeys(row["column"] for row in rows))
    cells = {(row["row"], row["column"]): row["cells"][run] for row in rows}
    labels = dict.fromkeys(row["row"] for row in rows)
    return {
        "title": rows[0]["quantity"],
        "columns": columns,
        "rows": [(label, [cells[label, column] for column in columns]) for label in labels],
    }


def track_matrices(matrices, runs, track):
    """The matrices of a track, of each quantity a row of pictures: (SVG, caption) of each run."""
    every = []
    for rows in matrices.values():
        drawn: list[tuple[str, str]] = []
        every.append(drawn)
        for k, run in enumerate(runs):
            matrix = as_matrix(rows, k)
            cells = [cells for _, cells in matrix["rows"]]
            if not any(c for row in cells for c in row):
                continue
            notes = [
                [c and c["interval"] and "{:.3f} – {:.3f}".format(*c["interval"]) for c in row]
                for row in cells
            ]
            labels = [label for label, _ in matrix["rows"]]
            values = [[c and c["value"] for c in row] for row in cells]
            name = matrix["title"]
            svg = matrix_svg(labels, matrix["columns"], values, notes, title=name)
            title = f"{run.title}: " if len(runs) > 1 else ""
            caption = f"{title}{name}, track {track} (row: template 1, column: template 2)"
            drawn.append((svg, caption))
    return every


def _marks(numbers, run):
    """The TARs at a FAR of the table, of one of its runs."""
    marks = []
    for row in numbers:
        cell = row["cells"][run]
        support = cell and cell["support"]
        if support and support["rate"] == "FAR" and cell["value"] is not None:
            few = not support["reliable"]
            marks.append(Mark(support["target"], cell["value"], cell["interval"], few))
    return tuple(marks)


def track_plots(runs, track, numbers, axes="normal"):
    """Rows of pictures of a track, (SVG, caption) each: curves, then histograms. ``numbers``: its
    rows of the table, ``axes``: those of DET curves."""

    def having(kind):
        return [(r.title, r.curves[track][kind]) for r in runs if kind in r.curves.get(track, {})]

    drawn = []
    cmc, identification = having("cmc"), having("dir")
    if having("roc"):
        curves = []
        for k, run in enumerate(runs):
            if "roc" in (data := run.curves.get(track, {})):
                counts = run.tracks[track]["counts"]
                far, tar = data["roc"]
                curve = ErrorCurve(run.title, far, tar, data.get("band"), marks=_marks(numbers, k))
                many = {kind: counts.get(kind, 0) for kind in ("genuine", "impostor")}
                curves.append(curve._replace(**many))
        levels = {f"{100 * r.level:g} %" for r in runs if "band" in r.curves.get(track, {})}
        note = f"; bands: {', '.join(sorted(levels))}, pointwise, over draws of people"
        note = note if levels else ""
        if any(c.marks for c in curves):
            note = f"; points: the numbers of the table{note}"
        drawn.append((roc_svg(curves), f"ROC, track {track}{note}"))
        drawn.append((det_svg(curves, axes=axes), f"DET, track {track}{note}"))
    if cmc:
        drawn.append((cmc_svg(cmc), f"CMC, track {track}"))
    if identification:
        curves = [ErrorCurve(t, fpir, dir) for t, (fpir, dir) in identification]
        caption = f"False negative over false positive identification rate, track {track}"
        drawn.append((det_svg(curves, "FPIR", "FNIR", axes), caption))
    histograms = []
    for run in runs:
        if scores := run.curves.get(track, {}).get("scores"):
            title = f": {run.title}" if len(runs) > 1 else ""
            thresholds = _thresholds(run.tracks[track]["metrics"], scores)
            caption = f"Scores, track {track}{title}"
            if thresholds:
                caption += f"; thresholds: {', '.join(f'{n} {at:.3g}' for at, n in thresholds)}"
            edges, genuine, impostor = scores
            histograms.append((histogram_svg(edges, genuine, impostor, thresholds), caption))
    return [drawn, histograms]


def _thresholds(metrics, scores):
    """(score, name) of the thresholds that a histogram shows: of FAR 0.1 % and 1 %, and of the
    EER, which is known to a bin."""
    found = []
    for far in ("0.001", "0.01"):
        at = metrics.get(f"tar@far={far}", {}).get("threshold")
        if at is not None:
            found.append((at, f"FAR {100 * float(far):g} %"))
    if "eer" in metrics and (at := _equal_error(*map(list, scores))) is not None:
        found.append((at, "EER"))
    return found


def _equal_error(edges, genuine, impostor):
    """Where as large a share of impostors lies above as of genuine ones below; within a bin both
    are taken as even. None where a class is empty."""
    all_genuine, all_impostor = sum(genuine), sum(impostor)
    if not (all_genuine and all_impostor):
        return None
    below, above = 0.0, 1.0
    for k, (g, i) in enumerate(zip(genuine, impostor, strict=True)):
        miss, accept = g / all_genuine, i / all_impostor
        if below + miss >= above - accept and miss + accept > 0:
            return float(edges[k] + (edges[k + 1] - edges[k]) * (above - below) / (miss + accept))
        below, above = below + miss, above - accept
    return None
