#!/usr/bin/env python3
"""Writes the table of the protocols (docs/protocols/index.md) and their part of the navigation of
the site out of protocols/*.toml. With --check it writes nothing and fails where one is old. Each
protocol's page is made with the site (site_pages.py).

Needs the light package alone: `PYTHONPATH=build/python python scripts/protocol_pages.py`.
"""

import re
from itertools import groupby, takewhile

import generated_page
from facebench import _eval, protocols
from generated_page import ROOT, between, table

FOLDER = ROOT / "docs/protocols"


def docs_of(entries):
    return {entry["name"]: entry["doc"] for entry in entries}


def code(names):
    return ", ".join(f"`{name}`" for name in names)


def section(title, lines):
    return [f"## {title}", "", *lines, ""] if lines else []


def items(texts):
    return [f"- {text}" for text in texts]


_SITE = re.compile(
    r"(?<![\w/.@])((?:[\w-]+\.)+(?:org|com|io|edu|gov|net|uk|cn|hk)(?:/[\w./-]*\w)?)(?!\w)"
)
_ARXIV = re.compile(r"arXiv:(\d{4}\.\d{4,5})")


def linked(texts):
    """Texts whose sites and preprints can be clicked."""
    for text in texts:
        text = _SITE.sub(r"[\1](https://\1)", text)
        yield _ARXIV.sub(r"[arXiv:\1](https://arxiv.org/abs/\1)", text)


def measured(spec):
    known = docs_of(_eval.protocol_metrics())
    ranks = [m["name"] for m in _eval.protocol_metrics() if m["targets_are_ranks"]]
    rows = []
    for metric in spec.metrics:
        rank = metric["name"] in ranks
        targets = ", ".join(f"{t:g}" if rank else f"{100 * t:g} %" for t in metric["targets"])
        name = f"`{metric['name']}`" + (f" at {targets}" if targets else "")
        rows.append([name, known[metric["name"]], metric["source"]])
    words = [
        ["convention", f"`{spec.convention}`", docs_of(_eval.list_conventions())[spec.convention]],
        ["intervals", f"`{spec.interval}`", docs_of(_eval.interval_methods())[spec.interval]],
    ]
    if spec.fusion:
        fusions = docs_of(_eval.template_fusions())
        words.append(["template fusion", f"`{spec.fusion}`", fusions[spec.fusion]])
    if spec.summary != "none":
        meaning = "mean and standard deviation"
        if spec.summary == "mean_less_sd":
            meaning += ", and the mean less one of them"
        words.append(["over the tracks", f"`{spec.summary}`", meaning])
    return [
        *table(["metric", "what", "source"], rows),
        "",
        *table(["choice", "name", "meaning"], words),
    ]


def files(spec):
    readers = docs_of(_eval.trial_readers())

    def place(folder):
        if folder == "..":
            return "the folder around the root"
        if folder.startswith("../"):
            return f"`{folder[3:]}/` beside the root"
        return "the root" if folder == "." else f"`{folder}/`"

    def places(folders):
        *first, last = map(place, folders)
        return f"{', '.join(first)} or {last}" if first else last

    reads = code(spec.files[:4]) + (", ..." if len(spec.files) > 4 else "")
    reads = reads or "the folders themselves"
    return [
        *items(spec.about["files"]),
        "",
        f"Images are looked for in {places(spec.image_folders)}, lists in "
        f"{places(spec.list_folders)}, unless `--images` and `--lists` name other folders. The "
        f"reader is `{spec.reader}` ({readers[spec.reader]}); it reads {reads}. Names in the lists "
        f"and of images are matched by the rule `{spec.match}`.",
    ]


def failures(spec):
    known = docs_of(_eval.failure_policies())
    policy = f"Policy `{spec.failed_enrolments}`: {known[spec.failed_enrolments]}."
    own = spec.about["failures"]
    return [policy + (f" {own}" if own else "")]


def expected(spec):
    heads = ["track", "comparisons", "genuine", "impostor", "folds", "samples", "identities"]
    more = [k for e in spec.expected for k in e if k not in heads]
    heads += list(dict.fromkeys(more))
    heads = [h for h in heads if any(h in e for e in spec.expected)]
    if not heads:
        return []
    rows = [[e.get(h, "") for h in heads] for e in spec.expected]
    note = (
        "Other lists in the same format are evaluated too; the result then says which counts "
        "differ."
    )
    return [*table(heads, rows), "", note]


def use(spec):
    return [
        f"    facebench data check {spec.id} --root DIR",
        f"    facebench eval {spec.id} --embeddings E.h5 --root DIR",
        f"    facebench run {spec.id} --model M.safetensors --root DIR",
        "",
        "What all protocols share (scores, names, failures, files of a run) is in "
        "[Evaluating](../evaluation.md).",
    ]


def page(spec):
    lines = [
        f"<!-- Made by scripts/protocol_pages.py from protocols/{spec.id}.toml: edit that. -->",
        "",
        f"# {spec.title}",
        "",
        f"Protocol `{spec.id}`, version {spec.version}.",
        "",
        " ".join(spec.description.split()),
        "",
        *section("What is measured", measured(spec)),
        *section("Files", files(spec)),
        *section("Where to get the data", items(linked(spec.about["ask"]))),
        *section("Failed enrolments", failures(spec)),
        *section("Counts of the official lists", expected(spec)),
        *section("What papers report", items(spec.about["paper"])),
        *section("Notes", items(spec.about["notes"])),
        *section("Use", use(spec)),
        *section("Sources", items(linked(spec.citations))),
    ]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def first_sentence(text):
    return re.split(r"(?<=\.)\s", " ".join(text.split()), maxsplit=1)[0]


def overview(specs):
    rows = [
        [
            f"`{s.id}`",
            s.title,
            first_sentence(s.description),
            code(m["name"] for m in s.metrics),
        ]
        for s in specs
    ]
    return table(["protocol", "data", "what it measures", "metrics"], rows)


def index(specs):
    lines = [
        "<!-- Made by scripts/protocol_pages.py from protocols/*.toml: edit those. -->",
        "",
        "# Protocols",
        "",
        "A protocol is a TOML file with a version; its hash is recorded in every result. These are "
        "built in; `facebench show NAME` prints all of one. Your own file works the same way: "
        "[how to add one](../how-to-add.md#a-protocol).",
        "",
        *overview(specs),
    ]
    return "\n".join(lines).rstrip() + "\n"


def navigation(specs):
    """An entry for each protocol; those of one data set, by the first word of their ids, are folded
    under the words that their titles begin with."""
    for _, group in groupby(specs, lambda spec: spec.id.partition("_")[0]):
        titles = {spec.id: spec.title for spec in group}
        entries = [f"{title}: protocols/{name}.md" for name, title in titles.items()]
        if len(entries) == 1:
            yield f"      - {entries[0]}"
            continue
        words = zip(*(title.replace(",", " ,").split() for title in titles.values()), strict=False)
        common = takewhile(lambda same: len(set(same)) == 1 and same[0] != ",", words)
        yield f"      - {' '.join(word for word, *_ in common)}:"
        yield from (f"          - {entry}" for entry in entries)


def all_specs():
    return [protocols.load_protocol(p["name"]) for p in protocols.list_protocols()]


def generated():
    """Path -> text of what is kept in the repository."""
    specs = all_specs()
    result = {FOLDER / "index.md": index(specs)}
    site = ROOT / "mkdocs.yml"
    nav = list(navigation(specs))
    result[site] = between(site.read_text(), "protocols", nav, site.name, "# {}")
    return result


if __name__ == "__main__":
    generated_page.main(__doc__, generated, FOLDER)
