"""The number that stands for a protocol where there is room for one alone."""

from facebench.core._rows import entries

# What stands for a protocol in a table, the first that it has: a family of numbers.
_HEADLINES = (
    *("accuracy", "tar@far=", "dir@fpir=", "rank@1", "auc", "eer", "accuracy_at_", "dprime["),
)


def headline(metrics: dict, asked=None):
    """(track, metric, cell): the number asked for, else the first of a protocol's families; of TARs
    that at the lowest FAR at which ten false accepts or more are expected, of d' that of the first
    group against the last."""
    track, metric = (asked or {}).get("track", ""), (asked or {}).get("metric", "")
    cells = [c for c in cells_of(metrics) if track in ("", c[0])]
    if metric:
        return next((c for c in cells if c[1] == metric), (track, metric, None))
    for family in _HEADLINES:
        of_family = [c for c in cells if c[1].startswith(family)]
        if of_family and "rows" in of_family[0][2]:
            return of_family[len(of_family[0][2]["columns"]) - 1]
        of_family.sort(key=lambda c: (c[2].get("reliable") is False, _target(c[1])))
        if of_family:
            return of_family[0]
    return cells[0] if cells else ("", "", None)


def cells_of(metrics: dict):
    """(track, name, cell) of every number; of a matrix every entry."""
    for track, part in metrics["tracks"].items():
        for name, cell in entries(dict(sorted(part["metrics"].items()))).items():
            yield track, name, cell


def _target(name):
    try:
        return float(name.rpartition("=")[2])
    except ValueError:
        return 0.0
