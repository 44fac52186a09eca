"""The tables of the verbs, in the order of the help; a group of verbs is a table of its own. A verb
is named by where its function stands: its module is imported when it is called for."""

from typing import Any

# By the headings that they stand under in the help.
SECTIONS: dict[str, dict[str, Any]] = {
    "Start": {
        "demo": "cli.verbs.demo.demo",
        "run": "cli.verbs.run.run",
        "compare": "cli.verbs.compare.compare",
        "report": "cli.verbs.report.report",
        "verify": "cli.verbs.verify.verify",
        "list": "cli.verbs.listing.list_names",
        "show": "cli.verbs.show.show",
    },
    "Single steps": {
        "detect": "cli.verbs.detect.detect",
        "pack": "cli.verbs.pack.pack",
        "train": "cli.verbs.train.train",
        "convert": "cli.verbs.convert.convert",
        "quantize": "cli.verbs.quantize.quantize",
        "embed": "cli.verbs.embed.embed",
        "pairs": "cli.verbs.pairs.pairs",
        "eval": "cli.verbs.evaluate.evaluate",
    },
    "What a run says": {
        "explain": "cli.verbs.explain.explain",
        "diagnose": "lab.verbs.diagnose.diagnose",
        "inspect": "cli.verbs.inspect.inspect",
        "open": "cli.verbs.open.open_runs",
        "groups": "cli.verbs.groups.groups",
        "quality": "cli.verbs.quality.quality",
        "threshold": "cli.verbs.operating_points.threshold",
        "calibrate": "cli.verbs.operating_points.calibrate",
        "fuse": "cli.verbs.operating_points.fuse",
        "plan": "lab.verbs.planning.plan",
        "gallery": "lab.verbs.planning.gallery",
        "budget": "lab.verbs.planning.budget",
        "check": "lab.verbs.check.check",
    },
    "Studies": {
        "study": "lab.verbs.study.study",
        "suite": "lab.verbs.suite.suite",
    },
    "Data and speed": {
        "data": {
            "synth": "cli.verbs.data.synth",
            "check": "cli.verbs.data.check",
            "scan": "cli.verbs.data.scan",
            "convert": "cli.verbs.data.convert",
            "describe": "cli.verbs.data.describe",
            "overlap": "cli.verbs.data.overlap",
            "keep": "cli.verbs.data.keep",
            "merge": "cli.verbs.data.merge",
            "croissant": "cli.verbs.data.croissant",
        },
        "bench": {
            "step": "lab.verbs.bench.steps.step",
            "scale": "lab.verbs.bench.steps.scale",
            "load": "lab.verbs.bench.throughput.load",
            "detect": "lab.verbs.bench.throughput.detect",
            "eval": "lab.verbs.bench.throughput.evaluate",
            "layers": "lab.verbs.bench.throughput.layers",
            "factors": "lab.verbs.bench.studies.factors",
            "compare-datasets": "lab.verbs.bench.studies.compare_datasets",
        },
    },
}
VERBS = {name: entry for verbs in SECTIONS.values() for name, entry in verbs.items()}
GROUPS = {
    "data": "Make and check data sets.",
    "bench": "Time steps, loading, detection, scoring.",
}
