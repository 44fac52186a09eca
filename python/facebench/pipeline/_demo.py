"""The demo: the main job from end to end on synthetic faces, and its pages."""

import os
from pathlib import Path
from typing import Unpack
from urllib.parse import quote

from facebench._library import full
from facebench.core._arguments import with_keys
from facebench.core._options import known, takes
from facebench.reports.comparisons import differences_section
from facebench.reports.page import (
    Section,
    image_section,
    table_section,
    text_section,
    write_html,
)
from facebench.reports.results import (
    folders_section,
    page_title,
    runs_section,
    write_run_pages,
)
from facebench.reports.summaries import protocols_by_systems, summary_text


class Demo:
    """What `demo` made: ``folder``, ``report`` (the HTML page), ``runs`` (for each protocol the run
    folders by system), ``steps`` with times."""

    def __init__(self, raw):
        self.folder = Path(with_keys(raw, "folder runs steps", "raw")["folder"])
        self.report = self.folder / "report.html"
        self.runs: dict[str, dict[str, Path]] = {}
        for run in raw["runs"]:
            self.runs.setdefault(run["protocol"], {})[run["title"]] = self.folder / run["folder"]
        self.steps = raw["steps"]

    def to_dict(self):
        return {
            "folder": str(self.folder),
            "report": str(self.report),
            "runs": {
                protocol: {title: str(path) for title, path in systems.items()}
                for protocol, systems in self.runs.items()
            },
            "steps": self.steps,
        }

    def __repr__(self):
        runs = [(t, p) for systems in self.runs.values() for t, p in systems.items()]
        titles, folders = [t for t, _ in runs], [p for _, p in runs]
        seconds = sum(step["seconds"] for step in self.steps)
        first, other = folders[0], folders[min(1, len(folders) - 1)]
        return "\n".join(
            [
                f"{len(set(titles))} systems, {len(self.runs)} protocols, {seconds:.0f} s. "
                "Rates in %, with 95 % intervals:",
                summary_text(folders, titles),
                f"report: {self.report}",
                "next:",
                f"  facebench open {self.folder}    # all of its pages in a browser",
                f"  facebench inspect {first}    # the pairs behind the errors",
                f"  facebench explain {first} {other}",
            ]
        )


def _demo_page(raw, replicates):
    """The summary of a demo, and a page for each of its protocols."""
    folder = Path(raw["folder"])
    protocols: dict[str, list[tuple[Path, str]]] = {}
    for run in raw["runs"]:
        place = folder / run["folder"], run["title"]
        protocols.setdefault(run["protocol"], []).append(place)
        write_run_pages(place[0])
    links = {}
    for protocol, places in protocols.items():
        page = places[0][0].parent / "report.html"  # in the protocol's folder, beside its runs
        links[protocol] = quote(os.path.relpath(page, folder))
        runs, titles = [list(side) for side in zip(*places, strict=True)]
        title = page_title(runs, titles)
        sections = [
            runs_section(title, runs, titles),
            differences_section(runs, titles, titles[0], replicates=replicates),
            folders_section(runs, titles, page.parent),
        ]
        back = "The summary of all protocols is report.html in the folder above."
        write_html(page, title, [s for s in sections if s], back)
    every = [place for places in protocols.values() for place in places]
    summary = protocols_by_systems([p for p, _ in every], [t for _, t in every], links)
    steps = [[s["name"], s["detail"], round(s["seconds"], 1)] for s in raw["steps"]]
    sections = [
        text_section(
            "What this is",
            "The main job from end to end on faces that the project renders itself: no photograph "
            "and no learned weights but the detector's. Nobody is both trained and tested on. "
            "Compared are the network after a minute of training, the same network untrained, "
            "and the crop's own pixels. Each protocol has a page with its curves and with the "
            "paired differences, which decide whether two systems differ.",
        ),
        Section("Unseen people, by protocol", [summary]),
        image_section(
            "Synthetic faces",
            folder / "sheet.png",
            "A row for each person, a column for each kind of photograph.",
        ),
        table_section("Steps", ["step", "what came of it", "seconds"], steps),
    ]
    write_html(folder / "report.html", "facebench demo", sections)


@takes(full.DemoOptions)
def demo(out, *, threads=0, progress=None, **options: "Unpack[full.DemoOptionsKeywords]") -> Demo:
    """The main job on synthetic faces: render, detect, crop, train, embed, evaluate, report.

    Takes minutes. ``options`` are fields of `DemoOptions`; the result, a `Demo`, lies in the folder
    ``out``: an earlier demo there is replaced, anything else refused.
    """
    asked = full.DemoOptions(**known(demo, options))
    raw = full.demo(asked, out, threads, progress)
    _demo_page(raw, asked.replicates)
    return Demo(raw)
