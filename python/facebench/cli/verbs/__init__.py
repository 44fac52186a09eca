"""The tables of the verbs, in the order of the help; a group of verbs is a table of its own."""

from facebench.cli.verbs import (
    check,
    compare,
    convert,
    data,
    demo,
    detect,
    diagnose,
    embed,
    evaluate,
    explain,
    groups,
    inspect,
    listing,
    operating_points,
    pack,
    pairs,
    quality,
    quantize,
    report,
    run,
    show,
    study,
    suite,
    train,
    verify,
)
from facebench.cli.verbs.bench import steps, studies, throughput

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
        "diagnose": diagnose.diagnose,
        "inspect": inspect.inspect,
        "groups": groups.groups,
        "quality": quality.quality,
        "threshold": operating_points.threshold,
        "calibrate": operating_points.calibrate,
        "plan": operating_points.plan,
        "gallery": operating_points.gallery,
        "budget": operating_points.budget,
        "check": check.check,
    },
    "Studies": {
        "study": study.study,
        "suite": suite.suite,
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
            "step": steps.step,
            "scale": steps.scale,
            "load": throughput.load,
            "detect": throughput.detect,
            "eval": throughput.evaluate,
            "layers": throughput.layers,
            "factors": studies.factors,
            "compare-datasets": studies.compare_datasets,
        },
    },
}
VERBS = {name: entry for verbs in SECTIONS.values() for name, entry in verbs.items()}
GROUPS = {
    "data": "Make and check data sets.",
    "bench": "Time steps, loading, detection, scoring.",
}
