"""The files of a measurement: a run folder with a manifest, tables and plots."""

import functools
import json
import os
import platform
import time
from pathlib import Path

import facebench
from facebench import reports
from facebench.lab.timing.tables import KINDS
from facebench.reports.markdown import markdown_table
from facebench.reports.page import Section, plots, table_block, text


def write_bench(result, out, command="", overwrite=False):
    """Write a measurement: ``bench.json``, ``run.json``, ``report.md``, ``report.html``.

    ``result`` is what the ``bench_...`` functions return. Its options are the manifest's content;
    the figures and the machine are its circumstance, because no machine gives the same figures
    twice. Returns the folder. facebench.Error where it holds a result already, without
    ``overwrite``; ValueError where ``result`` is something else.
    """
    if not isinstance(result, dict) or result.get("kind") not in KINDS:
        raise ValueError("result: expected what a function bench_... returns")
    out = Path(out)
    if os.path.exists(out / "bench.json") and not overwrite:
        raise facebench.Error(f"{out}: holds a measurement already. Choose another folder")
    content = {
        "kind": f"bench-{result['kind']}",
        "facebench": facebench.__version__,
        "options": result["options"],
        "versions": result.get("versions", {}),
    }
    circumstance = {
        "command": command or None,
        "host": platform.node(),
        "system": " ".join((platform.system(), platform.release(), platform.machine())),
        "load": list(os.getloadavg()),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": result["machine"],
        "busy": busy(result),
    }
    dumped = functools.partial(
        json.dumps, indent=1, ensure_ascii=False, allow_nan=False, sort_keys=True
    )
    manifest = {"content": content, "circumstance": circumstance}
    # Made before any is written, so that none is there without the others.
    files = {
        "bench.json": dumped(result) + "\n",
        "run.json": dumped(manifest) + "\n",
        "report.md": markdown(result),
    }
    page = sections(result)
    for name, content_of_file in files.items():
        reports.write_text(out / name, content_of_file)
    reports.write_html(out / "report.html", KINDS[result["kind"]].title, page)
    return out


def busy(result):
    """Whether others used the machine during any of the measurements."""
    return any(row.get("busy") for row in result["rows"])


def notes(result):
    """What is to be said about a measurement, the mark of a busy machine first."""
    lines = []
    if busy(result):
        shares = [r["processors"]["others"] for r in result["rows"] if r.get("busy")]
        lines.append(
            f"**Busy machine**: other processes used up to {100 * max(shares):.0f} % of the "
            "processors while rows marked * were measured. Their figures are not those of an idle "
            "machine."
        )
    return [*lines, *KINDS[result["kind"]].notes(result)]


def markdown(result):
    """The tables as Markdown."""
    kind = KINDS[result["kind"]]
    parts = [f"# {kind.title}", "", machine_line(result["machine"]), ""]
    for note in notes(result):
        parts += [note, ""]
    for title, columns, rows in kind.tables(result):
        head, *cells = [
            [cell_text(cell).replace("|", "\\|") for cell in row] for row in (columns, *rows)
        ]
        parts += [f"## {title}", "", markdown_table(head, cells), ""]
    return "\n".join(parts)


def cell_text(value):
    """A table's cell as text: "" for None, a value with its interval in brackets."""
    if isinstance(value, tuple):
        number, interval = value
        return f"{number} ({interval})" if interval else number
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def sections(result):
    """The same for a page, with plots."""
    kind = KINDS[result["kind"]]
    first = Section("Measured", [text(machine_line(result["machine"]))])
    first.blocks += [text(note.replace("**", "")) for note in notes(result)]
    if drawn := kind.plots(result):
        first.blocks.append(plots(*drawn))
    tables = [
        Section(title, [table_block(columns, [[_shown(c) for c in r] for r in rows])])
        for title, columns, rows in kind.tables(result)
    ]
    facts = [[k, json.dumps(v, ensure_ascii=False)] for k, v in _flat(result["machine"])]
    options = [[k, json.dumps(v, ensure_ascii=False)] for k, v in _flat(result["options"])]
    options += [[f"version of {k}", json.dumps(v)] for k, v in _flat(result.get("versions", {}))]
    provenance = Section("Provenance")
    provenance.blocks.append(table_block(["machine", ""], facts, "Machine"))
    provenance.blocks.append(table_block(["option", ""], options, "Options and versions"))
    return [first, *tables, provenance]


def _shown(value):
    return "" if value is None else value


def _flat(value, prefix=""):
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield from _flat(inner, f"{prefix}{key}.")
        else:
            yield prefix + key, inner


def machine_line(machine):
    """The machine in a sentence.

    >>> machine_line({"cpu": {"model": "X", "allowed": 2, "cores": 2}, "memory_bytes": 2**34,
    ...     "isa": "avx2", "gpu": {"driver": None, "devices": []}})
    'X, 2 processors in use, 16 GiB of memory, kernels for avx2.'
    """
    cpu = machine["cpu"]
    line = f"{cpu['model'] or 'unknown processor'}, {cpu['allowed']} processors in use"
    if machine["memory_bytes"]:
        line += f", {machine['memory_bytes'] / 2**30:.0f} GiB of memory"
    line += f", kernels for {machine['isa']}"
    gpus = machine["gpu"]["devices"]
    if gpus:
        line += f"; {len(gpus)} x {gpus[0]['name']}, driver {machine['gpu']['driver'] or 'unknown'}"
    return line + "."
