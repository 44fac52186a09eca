"""Run folders to read: ``report.md`` and the page of one, and several side by side on a page."""

import functools
import os
from itertools import zip_longest
from pathlib import Path
from urllib.parse import quote

from facebench import _eval
from facebench.analysis._signatures import SIGNATURE
from facebench.analysis.runs import as_list, curves, model_name, read_run
from facebench.core import Error
from facebench.core._arguments import brief, listed, printable
from facebench.core._files import read_bytes
from facebench.reports.cards import hub_files, run_card
from facebench.reports.page import (
    Cell,
    Section,
    Strong,
    bullets,
    heading,
    plots,
    report_html,
    table_block,
    text,
    write_text,
    written,
)
from facebench.reports.provenance import stated_of_content
from facebench.reports.run_plots import as_matrix, of_track, track_matrices, track_plots
from facebench.reports.summaries import systems_by_protocols


class _Run:
    """A run folder with the title of its column."""

    def __init__(self, folder, title, check=True):
        self.folder, self.title, self.check = folder, title, check
        data = read_run(folder, check)
        self.content, self.metrics = data["content"], data["metrics"]
        self.circumstance = data["circumstance"]
        self.protocol = self.metrics["protocol"]["id"]
        self.version = self.metrics["protocol"].get("version", 0)
        self.tracks = self.metrics["tracks"]
        self.level = self.content["options"].get("level")
        self.convention = _eval.convention_text(self.content["options"])

    @functools.cached_property
    def curves(self):
        return curves(self.folder, self.check)

    @property
    def own_protocol(self):
        """What is said of a protocol that is not one of facebench's; else empty."""
        return "".join(self.table.get("own_protocols", []))

    @functools.cached_property
    def table(self):
        """Its numbers, as those of a run alone."""
        return _eval.report_table([self.folder], [self.title], self.check)


def write_run_pages(folder):
    """Write ``report.md`` and ``report.html`` of a run into its folder, and of a run of a model
    ``card.md``."""
    for name, page in _pages(folder).items():
        write_text(Path(folder) / name, page)


def _pages(folder):
    """The pages of a run by their names, made of its files alone."""
    run = _Run(folder, "", check=False)  # just written, or about to be verified
    model = model_name(run.content)
    # Of the folder as it was called then: it may have been renamed since.
    run.title = (
        model
        or run.circumstance.get("folder")
        or printable(os.path.basename(os.path.abspath(os.fsdecode(folder))))
    )
    protocol = run.content["protocol"]["title"]
    page = report_html(protocol, [_section(protocol, [run])], _subtitle(run))
    card = (
        {"card.md": run_card(run.content, run.metrics, run.table)}
        if run.content.get("embedder")
        else {}
    )
    return {"report.md": _run_text(run), "report.html": page, **card}


def _subtitle(run):
    """What was measured, and when."""
    crop = run.content.get("preparation", {}).get("crop", {}).get("name", "")
    day = run.circumstance.get("started", "")[:10]
    return ", ".join(filter(None, [model_name(run.content), crop and f"crop {crop}", day]))


def write_hub_files(folder, runs, **stated):
    """The card and the results of a model's runs, as its repository on the Hub has them, below
    ``folder`` (`hub_files`). Their paths."""
    loaded = [_Run(run, "") for run in as_list(runs)]
    paths = []
    for name, page in hub_files(loaded, **stated).items():
        paths.append(Path(folder) / name)
        paths[-1].parent.mkdir(parents=True, exist_ok=True)
        write_text(paths[-1], page)
    return paths


# What a run folder may hold (card.md of a model); anything else in it says nothing of the run.
FILES = {
    *("run.json", "scores.h5", "metrics.json", "curves.json", "report.md", "report.html"),
    *("pack.h5", "embeddings.h5", "card.md"),
}


def verify_pages(folder):
    """The pages of a run (`write_run_pages`) made again and compared, and the files of its
    folder that are not the run's, which nothing checks: a list of ``{"name", "same", "detail"}``.

    Pages are compared with what this version of facebench makes; those of another version that
    differ are not checked.
    """
    try:
        run = read_run(folder, check=False)
        pages, why = _pages(folder), ""
    except Exception as error:  # whatever the writing of a page meets in files that were altered
        run, pages, why = {}, dict.fromkeys(("report.md", "report.html")), f"{error}"
    checks: list[tuple[str, bool | None, str]] = []
    for name, rendered in pages.items():
        path = Path(folder) / name
        if not os.path.lexists(path):
            checks.append((name, None, "is not in the run folder"))
        elif rendered is None:
            checks.append((name, False, f"cannot be made of the run's files: {brief(why)}"))
        else:
            checks.append((name, *_compare_page(path, rendered, run["content"].get("facebench"))))
    for name in sorted(os.listdir(folder)):
        if name not in FILES - {"card.md"} and name not in pages:
            reason = "is not a file of a run; nothing says what it has to hold"
            if name == SIGNATURE:
                reason = "a signature, which the signer's public key checks (signed_by)"
            checks.append((printable(name), None, reason))
    return [{"name": n, "same": same, "detail": detail} for n, same, detail in checks]


def _compare_page(path, rendered, version):
    try:
        there = read_bytes(path, 64 << 20)
    except Error as error:
        return False, str(error)
    if there == rendered.encode():
        return True, "made again from the run: the same bytes"
    if version != _eval.version():
        return None, f"written by facebench {brief(version)}, and this is {_eval.version()}"
    pairs = zip_longest(there.split(b"\n"), rendered.encode().split(b"\n"))
    wrong = next(number for number, (a, b) in enumerate(pairs, 1) if a != b)
    return False, f"is not the page of this run: line {wrong} is another"


def run_report(run):
    """The text of ``report.md`` of a run: the protocol, the numbers with intervals and what they
    rest on, matrices, the failures, where all comes from. Made of the content alone, so equal
    content gives equal bytes.
    """
    return _run_text(_Run(run, "value"))


def runs_section(title, runs, titles=None, notes=(), axes="normal"):
    """Run folders side by side: numbers with intervals, matrices, curves, failures, provenance.

    ``titles`` name the columns, by default by folder. Runs of one system under several protocols
    may have the same title. ``notes`` are paragraphs that stand at the top; ``axes`` of DET curves:
    "normal" (deviates) or "log".
    """
    folders = as_list(runs)
    titles = listed(titles, "titles") or _eval.run_titles(folders)
    if len(titles) != len(folders):
        raise ValueError(f"{len(titles)} titles for {len(folders)} runs")
    return _section(title, [_Run(f, t) for f, t in zip(folders, titles, strict=True)], notes, axes)


def _section(title, loaded, notes=(), axes="normal"):
    protocols: dict[tuple[str, str], list[_Run]] = {}
    versions: dict[str, set[str]] = {}
    for run in loaded:
        protocols.setdefault((run.protocol, run.version), []).append(run)
        versions.setdefault(run.protocol, set()).add(run.version)
    section = Section(title, [text(note) for note in notes])
    if len(protocols) > 1:
        section.blocks.append(systems_by_protocols(loaded, list(protocols.values())))
        note = "Of each protocol one number, rates in percent; below it its interval."
        section.blocks.append(text(note))
    for same in protocols.values():
        if len(protocols) > 1:
            name = same[0].content["protocol"]["title"]
            of_version = (
                f" (version {same[0].version})" if len(versions[same[0].protocol]) > 1 else ""
            )
            section.blocks.append(heading(name + of_version))
        section.blocks += [*_box(same), *_protocol_blocks(same, axes)]
    section.blocks += _provenance(loaded)
    return section


def named(names):
    """Names as a title has them; of many the first.

    >>> named(["a", "b"]), named(list("abcdef"))
    ('a and b', 'a, b, c and 3 more')
    """
    names = list(dict.fromkeys(names))
    if len(names) > 4:
        return f"{', '.join(names[:3])} and {len(names) - 3} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def page_title(runs, names):
    """What a page of runs is called: who on what."""
    protocols = [read_run(run)["content"]["protocol"]["title"] for run in as_list(runs)]
    return f"{named(names)} on {named(protocols)}"


def folders_section(runs, titles, page_folder):
    """Links from a page to run folders and their own pages."""
    rows = []
    for run, title in zip(as_list(runs), titles, strict=True):
        folder = os.path.relpath(run, page_folder)
        files = ("report.html", "report.md", "run.json", "metrics.json", "scores.h5")
        there = [name for name in files if os.path.exists(os.path.join(run, name))]
        links = [Cell(name, href=quote(f"{folder}/{name}")) for name in there]
        rows.append([title, Cell(folder, href=quote(folder)), *links, *[""] * (5 - len(links))])
    return Section("Run folders", [table_block(["run", "folder", "files", "", "", "", ""], rows)])


def _table(runs):
    if len(runs) == 1:
        return runs[0].table
    folders, titles = [r.folder for r in runs], [r.title for r in runs]
    return _eval.report_table(folders, titles, all(r.check for r in runs))


def _achieved(support):
    achieved = support["achieved"]
    return "" if achieved is None else f"{support['rate']} {100 * achieved:.4g} %"


# --- report.md ------------------------------------------------------------------------------------


def _run_text(run):
    table = run.table
    content = {"warnings": [], "notes": []} | run.content
    tracks = []
    for name in _eval.sorted_names(list(run.tracks)):
        numbers, matrices = of_track(table, name)
        facts = content["tracks"].get(name, {})
        failed = {
            "Failed enrolments": facts.get("failed"),
            "Images left out of templates": facts.get("left_out_of_templates"),
        }
        tracks.append(
            {
                "name": name,
                "counts": _counts_text(run.tracks[name].get("counts", {}), facts),
                "numbers": [_numbers_line(row, row["cells"][0]) for row in numbers],
                "matrices": [as_matrix(rows, 0) for rows in matrices.values()],
                "failed": [(title, samples) for title, samples in failed.items() if samples],
            }
        )
    return written(
        "run.md",
        content=content,
        own_protocol=run.own_protocol,
        stated=stated_of_content(content),
        protocol=content["protocol"],
        convention=run.convention,
        tracks=tracks,
        notes=_other_notes(table),
        provenance=[
            *((i.get("role", "?"), i.get("sha256", "?")) for i in content["inputs"]),
            *sorted(content["outputs"].items()),
        ],
    )


def _other_notes(table):
    """The notes of a table without those on protocols, which stand at the head of a page."""
    return [note for note in table["notes"] if note not in table.get("own_protocols", [])]


def _numbers_line(row, cell):
    written, support = cell["written"], cell["support"]
    mark = "*" if support and not support["reliable"] else ""
    interval = behind = ""
    if cell["interval"]:
        low, high = written["interval"]
        interval = f"[{low}, {high}]{cell['mark']} at {100 * cell['level']:.4g} %"
    if support:
        achieved = _achieved(support)
        behind = f"{achieved}{achieved and ', '}{support['errors']} of {support['expected']:.4g} "
        behind += "expected"
    elif cell["bounds"]:
        behind = "from a histogram: {:.4g} to {:.4g}".format(*cell["bounds"])
    elif cell["counted"]:
        behind = "{count} of {total}".format(**cell["counted"])
    elif cell["standard_error"] is not None:
        behind = f"sd {100 * cell['sd']:.2f}, standard error {100 * cell['standard_error']:.2f}"
    if cell["rule"]:
        behind += f"{behind and '; '}rule: {cell['rule']}"
    return [row["title"], written["value"] + mark, interval, cell["method"], behind]


def _counts_text(counts, facts):
    templates = f"{facts['templates']} templates of " if facts.get("templates") else ""
    return (
        f"{counts.get('comparisons', 0)} comparisons: {counts.get('genuine', 0)} genuine, "
        f"{counts.get('impostor', 0)} impostor; {templates}{facts.get('samples', 0)} images of "
        f"{facts.get('identities', 0)} people. Failed enrolments: "
        f"{counts.get('failed_enrolments', 0)} ({facts.get('failed_comparisons', 0)} comparisons, "
        f"{facts.get('dropped', 0)} of them left out)."
    )


# --- the page -------------------------------------------------------------------------------------


def _protocol_blocks(runs, axes):
    tracks = _eval.sorted_names(list(dict.fromkeys(t for r in runs for t in r.tracks)))
    table = _table(runs)
    blocks = []
    all_numbers = _numbers(table, runs, tracks)
    if all_numbers["groups"]:
        blocks.append({"kind": "numbers", **all_numbers})
    for track in tracks:
        numbers, matrices = of_track(table, track)
        pictures = track_plots(runs, track, numbers, axes)
        rows = [*track_matrices(matrices, runs, track), *pictures]
        blocks += [plots(*drawn) for drawn in rows if drawn]
    return [
        *blocks,
        _counts(runs, tracks),
        *_blemishes(runs),
        *_failures(runs, "failed", "Failed enrolments"),
        *_failures(runs, "left_out_of_templates", "Images left out of templates"),
    ]


def _numbers(table, runs, tracks):
    groups = []
    for track in tracks:
        # Failures to enrol have a table of their own.
        rows = [r for r in of_track(table, track)[0] if r["metric"] != "failure_to_enrol_rate"]
        if rows:
            name = f"{runs[0].content['protocol']['title']}, track {track}"
            lines = [(r["title"], [c and _shown(c) for c in r["cells"]]) for r in rows]
            groups.append((name, lines))
    shown = [c for _, rows in groups for _, cells in rows for c in cells if c and c["method"]]
    methods = list(dict.fromkeys(c["method"] for c in shown))
    for cell in shown:  # a letter for each where there are several
        cell["letter"] = chr(ord("a") + methods.index(cell["method"])) if len(methods) > 1 else ""
    cells = [c for row in table["rows"] if not row["row"] for c in row["cells"] if c]
    levels = sorted({f"{100 * c['level']:g} %" for c in cells if c["level"]})
    return {
        "runs": [(r.title, model_name(r.content)) for r in runs],
        "groups": groups,
        "marked": " ".join(
            [*_other_notes(table), *(f"No interval: {w}." for w in table["no_interval"])]
        ),
        "levels": ", ".join(levels),
        "methods": methods,
        "conventions": ", ".join(sorted({r.convention for r in runs})),
    }


_ERRORS = {"FAR": "false accept", "FPIR": "false positive"}


def _shown(cell):
    """A number of the page with its interval, what it rests on, and how the interval was made."""
    written, support, behind = cell["written"], cell["support"], []
    if cell["bounds"]:
        behind.append("between {} and {}".format(*written["bounds"]))
    if support and support["achieved"] is not None:
        errors = _ERRORS[support["rate"]] + "s" * (support["errors"] != 1)
        behind.append(f"{_achieved(support)}, {support['errors']} {errors}")
    if cell["rule"]:
        behind.append(f"rule: {cell['rule']}")
    if cell["standard_error"] is not None:
        errors = cell["sd"], cell["standard_error"]
        behind.append("sd {:.2f}, standard error {:.2f}".format(*(100 * e for e in errors)))
    interval = written["interval"] and " – ".join(written["interval"]) + cell["mark"]
    return {
        "value": written["value"],
        "interval": interval,
        "unreliable": bool(support) and not support["reliable"],
        "rests_on": "; ".join(behind),
        "method": cell["method"] if interval else "",
    }


# --- tables ---------------------------------------------------------------------------------------


def _counts(runs, tracks):
    rows = []
    for run in runs:
        for track in (t for t in tracks if t in run.tracks):
            counts, content = run.tracks[track]["counts"], run.content["tracks"].get(track, {})
            rate = counts.get("failure_to_enrol_rate")
            samples, people, dropped = (
                content.get(key, "?") for key in ("samples", "identities", "dropped")
            )
            numbers = [counts["genuine"], counts["impostor"], samples, people]
            numbers += [counts["failed_enrolments"], "?" if rate is None else 100 * rate, dropped]
            rows.append([run.title, track, *numbers])
    columns = ["run", "track", "genuine", "impostor", "images", "people", "failed to enrol"]
    columns += ["share, %", "left out"]
    return table_block(columns, rows)


def _blemishes(runs):
    if not any(run.content.get("blemishes") for run in runs):
        return []
    rules = {r["name"]: r for r in _eval.blemish_rules()}
    rows = [
        [run.title, rules[b["kind"]]["doc"], b["count"], rules[b["kind"]]["rule"], _places(b)]
        for run in runs
        for b in run.content.get("blemishes", [])
        if b["kind"] in rules
    ]
    columns = ["run", "in the lists", "number", "rule", "first"]
    return [table_block(columns, rows, summary="Blemishes of the lists")] if rows else []


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
    columns = ["run", "track", "sample", "status"]
    return [table_block(columns, rows, summary=f"{title} ({len(rows)})")] if rows else []


def _box(runs):
    """What a reader of the numbers must know first: warnings, then notes, each once with the runs
    that have it, where others have not."""
    every = {run.title for run in runs}
    items = [
        (Strong("Protocol:"), f" {said}")
        for said in dict.fromkeys(run.own_protocol for run in runs)
        if said
    ]
    for kind, key in (("Warning", "warnings"), ("Note", "notes")):
        titles: dict[str, dict[str, None]] = {}
        for run in runs:
            for sentence in run.content.get(key, []):
                titles.setdefault(sentence, {})[run.title] = None
        for sentence, names in titles.items():
            whose = f" ({', '.join(names)})" if names.keys() < every else ""
            items.append((Strong(f"{kind}{whose}:"), f" {sentence}"))
    return [bullets(items) | {"box": True}] if items else []


def _provenance(runs):
    """What of a run is checked by `facebench verify`, and what it states."""
    checked, stated = [], []
    for run in runs:
        c, title = run.content, f"{run.title}, {run.protocol}"
        checked.append([title, f"protocol {c['protocol']['id']}", c["protocol"]["sha256"]])
        checked += [[title, i["role"], i["sha256"]] for i in c["inputs"]]
        checked += [[title, name, digest] for name, digest in c["outputs"].items()]
        stated += [[title, name, said] for name, said in stated_of_content(c).items()]
    return [
        table_block(
            ["run", "what", "SHA-256"], checked, summary="Provenance: what facebench verify checks"
        ),
        table_block(
            ["run", "what", "as stated"],
            stated,
            summary="Provenance: stated by the machine that ran it, not checked",
        ),
    ]
