"""A suite for other programs and papers: Markdown, CSV, LaTeX, model-index, model cards."""

import json
from pathlib import Path

from facebench import _eval
from facebench.reports import write_text
from facebench.reports.escape import escape_latex, escape_markdown, spreadsheet_record
from facebench.reports.markdown import markdown_table
from facebench.suites.description import slug
from facebench.suites.tables import best_of, by_model, column_titles, number, p_value, percent, span


def write_exports(out: Path, content: dict, circumstance: dict) -> None:
    """suite.md, suite.csv, suite.tex, and for each model cards/MODEL.md, which begins with the
    ``model-index`` of Hugging Face as YAML."""
    write_text(out / "suite.md", markdown(content))
    write_text(out / "suite.csv", csv_text(content))
    write_text(out / "suite.tex", latex(content))
    for model in by_model(content)[0]:
        write_text(out / "cards" / f"{slug(model)}.md", model_card(content, circumstance, model))


def _grid(content, cell):
    """A row of texts for each model; ``cell(part, run, best)`` makes one of them."""
    models, cells = by_model(content)
    best = {part["name"]: best_of(part) for part in content["sets"]}
    for model in models:
        row = []
        for part in content["sets"]:
            run = cells.get((model, part["name"]))
            row.append(cell(part, run, model in best[part["name"]]) if run else "–")
        yield model, row


def markdown(content: dict) -> str:
    """The page's tables as Markdown."""
    escape = escape_markdown

    def cell(part, run, best):
        text = number(part, run["value"])
        text = f"**{text}**" if best else text
        interval = span(part, run["interval"])
        return f"{text} [{interval}]" if interval else text

    lines = [f"# {escape(content['title'])}", ""]
    lines.append(
        markdown_table(
            ["model", *map(escape, column_titles(content))],
            [[escape(model), *row] for model, row in _grid(content, cell)],
        )
    )
    lines += ["", "Bold: the best of its column. In brackets the interval over draws of people."]
    for part in content["sets"]:
        lines += _markdown_order(part)
    if content["failures"]:
        lines += ["", "## Failures", ""]
        rows = [[escape(f[k]) for k in ("set", "model", "reason")] for f in content["failures"]]
        lines.append(markdown_table(["set", "model", "reason"], rows))
    return "\n".join(lines) + "\n"


def _markdown_order(part):
    if not part["ranking"]:
        return []
    escape = escape_markdown
    rows = [
        [
            escape(run["model"]),
            percent(place["first"]),
            "{:g} – {:g}".format(*place["rank_interval"]),
        ]
        for run, place in zip(part["runs"], part["ranking"]["places"], strict=True)
    ]
    names = [escape(run["model"]) for run in part["runs"]]
    pairs = [
        [
            names[p["a"]],
            names[p["b"]],
            number(part, p["difference"]),
            span(part, p["interval"]),
            p_value(p["adjusted_p"]),
        ]
        for p in part["ranking"]["pairs"]
    ]
    title = f"## {escape(part['name'])}: the order, by {escape(part['title'])}"
    order = markdown_table(["model", "first in", "ranks"], rows)
    differences = markdown_table(["a", "b", "a - b", "interval", "p (Holm)"], pairs)
    return ["", title, "", order, "", differences]


def _digits(value) -> str:
    return f"{value:.15g}" if isinstance(value, float) else "" if value is None else str(value)


def csv_text(content: dict) -> str:
    """All numbers of all runs, a line each, with 15 digits (.993 and not .9930000000000001). A name
    that a spreadsheet would take for a formula gets a ' before it."""
    columns = ["set", "protocol", "version", "model", "track", "metric", "value", "low", "high"]
    lines = [spreadsheet_record([*columns, "level"])]
    for part in content["sets"]:
        for run in part["runs"]:
            for n in run["numbers"]:
                low, high = n["interval"] or ("", "")
                values = [n["value"], low, high, n["level"]]
                protocol = part["protocol"]
                fields = [part["name"], protocol["id"], protocol["version"], run["model"]]
                fields += [n["track"], n["metric"], *map(_digits, values)]
                lines.append(spreadsheet_record([str(f) for f in fields]))
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


def latex(content: dict) -> str:
    """Models by sets as a tabular (booktabs); the best of a column bold, intervals in brackets."""
    escape = escape_latex

    def cell(part, run, best):
        text = number(part, run["value"])
        text = rf"\textbf{{{text}}}" if best else text
        interval = span(part, run["interval"]).replace(" – ", "--")
        return rf"{text} {{\scriptsize [{interval}]}}" if interval else text

    rows = [
        " & ".join([escape(model), *(c.replace("–", "--") for c in row)])
        for model, row in _grid(content, cell)
    ]
    heads = " & ".join(["model", *map(escape, column_titles(content))])
    lines = [
        r"\begin{tabular}{l" + "c" * len(content["sets"]) + "}",
        r"\toprule",
        heads + r" \\",
        r"\midrule",
        *(row + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def model_index(content: dict, model: str) -> list[dict]:
    """Hugging Face's ``model-index`` of one model: a result for each set, its headline number as a
    fraction, with the interval among the arguments."""
    results = []
    for part in content["sets"]:
        for run in part["runs"]:
            if run["model"] != model or run["value"] is None:
                continue
            arguments = {"track": part["track"], "protocol_version": part["protocol"]["version"]}
            if run["interval"]:
                low, high = run["interval"]
                arguments |= {"interval_low": low, "interval_high": high, "level": run["level"]}
            results.append(
                {
                    "task": {"type": "face-verification", "name": "Face recognition"},
                    "dataset": {"name": part["name"], "type": part["protocol"]["id"]},
                    "metrics": [
                        {
                            "type": part["metric"],
                            "name": part["title"],
                            "value": run["value"],
                            "args": arguments,
                        }
                    ],
                }
            )
    return [{"name": model, "results": results}]


def yaml(value, indent=0) -> str:
    """Plain data as YAML in block style; texts are quoted as in JSON, which YAML contains.

    >>> print(yaml({"a": [{"b": 1, "c": "x: y"}], "d": []}))
    a:
    - b: 1
      c: "x: y"
    d: []
    """
    pad = "  " * indent
    if isinstance(value, dict) and value:
        lines = []
        for key, item in value.items():
            nested = isinstance(item, (dict, list)) and item
            step = indent + (0 if isinstance(item, list) else 1)
            lines.append(f"{pad}{key}:" + (f"\n{yaml(item, step)}" if nested else f" {yaml(item)}"))
        return "\n".join(lines)
    if isinstance(value, list) and value:
        return "\n".join(f"{pad}- {yaml(item, indent + 1).lstrip()}" for item in value)
    return json.dumps(value, ensure_ascii=False)


def model_card(content: dict, circumstance: dict, model: str) -> str:
    """What the suite says of one model: its numbers with intervals, its place, its limits."""
    escape = escape_markdown
    rows, limits = [], []
    for part in content["sets"]:
        names = [run["model"] for run in part["runs"]]
        if model not in names:
            continue
        run = part["runs"][names.index(model)]
        place = part["ranking"] and part["ranking"]["places"][names.index(model)]
        unit = " %" if _eval.metric_is_rate(part["metric"]) else ""
        rows.append(
            [
                escape(f"{part['name']} ({part['protocol']['title']})"),
                escape(part["title"]),
                number(part, run["value"]) + unit,
                (span(part, run["interval"]) or "none") + unit * bool(run["interval"]),
                percent(run["failure_to_enrol_rate"]),
                "{:g} – {:g} of {}".format(*place["rank_interval"], len(names)) if place else "–",
            ]
        )
        limits += [f"{part['name']}: {text}" for text in run["warnings"]]
    columns = ["set", "number", "value", "interval", "failed to enrol", "rank"]
    cost = (circumstance.get("costs") or {}).get(model) or {}
    lines = ["---", yaml({"model-index": model_index(content, model)}), "---", ""]
    lines += [f"# {escape(model)}", "", "## Numbers", "", markdown_table(columns, rows), ""]
    lines += [
        "The intervals are over draws of people; the ranks are among the models of the suite."
    ]
    lines += ["", "## Cost", "", _cost_text(cost), "", "## Limits", ""]
    limits += [f"{f['set']}: {f['reason']}" for f in content["failures"] if f["model"] == model]
    limits += [
        "The numbers hold for photographs like those of the sets above, prepared by the detector "
        "and crop of the runs. For other people, cameras or poses they can be far off.",
        "The suite measures no differences between groups of people; see facebench groups.",
    ]
    return "\n".join([*lines, *(f"- {escape(text)}" for text in limits)]) + "\n"


def _cost_text(cost):
    if not cost or "failed" in cost:
        return "Not measured."
    parts = [f"{cost['images_per_second']:.0f} images a second on the suite's machine"]
    if cost["parameters"]:
        parts.append(f"{cost['parameters']:,} parameters")
    if cost["macs"]:
        parts.append(f"{cost['macs']:,} multiply-accumulates an image")
    return "; ".join(parts) + "."
