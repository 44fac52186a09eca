"""The tables of the verbs, in the order of the help; a group of verbs is a table of its own."""

from facebench.cli.lab import of_lab
from facebench.cli.verbs import (
    compare,
    convert,
    data,
    demo,
    detect,
    embed,
    evaluate,
    explain,
    groups,
    inspect,
    listing,
    open,
    operating_points,
    pack,
    pairs,
    quality,
    quantize,
    report,
    run,
    show,
    train,
    verify,
)

# By the headings that they stand under in the help.
SECTIONS = {
    "Start": {
        "demo": demo.demo,
        "run": run.run,
        "compare": compare.compare,
        "report": report.report,
        "verify": verify.verify,
        "list": listing.list_names,
        "show": show.show,
    },
    "Single steps": {
        "detect": detect.detect,
        "pack": pack.pack,
        "train": train.train,
        "convert": convert.convert,
        "quantize": quantize.quantize,
        "embed": embed.embed,
        "pairs": pairs.pairs,
        "eval": evaluate.evaluate,
    },
    "What a run says": {
        "explain": explain.explain,
        "diagnose": of_lab("diagnose.diagnose"),
        "inspect": inspect.inspect,
        "open": open.open_runs,
        "groups": groups.groups,
        "quality": quality.quality,
        "threshold": operating_points.threshold,
        "calibrate": operating_points.calibrate,
        "plan": of_lab("planning.plan"),
        "gallery": of_lab("planning.gallery"),
        "budget": of_lab("planning.budget"),
        "check": of_lab("check.check"),
    },
    "Studies": {
        "study": of_lab("study.study"),
        "suite": of_lab("suite.suite"),
    },
    "Data and speed": {
        "data": {
            "synth": data.synth,
            "check": data.check,
            "scan": data.scan,
            "convert": data.convert,
            "describe": data.describe,
            "overlap": data.overlap,
            "merge": data.merge,
            "croissant": data.croissant,
        },
        "bench": {
            "step": of_lab("bench.steps.step"),
            "scale": of_lab("bench.steps.scale"),
            "load": of_lab("bench.throughput.load"),
            "detect": of_lab("bench.throughput.detect"),
            "eval": of_lab("bench.throughput.evaluate"),
            "layers": of_lab("bench.throughput.layers"),
            "factors": of_lab("bench.studies.factors"),
            "compare-datasets": of_lab("bench.studies.compare_datasets"),
        },
    },
}
VERBS = {name: entry for verbs in SECTIONS.values() for name, entry in verbs.items()}
GROUPS = {
    "data": "Make and check data sets.",
    "bench": "Time steps, loading, detection, scoring.",
}
