"""What the report of a sweep shows."""

from facebench.reports.rate_plots import bars_svg


def _point(row, keys):
    return [str(row["point"].get(k, "")) for k in keys]


def _name(key):
    return key.split(".")[-1]


def _percent(share):
    return f"{100 * share:.2f}"


def _seconds(value):
    return "" if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}"


def _accuracy(row):
    interval = row["accuracy"]["interval"]
    return _percent(row["accuracy"]["mean"]), " to ".join(map(_percent, interval or []))


def _finished(result):
    return [r for r in result["rows"] if r["status"] == "ok"]


def sweep_tables(result):
    """Accuracy and what it took, one row a point; what the paper prints; who was taken for whom."""
    keys = result["options"]["keys"]
    names = [_name(k) for k in keys]
    # A column of their own where they are not what is varied.
    iterations = [] if "training.iterations" in keys else ["iterations"]
    rows = [
        [
            *_point(r, keys),
            *(r[k] for k in iterations),
            _accuracy(r),
            _seconds(r["training_seconds"]),
            _seconds(1e3 * r["training_seconds"] / r["iterations"]),
            _seconds(r["testing_seconds"]),
            f"{r['loss']:.4g}",
        ]
        if r["status"] == "ok"
        else [
            *_point(r, keys),
            *("" for _ in iterations),
            f"diverged, {r['message']}",
            *[""] * 4,
        ]
        for r in result["rows"]
    ]
    used = [
        [
            *_point(r, keys),
            _seconds(r["first_epoch_seconds"]),
            _seconds(r["later_epoch_seconds"]),
            _seconds(r["cpu_user"]),
            _seconds(r["cpu_system"]),
            _seconds(r["iowait"]),
            round(r["peak_bytes"] / 2**20),
        ]
        for r in _finished(result)
    ]
    columns = ["accuracy, %", "training, s", "an iteration, ms", "testing, s", "last loss"]
    tables = [
        (
            result["options"]["title"],
            [*names, *iterations, *columns],
            rows,
        ),
        (
            "What it took",
            [
                *names,
                "first epoch, s",
                "later epochs, s",
                "CPU user, s",
                "CPU system, s",
                "I/O wait, s",
                "memory, MiB",
            ],
            used,
        ),
    ]
    titles = {
        "accuracy": "accuracy, %",
        "training_seconds": "training, s",
        "testing_seconds": "testing, s",
    }
    found = dict.fromkeys(k for r in result["rows"] for k in r["published"])
    printed = [k for k in titles if k in found] + [k for k in found if k not in titles]
    if printed:
        cells = [
            [*_point(r, keys), *(str(r["published"].get(k, "")) for k in printed)]
            for r in result["rows"]
        ]
        heads = [titles.get(k, k) for k in printed]
        tables.append(("What the paper prints", [*names, *heads], cells))
    if not _finished(result):
        return tables
    best = max(_finished(result), key=lambda r: r["accuracy"]["mean"])
    at = ", ".join(f"{n} {v}" for n, v in zip(names, _point(best, keys), strict=True) if v)
    classes = range(len(best["confusion"]))
    tables.append(
        (
            f"Confusion matrix of the best point ({at})",
            ["class", *(f"as {c}" for c in classes)],
            [[c, *best["confusion"][c]] for c in classes],
        )
    )
    return tables


def sweep_plots(result):
    """Accuracy and time of every point."""
    keys, rows = result["options"]["keys"], _finished(result)
    groups = [" ".join(_point(r, keys)).strip() or "-" for r in rows]
    cells = [r["accuracy"] for r in rows]
    intervals = [c["interval"] and [100 * v for v in c["interval"]] for c in cells]
    values = [100 * c["mean"] for c in cells]
    seconds = [r["training_seconds"] for r in rows]
    x_title = ", ".join(map(_name, keys))
    return [
        (
            bars_svg(groups, [("accuracy", values, intervals)], "Accuracy", x_title, "%"),
            f"Accuracy on the test images by {x_title}, with 95 % intervals over seeds where there "
            "are several.",
        ),
        (
            bars_svg(groups, [("training", seconds, [None] * len(seconds))], "Time", x_title, "s"),
            f"Time of a training by {x_title}, without reading the images and testing.",
        ),
    ]


def sweep_notes(result):
    """What the figures rest on."""
    options = result["options"]
    notes = []
    if options["synthetic"]:
        drawn = options["drawn"]
        notes.append(
            f"**Drawn images**: {drawn['train']} to train on, {drawn['test']} to test on, of the "
            f"form of {options['images']}. Accuracies are not comparable with anybody's."
        )
    seeds = options["seeds"]
    several = "mean over the seeds, with its interval (95 %, Student's t)"
    notes.append(
        f"Recipe {options['recipe']}, {seeds} seed{'s' * (seeds > 1)}, each training in a process "
        f"of its own. Accuracy: {several if seeds > 1 else 'of one training, so without interval'}."
        " I/O wait is the whole machine's; memory is the process's largest."
    )
    return [*notes, *options["notes"], *options["citations"]]
