"""What the reports of studies show."""

import statistics

from facebench.reports.rate_plots import bars_svg


def _shown(cell, unit=""):
    """A mean with its interval: ``0.812 (0.790 to 0.834)``."""
    text = f"{cell['mean']:.4f}"
    if cell["interval"]:
        low, high = cell["interval"]
        text += f" ({low:.4f} to {high:.4f})"
    return text + unit


def _difference(part):
    text = f"{part['difference']:+.4f}"
    if part["interval"]:
        low, high = part["interval"]
        text += f" ({low:+.4f} to {high:+.4f})"
    return text + (" *" if part["clear"] else "")


def _metric(row):
    return " ".join(p for p in (row["protocol"], row["track"], row["metric"]) if p)


# --- factors --------------------------------------------------------------------------------------


def factor_tables(result):
    options = result["options"]
    factors = list(options["factors"])
    names = ["before", "after"]
    results = [[_metric(r), *(_shown(r[n]) for n in names)] for r in result["rows"]]
    parts = [
        [
            _metric(r),
            _difference(r["difference"]),
            *(_difference(r["factors"][f]) for f in factors),
            _difference(r["interaction"]),
        ]
        for r in result["rows"]
    ]
    what = [
        [factor, key, _text(a), _text(b)]
        for factor, keys in options["factors"].items()
        for key, (a, b) in keys.items()
    ]
    return [
        ("What differs", ["factor", "key", "before", "after"], what),
        ("Difference by factor", ["metric", "all", *factors, "interaction"], parts),
        ("Means over seeds", ["metric", "before", "after"], results),
    ]


def _text(value):
    return ", ".join(f"{v:g}" for v in value) if isinstance(value, list) else str(value)


def factor_plots(result):
    factors = list(result["options"]["factors"])
    plots = []
    for row in result["rows"]:
        if row["protocol"] == "training":
            continue
        bars = [row["before"], *({"values": row["values"][f]} for f in factors), row["after"]]
        means = [b["mean"] if "mean" in b else statistics.fmean(b["values"]) for b in bars]
        intervals = [b.get("interval") for b in bars]
        labels = ["before", *(f"+ {f}" for f in factors), "after"]
        if min(means) < 0:
            continue
        series = [
            (label, [mean], [interval])
            for label, mean, interval in zip(labels, means, intervals, strict=True)
        ]
        plots.append(
            (
                bars_svg([row["metric"]], series, _metric(row), "", row["metric"]),
                f"{_metric(row)}: each factor exchanged alone; lines are the seeds' intervals of "
                "both ends.",
            )
        )
        if len(plots) == 4:
            break
    return plots


def factor_notes(result):
    seeds = result["options"]["seeds"]
    return [
        f"Both recipes, and for each factor the first recipe with that factor of the second, were "
        f"trained with {seeds} seeds on the same data. A difference is that of the same seeds; "
        "its interval (95 %, Student's t over seeds) says what other seeds would give. * marks "
        "differences whose interval leaves out zero; of many, one in twenty does so by chance. The "
        "interaction is what the factors do together beyond the sum of what they do alone."
    ]


# --- compare-datasets -----------------------------------------------------------------------------


def dataset_tables(result):
    names = result["options"]["packs"]
    sets = [
        [
            name,
            s["people"],
            s["images"],
            s["images"] / max(s["people"], 1),
            s["people_removed"],
            s["images_removed"],
        ]
        for name, s in result["sets"].items()
    ]
    rows = [[_metric(r), *(_shown(r["sets"][n]) for n in names)] for r in result["rows"]]
    widths = [
        [_metric(r), *(r["sets"][n]["protocol_half_width"] for n in names)] for r in result["rows"]
    ]
    tables = [
        (
            "Training sets",
            ["set", "people", "images", "images a person", "people removed", "images removed"],
            sets,
        ),
        ("Results by training set", ["metric", *names], rows),
        ("Half width of the protocols' own intervals", ["metric", *names], widths),
    ]
    removed = [
        [name, person, why]
        for name, s in result["sets"].items()
        for person, why in s["removed"].items()
    ]
    if removed:
        tables.append(("Removed", ["set", "person", "is in the tests as"], removed))
    return tables


def dataset_plots(result):
    names = result["options"]["packs"]
    by_protocol = {}
    for row in result["rows"]:
        if all(0 <= row["sets"][n]["mean"] <= 1 for n in names):
            by_protocol.setdefault(row["protocol"], row)
    if not by_protocol:
        return []
    series = [
        (
            name,
            [r["sets"][name]["mean"] for r in by_protocol.values()],
            [r["sets"][name]["interval"] for r in by_protocol.values()],
        )
        for name in names
    ]
    groups = [p.replace("_", " ")[:14] for p in by_protocol]
    measured = "; ".join(_metric(r) for r in by_protocol.values())
    svg = bars_svg(groups, series, "Training sets compared", "protocol", "first metric")
    return [(svg, f"{measured}; lines are 95 % intervals over seeds.")]


def dataset_notes(result):
    seeds, removed = result["options"]["seeds"], result["options"]["remove_overlap"]
    return [
        f"One network and one recipe, {seeds} seeds for each training set; the intervals (95 %, "
        "Student's t) are those of the seeds. How far other test images would move a value "
        "stands in a table of its own.",
        "People who are in a test set too were not trained on."
        if removed
        else "**People who are in a test set too were not looked for.**",
    ]
