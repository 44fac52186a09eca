"""suite.html: models by sets, the order and its uncertainty, cost, failures."""

from facebench import _eval, reports
from facebench.reports.page import Cell, Section, table_block, text_section
from facebench.suites.tables import (
    best_of,
    by_model,
    column_titles,
    number,
    p_value,
    percent,
    span,
)


def write_page(path, content: dict, circumstance: dict) -> None:
    """Writes the page; ``content``, ``circumstance``: as in ``suite.json``."""
    sections = [_overview(content)]
    orders = [s for s in map(_order, content["sets"]) if s]
    if any(part["ranking"] for part in content["sets"]):
        orders[0].blocks.insert(0, {"kind": "text", "text": _how_ordered(content)})
    sections += orders
    sections += [s for s in (_cost(content, circumstance), _failures(content)) if s]
    sections.append(_made_of(content))
    reports.write_html(path, content["title"], sections)


def _overview(content):
    models, cells = by_model(content)
    sets = content["sets"]
    best = [best_of(part) for part in sets]
    rows = []
    for model in models:
        row = [model]
        for part, leader in zip(sets, best, strict=True):
            run = cells.get((model, part["name"]))
            row.append(_value_cell(part, run, strong=model in leader) if run else "–")
        rows.append(row)
    section = Section(
        "Models by sets",
        [
            {
                "kind": "text",
                "text": "The highest number of a column (of error rates the lowest) is bold; that "
                "does not make it significant: see the order below. Below each number its interval "
                "over draws of people. A number leads to its run, a heading sorts.",
            },
            table_block(["model", *column_titles(content)], rows, sortable=True),
        ],
    )
    warned = [
        f"{run['model']}, {part['name']}: {text}"
        for part in sets
        for run in part["runs"]
        for text in run["warnings"]
    ]
    section.blocks[:0] = [{"kind": "text", "text": f"Warning: {text}"} for text in warned]
    return section


def _value_cell(part, run, strong=False):
    return Cell(
        number(part, run["value"]),
        span(part, run["interval"]),
        href=run["folder"] + "/report.html",
        sort=run["value"],
        strong=strong,
    )


def _order(part):
    ranking = part["ranking"]
    title = f"{part['name']}: the order, by {part['title']}"
    if ranking is None:
        why = part.get("no_ranking")
        return text_section(title, f"The order has no uncertainty to show: {why}") if why else None
    rows = [
        [
            Cell(run["model"]),
            _value_cell(part, run),
            Cell(percent(place["first"]), sort=place["first"]),
            Cell("{:g} – {:g}".format(*place["rank_interval"]), sort=place["rank_interval"][0]),
            Cell(percent(run["failure_to_enrol_rate"]), sort=run["failure_to_enrol_rate"]),
        ]
        for run, place in zip(part["runs"], ranking["places"], strict=True)
    ]
    columns = ["model", part["title"], "first in", "ranks", "failed to enrol"]
    names = [run["model"] for run in part["runs"]]
    pairs = [_pair_row(part, names, pair) for pair in ranking["pairs"]]
    return Section(
        title,
        [
            table_block(columns, rows, sortable=True),
            table_block(
                ["better", "worse", "difference", "p", "p corrected", "at 5 %"],
                pairs,
                summary=f"Differences ({len(pairs)})",
                sortable=True,
            ),
        ],
    )


def _how_ordered(content):
    level = f"{100 * content['comparisons']['level']:g} %"
    return (
        "For each set all models are measured in the same draws of people. “First in”: in how many "
        f"of them a model is the best; “ranks”: where it stands in {level} of them. The p-values "
        "are of paired tests over draws of people, two-sided; those called corrected hold for all "
        "pairs of their table together (Holm)."
    )


def _pair_row(part, names, pair):
    a, b = names[pair["a"]], names[pair["b"]]
    value, interval = pair["difference"], pair["interval"]
    lower = part["ranking"]["lower_is_better"]
    if value is not None and (value > 0) == lower and value != 0:  # the better one first
        a, b = b, a
        value, interval = -value, [None if e is None else -e for e in reversed(interval)]
    p, adjusted = pair["p_value"], pair["adjusted_p"]
    return [
        a,
        b,
        Cell(number(part, value), span(part, interval), sort=value),
        Cell(p_value(p), sort=p),
        Cell(p_value(adjusted), sort=adjusted),
        "not tested" if adjusted is None else "significant" if adjusted < 0.05 else "not shown",
    ]


def _cost(content, circumstance):
    costs = circumstance.get("costs") or {}
    models, cells = by_model(content)
    rows, failed = [], []
    for model in models:
        cost = costs.get(model)
        if cost is None:
            continue
        if "failed" in cost:
            failed.append(f"The cost of {model} could not be measured: {cost['failed']}.")
            continue
        rows.append(
            [
                Cell(model),
                _amount(cost["images_per_second"], 1, "", "{:.0f}"),
                _amount(cost["parameters"], 1e6, " M"),
                _amount(cost["macs"] and 2 * cost["macs"], 1e9, " G"),
                _amount(cost["memory_bytes"], 2**20, " MiB", "{:.0f}"),
            ]
        )
    if not rows:
        return text_section("Cost", "\n\n".join(failed)) if failed else None
    columns = ["model", "images/s", "parameters", "FLOPs an image", "memory"]
    machine = circumstance.get("cpu", "")
    note = (
        f"Embedding alone, on crops, without detection; measured on this machine ({machine}), so "
        "the figures are of use beside each other only. FLOPs: twice the multiply-accumulates of "
        "convolutions and matrix products, without mirroring. Memory: by how much the process grew."
    )
    blocks = [table_block(columns, rows, sortable=True), {"kind": "text", "text": note}]
    blocks += [{"kind": "text", "text": text} for text in failed]
    plots = [p for p in (_pareto(part, models, cells, costs) for part in content["sets"]) if p]
    if plots:
        blocks.append({"kind": "plots", "plots": plots})
    return Section("Cost beside accuracy", blocks)


def _amount(value, unit, suffix, form="{:.2f}"):
    if value is None:
        return Cell("–")
    return Cell(form.format(value / unit) + suffix, sort=value)


def _pareto(part, models, cells, costs):
    rate = _eval.metric_is_rate(part["metric"])
    sign = (-1 if _lower(part) else 1) * (100 if rate else 1)
    points = []
    for model in models:
        run, cost = cells.get((model, part["name"])), costs.get(model)
        if not run or run["value"] is None or not cost or "failed" in cost:
            continue
        interval = run["interval"] and sorted(sign * end for end in run["interval"])
        points.append((model, cost["images_per_second"], sign * run["value"], interval))
    if len(points) < 2:
        return None
    y_title = f"{'- ' if sign < 0 else ''}{part['title']}{', %' if rate else ''}"
    return {
        "svg": reports.points_svg(points, f"{part['name']}: cost", "images/s", y_title),
        "caption": f"{part['name']}: {part['title']} over images a second. The line joins the "
        "models that no other beats in both.",
    }


def _lower(part):
    return bool(part["ranking"] and part["ranking"]["lower_is_better"])


def _failures(content):
    if not content["failures"]:
        return None
    rows = [[f["set"], f["model"], f["reason"]] for f in content["failures"]]
    return Section(
        f"Failures ({len(rows)})", [table_block(["set", "model", "reason"], rows, sortable=True)]
    )


def _made_of(content):
    rows = [
        [
            part["name"],
            f"{part['protocol']['title']}, version {part['protocol']['version']}",
            run["model"],
            Cell("run", href=run["folder"] + "/report.html"),
            run["system"]["detector"] or "?",
            run["system"]["crop"] or "?",
            run["run_sha256"],
        ]
        for part in content["sets"]
        for run in part["runs"]
    ]
    columns = ["set", "protocol", "model", "run", "detector", "crop", "SHA-256 of the content"]
    how = content["comparisons"]
    text = (
        f"Comparisons between models: {how['replicates']} draws of people, seed {how['seed']}, "
        f"level {100 * how['level']:g} %. Made with facebench {_eval.version()}."
    )
    return Section(
        "Runs",
        [
            {"kind": "text", "text": text},
            table_block(columns, rows, summary=f"All runs ({len(rows)})"),
        ],
    )
