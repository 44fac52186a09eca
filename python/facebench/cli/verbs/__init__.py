"""The table of the verbs, in the order of the help; a group of verbs is a table of its own."""

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
    listing,
    pack,
    pairs,
    report,
    run,
    show,
    train,
    verify,
)
from facebench.cli.verbs.bench import steps, studies, throughput

VERBS = {
    "demo": demo.demo,
    "list": listing.list_names,
    "show": show.show,
    "detect": detect.detect,
    "pack": pack.pack,
    "train": train.train,
    "convert": convert.convert,
    "embed": embed.embed,
    "pairs": pairs.pairs,
    "eval": evaluate.evaluate,
    "run": run.run,
    "compare": compare.compare,
    "report": report.report,
    "explain": explain.explain,
    "groups": groups.groups,
    "verify": verify.verify,
    "data": {
        "synth": data.synth,
        "check": data.check,
        "scan": data.scan,
        "convert": data.convert,
        "overlap": data.overlap,
    },
    "bench": {
        "step": steps.step,
        "scale": steps.scale,
        "load": throughput.load,
        "detect": throughput.detect,
        "eval": throughput.evaluate,
        "factors": studies.factors,
        "compare-datasets": studies.compare_datasets,
    },
}
GROUPS = {
    "data": "Make and check data sets.",
    "bench": "Time steps, loading, detection, scoring.",
}
