"""What the reports of studies show."""

from facebench import _eval
from facebench.reports.rate_plots import bars_svg, differences_svg


def _shown(row, value):
    """A value as the reports of protocols show it (rates in percent); losses with four digits."""
    if value is None:
        return ""
    if row["protocol"] == "training":
        return f"{value:.4f}"
    return _eval.metric_text(row["metric"], value)


def _mean(row, cell):
    """A mean with its interval."""
    interval = cell["interval"] and " to ".join(_shown(row, v) for v in cell["interval"])
    return _shown(row, cell["mean"]), interval or ""


def _difference(row, part):
    def signed(value):
        text = _shown(row, value)
        return text if text.startswith("-") else f"+{text}"

    interval = part["interval"] and " to ".join(signed(v) for v in part["interval"])
    return signed(part["difference"]) + (" *" if part["clear"] else ""), interval or ""


def _metric(row):
    return " ".join(
        p for p in (row["protocol"], row["track"], _eval.metric_title(row["metric"])) if p
    )


def _is_rate(row):
    # Asked of the text itself: what is shown a hundredfold is a percentage.
    return row["protocol"] != "training" and _eval.metric_text(row["metric"], 1.0) == "100.00"


def _with_unit(row):
    return _metric(row) + (", %" if _is_rate(row) else "")


def _hundredfold(values):
    return None if values is None else [100 * v for v in values]


def _common_notes(result):
    notes = [
        "Rates are in percent, their differences in percentage points; losses and d' have no unit. "
        "Beside each value stands its 95 % interval."
    ]
    if result["undefined"]:
        notes.append(f"Without a value in some run, so left out: {', '.join(result['undefined'])}.")
    return notes


# --- factors --------------------------------------------------------------------------------------


def factor_tables(result):
    options = result["options"]
    factors = list(options["factors"])
    names = ["before", "after"]
    results = [[_with_unit(r), *(_mean(r, r[n]) for n in names)] for r in result["rows"]]
    parts = [
        [
            _with_unit(r),
            _difference(r, r["difference"]),
            *(_difference(r, r["factors"][f]) for f in factors),
            _difference(r, r["interaction"]),
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
    for row in [r for r in result["rows"] if _is_rate(r)][:4]:
        parts = {
            **{f: row["factors"][f] for f in factors},
            "interaction": row["interaction"],
            "all": row["difference"],
        }
        values = [
            (name, 100 * part["difference"], _hundredfold(part["interval"]))
            for name, part in parts.items()
        ]
        title = f"{_metric(row)}: difference"
        caption = f"{title}, after less before, by the factor exchanged; with 95 % intervals."
        plots.append((differences_svg(values, title, "percentage points"), caption))
    return plots


def factor_notes(result):
    seeds = result["options"]["seeds"]
    return [
        f"Both recipes, and for each factor the first recipe with that factor of the second, were "
        f"trained with {seeds} seeds on the same data. A difference is that of the same seeds; "
        "its interval (95 %, Student's t over seeds) says what other seeds would give. * marks "
        "differences whose interval leaves out zero; of many, one in twenty does so by chance. The "
        "interaction is what the factors do together beyond the sum of what they do alone.",
        *_common_notes(result),
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
    rows = [[_with_unit(r), *(_mean(r, r["sets"][n]) for n in names)] for r in result["rows"]]
    widths = [
        [_with_unit(r), *(_shown(r, r["sets"][n]["protocol_half_width"]) for n in names)]
        for r in result["rows"]
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
        if _is_rate(row):
            by_protocol.setdefault(row["protocol"], row)
    if not by_protocol:
        return []
    series = [
        (
            name,
            [100 * r["sets"][name]["mean"] for r in by_protocol.values()],
            [_hundredfold(r["sets"][name]["interval"]) for r in by_protocol.values()],
        )
        for name in names
    ]
    groups = [p.replace("_", " ")[:14] for p in by_protocol]
    measured = "; ".join(_metric(r) for r in by_protocol.values())
    svg = bars_svg(groups, series, "Training sets compared", "protocol", "first rate, %")
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
        *_identifier_notes(result["sets"]),
        *_common_notes(result),
    ]


def _identifier_notes(sets):
    """Where names could not tell who is in the tests."""
    return [
        f"**{name}: {s['identifiers']} people are called by identifiers, which no name in the "
        "tests can equal, and images were not compared: who of them is in the tests is not "
        "known.** Give a table of names, embeddings, or a list (--names, --train-embeddings "
        "with --test-embeddings, --exclude)."
        for name, s in sets.items()
        if s.get("identifiers") and not s.get("compared_images")
    ]
