"""Model cards: numbers and limits of a model, below the metadata that Hugging Face's Hub reads
(YAML, of which JSON is a part): huggingface.co/docs/hub/model-cards."""

import json
import re

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


def _metadata(name, results, license="", datasets=()) -> list[str]:
    """The lines that the Hub reads. ``license``: one of the Hub's names, or the name of another;
    "": it has to be stated. ``datasets``: that the model was trained on."""
    stated = [f"license: {license}"]
    if not license:
        stated = ["# license: whoever gives the weights away states it, as mit or apache-2.0"]
    elif not re.fullmatch("[a-z0-9][a-z0-9.+-]*", license):
        stated = ["license: other", f"license_name: {json.dumps(license, ensure_ascii=False)}"]
    index = json.dumps([{"name": name, "results": results}], ensure_ascii=False)
    sets = json.dumps(list(datasets), ensure_ascii=False)
    return [
        *stated,
        "library_name: facebench",
        'tags: ["face-recognition", "face-verification", "biometrics"]',
        *([f"datasets: {sets}"] if datasets else []),
        f"model-index: {index}",
    ]


def card(name, results, columns, rows, note, limits, cost=(), license="", datasets=()) -> str:
    """A card as Markdown: a table (cells are escaped here), what holds for it, ``cost``, limits."""
    escape = escape_markdown
    cells = [[escape(cell) for cell in row] for row in rows]
    return "\n".join([
        "---", *_metadata(name, results, license, datasets), "---", "",
        f"# {escape(name)}", "", "## Numbers", "",
        markdown_table(columns, cells), "", note, "", "## Cost", "",
        "; ".join(cost) + "." if cost else "Not measured.", "", "## Limits", "",
        *(f"- {escape(text)}" for text in (*limits, *_LIMITS)), "",
    ])  # fmt: skip


class _Numbers:
    """What a run says of its model: results of the index, rows of the table, remarks."""

    def __init__(self, content, metrics, table):
        own_protocol = "".join(table.get("own_protocols", []))
        shown_as = {(row["track"], cell_name(row)): row for row in table["rows"]}
        protocol = content["protocol"]
        self.title = protocol["title"]
        dataset = {"name": protocol["title"], "type": protocol["id"]}
        if own_protocol:
            dataset = {"name": f"{protocol['title']} (of the submitter's own)", "type": "own"}
        self.results, self.rows = [], []
        self.tasks: list[dict] = []  # each number as .eval_results has it
        several = len(metrics["tracks"]) > 1
        for track, name, cell in cells_of(metrics):
            if cell["value"] is None:
                continue
            entry = name.partition("[")[2]
            shown = shown_as[track, name]
            title = shown["quantity"] + (f", {entry[:-1]}" if entry else "")
            arguments = {"track": track, "protocol_version": protocol["version"]}
            metric = {"type": name, "name": title, "args": arguments}
            self.results.append(index_result(dataset, metric, cell))
            unit, written = " %" if shown["is_rate"] else "", shown["cells"][0]["written"]
            ends = written["interval"] and " – ".join(written["interval"])
            value = written["value"] + unit
            self.rows.append([f"{track}: {title}", value, ends + unit if ends else "none"])
            scale = 100 if shown["is_rate"] else 1
            notes = [f"{track}: {title}{', percent' if scale == 100 else ''}"]
            if ends:
                notes.append(f"{100 * cell['level']:.4g} % interval over draws of people: {ends}")
            self.tasks.append({
                "task_id": f"{track}/{name}" if several else name,
                "value": round(scale * cell["value"], 10),
                "notes": notes,
            })  # fmt: skip
        self.remarks = [*content.get("warnings", []), *content.get("notes", [])]
        if own_protocol:
            self.remarks.insert(0, own_protocol)


def run_card(content, metrics, table) -> str:
    """The card of a run's model. ``table``: the numbers of the run as texts, and what is said of a
    protocol that is not facebench's."""
    of = _Numbers(content, metrics, table)
    note = f"{escape_markdown(of.title)}. The intervals are over draws of people."
    columns = ["number", "value", "interval"]
    return card(content["embedder"], of.results, columns, of.rows, note, of.remarks)


def hub_files(runs, *, license="", datasets=(), source="", benchmarks=()) -> dict[str, str]:
    """What a model's repository on the Hub holds of its runs, by name: README.md, and for each run
    .eval_results/PROTOCOL.yaml (huggingface.co/docs/hub/eval-results).

    ``runs``: each with content, circumstance, metrics and table. ``benchmarks``: {protocol:
    ORG/NAME}, the Hub's data set that hosts the benchmark; ``source``: an address where the runs
    can be seen.
    ValueError for a protocol without one, and for runs of several models.
    """
    benchmarks = dict(benchmarks)
    contents = [run.content for run in runs]
    names = list(dict.fromkeys(content.get("embedder", "") for content in contents))
    if len(names) > 1 or not names[0]:
        which = ", ".join(filter(None, names)) or "none"
        raise ValueError(f"a card is of the runs of one model; these are of {which}")
    protocols = [content["protocol"]["id"] for content in contents]
    if len(set(protocols)) < len(protocols):
        raise ValueError(f"a card has one run of each protocol; these are {', '.join(protocols)}")
    missing = [p for p in protocols if not re.fullmatch(r"[\w.-]+/[\w.-]+", benchmarks.get(p, ""))]
    if missing:
        raise ValueError(
            f"hub: say which data set of the Hub hosts {missing[0]}, as {missing[0]}=ORG/NAME"
        )
    if unknown := [name for name in benchmarks if name not in protocols]:
        raise ValueError(f"hub: there is no run of '{unknown[0]}'; runs are of "
                         f"{', '.join(protocols)}")  # fmt: skip
    numbers = [_Numbers(run.content, run.metrics, run.table) for run in runs]
    titles = ", ".join(dict.fromkeys(of.title for of in numbers))
    files = {"README.md": card(
        names[0],
        [result for of in numbers for result in of.results],
        ["protocol", "number", "value", "interval"],
        [[of.title, *row] for of in numbers for row in of.rows],
        f"{escape_markdown(titles)}. The intervals are over draws of people.",
        list(dict.fromkeys(text for of in numbers for text in of.remarks)),
        license=license,
        datasets=datasets,
    )}  # fmt: skip
    for run, of, protocol in zip(runs, numbers, protocols, strict=True):
        content = run.content
        how = [
            f"convention {content['options']['convention']}",
            f"facebench {content['facebench']}",
        ]
        lines = []
        for task in of.tasks:
            lines += ["- dataset:", f"    id: {_yaml(benchmarks[protocol])}",
                      f"    task_id: {_yaml(task['task_id'])}", f"  value: {task['value']!r}",
                      f"  date: {_yaml(run.circumstance['started'][:10])}"]  # fmt: skip
            if source:
                lines += ["  source:", f"    url: {_yaml(source)}"]
            lines.append(f"  notes: {_yaml('; '.join([*task['notes'], *how]))}")
        files[f".eval_results/{protocol}.yaml"] = "\n".join([*lines, ""])
    return files


def _yaml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
