"""Model cards: numbers and limits of a model, below Hugging Face's ``model-index`` (YAML, of which
JSON is a part)."""

import json

from facebench.analysis.headlines import cells_of
from facebench.core._rows import cell_name
from facebench.reports.escape import escape_markdown
from facebench.reports.markdown import markdown_table

_LIMITS = (
    "The numbers hold for photographs like those of the sets above, prepared by the detector and "
    "crop of the runs. For other people, cameras or poses they can be far off.",
    "No differences between groups of people were measured; see facebench groups.",
)


def index_result(dataset, metric, cell) -> dict:
    """A result of a ``model-index``: a fraction, with its interval among the arguments.

    ``dataset``, ``metric``: name and type each; ``metric`` also has ``args``.
    """
    arguments = metric["args"]
    if cell["interval"]:
        low, high = cell["interval"]
        arguments = arguments | {"interval_low": low, "interval_high": high, "level": cell["level"]}
    return {
        "task": {"type": "face-verification", "name": "Face recognition"},
        "dataset": dataset,
        "metrics": [metric | {"value": cell["value"], "args": arguments}],
    }


def card(name, results, columns, rows, note, limits, cost=()) -> str:
    """A card as Markdown: a table (cells are escaped here), what holds for it, ``cost``, limits."""
    escape = escape_markdown
    index = json.dumps([{"name": name, "results": results}], ensure_ascii=False)
    cells = [[escape(cell) for cell in row] for row in rows]
    return "\n".join([
        "---", f"model-index: {index}", "---", "", f"# {escape(name)}", "", "## Numbers", "",
        markdown_table(columns, cells), "", note, "", "## Cost", "",
        "; ".join(cost) + "." if cost else "Not measured.", "", "## Limits", "",
        *(f"- {escape(text)}" for text in (*limits, *_LIMITS)), "",
    ])  # fmt: skip


def run_card(content, metrics, table) -> str:
    """The card of a run's model. ``table``: the numbers of the run as texts, and what is said of a
    protocol that is not facebench's."""
    own_protocol = "".join(table.get("own_protocols", []))
    shown_as = {(row["track"], cell_name(row)): row for row in table["rows"]}
    protocol = content["protocol"]
    dataset = {"name": protocol["title"], "type": protocol["id"]}
    if own_protocol:
        dataset = {"name": f"{protocol['title']} (of the submitter's own)", "type": "own"}
    results, rows = [], []
    for track, name, cell in cells_of(metrics):
        if cell["value"] is None:
            continue
        entry = name.partition("[")[2]
        shown = shown_as[track, name]
        title = shown["quantity"] + (f", {entry[:-1]}" if entry else "")
        arguments = {"track": track, "protocol_version": protocol["version"]}
        results.append(
            index_result(dataset, {"type": name, "name": title, "args": arguments}, cell)
        )
        unit, written = " %" if shown["is_rate"] else "", shown["cells"][0]["written"]
        ends = written["interval"] and " – ".join(written["interval"])
        value = written["value"] + unit
        rows.append([f"{track}: {title}", value, ends + unit if ends else "none"])
    remarks = [*content.get("warnings", []), *content.get("notes", [])]
    if own_protocol:
        remarks.insert(0, own_protocol)
    note = f"{escape_markdown(protocol['title'])}. The intervals are over draws of people."
    return card(content["embedder"], results, ["number", "value", "interval"], rows, note, remarks)
