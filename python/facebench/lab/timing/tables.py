"""What the reports of measurements show: the tables, plots and notes of each kind."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

from facebench.reports.rate_plots import bars_svg, lines_svg


@dataclass(frozen=True)
class Kind:
    """How one kind of measurement is shown."""

    title: str
    # result -> [(title, columns, rows)]
    tables: Callable
    # result -> [(svg, caption)]
    plots: Callable
    notes: Callable = lambda result: []


def _star(row):
    return "*" if row.get("busy") else ""


def _between(interval, digits=4):
    return f"{interval[0]:.{digits}g} to {interval[1]:.{digits}g}" if interval else ""


def _percent(share, digits):
    return None if share is None else f"{100 * share:.{digits}f} %"


def _mib(count):
    return None if count is None else round(count / 2**20)


def _ok(result):
    return [r for r in result["rows"] if r["status"] == "ok"]


# --- step -----------------------------------------------------------------------------------------

_STATUS = {
    "out_of_memory": "out of memory",
    "timeout": "too slow",
    "failed": "failed",
    "differs": "outputs differ",
    "absent": "left out",
}


# The share of an iteration that measuring may take; rows above are marked.
MAX_OVERHEAD = 0.005


def _case(r):
    return [r["network"], r["engine"], r["batch"], r.get("threads")]


def _time_row(r):
    if r["status"] != "ok":
        return [*_case(r), _STATUS[r["status"]], *[None] * 7, r["message"]]
    s = r["seconds"]
    mean, interval = _milliseconds(r)
    return [
        *_case(r),
        f"{mean:.4g}{_star(r)}",
        _between(interval),
        1e3 * s["median"],
        1e3 * s["p95"],
        r["images_per_second"],
        _percent(r["repeat_spread"], 1),
        None if s["first"] is None else 1e3 * s["first"],
        s["count"],
        "",
    ]


def _parts_row(r):
    phases = {p: 1e3 * v["mean"] for p, v in r["phases"].items()}
    model = r.get("model")
    return [
        *_case(r),
        *(phases.get(p) for p in ("data", "forward", "backward", "aggregate", "update")),
        model and 1e3 * model["data_alone"],
        model and 1e3 * model["sequential"],
        model and 1e3 * model["overlapped"],
        1e3 * r["seconds"]["mean"],
        _percent(model and model["overlap"], 0),
        _percent(r["overhead"]["share"], 3) + ("+" if _disturbed(r) else ""),
    ]


def _disturbed(row):
    """Whether measuring took more of an iteration than it may."""
    return row["overhead"]["share"] > MAX_OVERHEAD


def _memory_row(r):
    cpu, device = r["processors"], r["device_memory"]
    return [
        *_case(r),
        _mib(r["predicted_memory"]["activations"]),
        _mib(r["predicted_memory"]["total"]),
        _mib(r["memory"]["average"]),
        _mib(r["memory"]["peak"]),
        _mib(device and device["peak"]) or None,
        *(_percent(cpu.get(k), 1) for k in ("user", "system", "iowait", "others")),
    ]


def _energy_row(r):
    of = r["joules_an_image"]
    return [*_case(r), of["processors"], of["card"], r["images_per_second"]]


def has_energy(row):
    """Whether the system said what was taken while a row was timed."""
    return any(v is not None for v in row.get("joules_an_image", {}).values())


# Title, what makes a row of a case, and the columns behind network, engine and batch.
_TIMES = (
    "Time of an iteration",
    _time_row,
    "mean, ms|95 % interval|median, ms|p95, ms|images/s|repeat spread|first, ms|iterations|note",
)
_ENERGY = ("Energy, J an image", _energy_row, "processors|card|images/s")
_OF_FINISHED_CASES = (
    (
        "Parts of an iteration, ms",
        _parts_row,
        "data|forward|backward|aggregate|update|data alone|eq. 7|eq. 8|measured|overlap|overhead",
    ),
    (
        "Memory, MiB, and processors",
        _memory_row,
        "predicted activations|predicted total|resident, average|resident, peak|device, peak|user"
        "|system|iowait|others",
    ),
)


def _step_tables(result):
    def table(title, row, columns, cases):
        names = ["network", "engine", "batch", "threads", *columns.split("|")]
        return title, names, [row(r) for r in cases]

    finished = _ok(result)
    tables = [table(*_TIMES, result["rows"])]
    if len(_thread_counts(result["rows"])) > 1:
        tables.insert(0, _by_threads(result["rows"]))
    if finished:
        tables += [table(*t, finished) for t in _OF_FINISHED_CASES]
    measured = [r for r in finished if has_energy(r)]
    if measured:
        tables.append(table(*_ENERGY, measured))
    return tables


def _thread_counts(rows):
    return list(dict.fromkeys(r.get("threads") for r in rows))


def _by_threads(rows):
    """As Shi et al. 2016 print it, table 7: a column for each number of threads."""
    counts = _thread_counts(rows)
    row_of = {(r["network"], r["engine"], r["batch"], r["threads"]): r for r in rows}

    def cell(row):
        if row["status"] != "ok":
            return _STATUS[row["status"]]
        mean, interval = _milliseconds(row)
        return f"{mean:.4g}{_star(row)}", _between(interval)

    cases = dict.fromkeys(case[:3] for case in row_of)
    columns = ["network", "engine", "batch", *(f"{n} threads, ms" for n in counts)]
    return (
        "Time of an iteration by threads",
        columns,
        [[*case, *(cell(row_of[*case, n]) for n in counts)] for case in cases],
    )


def _grouped(rows, *keys):
    """{values of the keys: the rows that have them}, in the order of the rows."""
    groups: dict[tuple, list] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return groups


def _step_plots(result):
    """For each network the engines' times by batch; where several numbers of threads were measured,
    for each network and batch by these."""
    mode, counts = result["options"]["mode"], _thread_counts(result["rows"])
    shown, plots = [r for r in result["rows"] if r["status"] != "absent"], []
    if len(counts) > 1:
        for (network, batch), rows in _grouped(shown, "network", "batch").items():
            title = f"{network}, batch {batch}: {mode}"
            plots.append(_times_plot(rows, "threads", counts, title, title, "threads"))
        return plots
    for (network,), rows in _grouped(shown, "network").items():
        batches = list(dict.fromkeys(r["batch"] for r in rows))
        title, caption = f"{network}: {mode}", f"{network}, {mode}"
        plots.append(_times_plot(rows, "batch", batches, title, caption, "batch size"))
        if len(batches) > 1:
            rates = [
                _rates(engine, [r for r in of_engine if r["status"] == "ok"], "batch")
                for (engine,), of_engine in _grouped(rows, "engine").items()
            ]
            svg = lines_svg(rates, title, "batch size", "images/s")
            plots.append((svg, f"{caption}: images a second by batch size."))
    return plots


def _times_plot(rows, key, places, title, caption, x_title):
    times = []
    for (engine,), of_engine in _grouped(rows, "engine").items():
        row_of = {row[key]: row for row in of_engine}
        times.append((engine, *_bars([row_of.get(place) for place in places])))
    svg = bars_svg(places, times, title, x_title, "ms an iteration")
    return svg, f"{caption}: time of an iteration; lines are the mean's 95 % intervals."


def _milliseconds(row):
    interval = row["seconds"]["mean_interval"]
    return 1e3 * row["seconds"]["mean"], interval and [1e3 * v for v in interval]


def _bars(cells):
    """Times and their intervals; of what has none, why."""
    values, intervals = [], []
    for row in cells:
        if row and row["status"] == "ok":
            value, interval = _milliseconds(row)
        else:
            value, interval = None, _STATUS[row["status"]] if row else ""
        values.append(value)
        intervals.append(interval)
    return values, intervals


def _rates(name, rows, x):
    """A line of images a second."""
    keys = (x, "images_per_second", "images_per_second_interval")
    return name, *([row[key] for row in rows] for key in keys)


def _step_notes(result):
    notes = []
    rows = _ok(result)
    if rows:
        worst = max(r["overhead"]["share"] for r in rows)
        notes.append(f"The harness takes {100 * worst:.3f} % of an iteration at most.")
    marked = sum(map(_disturbed, rows))
    if marked:
        notes.append(
            f"**+ {marked} of {len(rows)} rows: measuring took more than {100 * MAX_OVERHEAD:g} % "
            "of an iteration, so its parts are longer than they would be alone.**"
        )
    spreads = [r["repeat_spread"] for r in rows if r["repeat_spread"] is not None]
    if spreads:
        notes.append(f"Repeat spread: {100 * max(spreads):.1f} % at most (medians of the rounds).")
    if rows and not any(map(has_energy, rows)):
        notes.append("Energy is not known: no counter of RAPL can be read, and no card by NVML.")
    elif rows:
        notes.append("Energy is the whole machine's (RAPL's packages, the card by NVML), idle "
                     "power included, while a row's rounds ran.")  # fmt: skip
    checked = [r["difference"]["outputs"] for r in rows if r.get("difference")]
    if checked:
        notes.append(
            f"Outputs of all engines agree with this library's to {max(checked):.1g} of the "
            "largest value, with the same weights; this was checked before anything was timed."
        )
    left_out = [r for r in result["rows"] if r["status"] == "absent"]
    absent = sorted({f"{r['engine']} ({r['message']})" for r in left_out})
    if absent:
        notes.append("Left out: " + "; ".join(absent) + ".")
    return notes


# --- load, detect, eval: rates --------------------------------------------------------------------


def _rate_tables(result):
    names = result["options"]["columns"]
    rows = [
        [
            *(r[n] for n in names),
            f"{r['rate']:.4g}{_star(r)}",
            _between(r["interval"]),
            _percent(r["repeat_spread"], 1),
            r["rate"] / r["threads"] if r.get("threads") else None,
        ]
        for r in result["rows"]
    ]
    rate = f"{result['options']['unit']}/s"
    columns = [*names, rate, "95 % interval", "repeat spread", "for each thread"]
    return [("Rates", columns, rows)]


def _rate_plots(result):
    unit, by = result["options"]["unit"], result["options"]["columns"]
    threads = list(dict.fromkeys(r["threads"] for r in result["rows"]))
    groups = list(dict.fromkeys(r[by[0]] for r in result["rows"]))
    if len(groups) == 0:
        return []
    series = []
    for t in threads:
        row_of = {r[by[0]]: r for r in result["rows"] if r["threads"] == t}
        rows = [row_of.get(g) for g in groups]
        bars = ([r and r[key] for r in rows] for key in ("rate", "interval"))
        series.append((f"{t} thread{'s' if t > 1 else ''}", *bars))
    svg = bars_svg(groups, series, "Rates", by[0], f"{unit}/s")
    return [(svg, f"{unit.capitalize()} a second; lines are 95 % intervals.")]


# --- layers ---------------------------------------------------------------------------------------


def _layer_tables(result):
    batch = result["options"]["batch"]
    rows = [
        [
            row["layers"],
            row["method"],
            " x ".join(map(str, row["output"])),
            f"{1e3 * row['seconds']:.3f}",
            _percent(row["of_all"], 1),
            _percent(row["share"], 0),
            round(row["macs"] / 1e6, 1),
            round(row["bytes"] / 2**10),
        ]
        for row in result["rows"]
    ]
    columns = ["layers", "computed", "output", "ms", "of all", "of the limit"]
    columns += ["million macs", "KiB"]
    title = f"{1e3 * result['seconds']:.2f} ms for {batch} image{'s' if batch > 1 else ''}"
    methods = list(dict.fromkeys(row["method"] for row in result["rows"]))
    sums = []
    for method in methods:
        of = [row for row in result["rows"] if row["method"] == method]
        seconds, macs = (sum(row[key] for row in of) for key in ("seconds", "macs"))
        share = macs / seconds / result["limit"] if macs else None
        sums.append(
            [method, len(of), f"{1e3 * seconds:.3f}", _percent(seconds / result["seconds"], 1),
             _percent(share, 0)]
        )  # fmt: skip
    return [
        (title, columns, rows),
        ("By method", ["computed", "steps", "ms", "of all", "of the limit"], sums),
    ]


def _layer_notes(result):
    giga, threads = result["limit"] / 1e9, result["options"]["threads"]
    return [
        f"The limit: {giga:.1f} billion float32 multiply-adds a second on {threads} "
        f"thread{'s' if threads > 1 else ''}. Winograd's method makes do with fewer than the layer "
        "counts, so that its share may exceed 100 %. KiB: weights, and an image's inputs and "
        "outputs."
    ]


# --- scale ----------------------------------------------------------------------------------------


def _scale_tables(result):
    rows = [
        [
            r["scaling"],
            r["engine"],
            r["processes"],
            r["batch"],
            f"{r['images_per_second']:.4g}{_star(r)}",
            _between(r["images_per_second_interval"]),
            _percent(r["speedup"], 0),
            _percent(r["efficiency"], 0),
            1e3 * r["seconds"]["mean"],
            r["model"] and 1e3 * r["phases"].get("aggregate", 0.0),
            r["model"] and 1e3 * r["model"]["sequential"],
            r["model"] and 1e3 * r["model"]["overlapped"],
            _percent(r["repeat_spread"], 1),
        ]
        for r in result["rows"]
    ]
    columns = ["scaling", "engine", "processes", "batch", "images/s", "95 % interval"]
    columns += ["speed-up (eq. 6)"]
    columns += ["efficiency", "iteration, ms", "aggregation, ms", "eq. 7", "eq. 8", "repeat spread"]
    tables = [("Scaling", columns, rows)] if rows else []
    if result["accuracy"]:
        rows = []
        for r in result["accuracy"]:
            each = ", ".join("-" if s is None else f"{s:.1f}" for s in r["seconds"])
            reached = f"{r['reached']} of {len(r['seconds'])}"
            rows.append([r["processes"], reached, r["median"], each])
        columns = ["processes", "seeds that reached it", "median, s", "each seed, s"]
        title = f"Time to an accuracy of {result['options']['accuracy']:g}"
        tables.append((title, columns, rows))
    return tables


def _scale_plots(result):
    options = result["options"]
    if not result["rows"]:
        return []
    series = []
    for kind, engine in itertools.product(options["scalings"], options["engines"]):
        rows = [r for r in result["rows"] if (r["scaling"], r["engine"]) == (kind, engine)]
        title = f"{kind} scaling" + (f", {engine}" if len(options["engines"]) > 1 else "")
        series.append(_rates(title, rows, "processes"))
    network = options["network"]
    svg = lines_svg(series, f"{network}: scaling", "processes", "images/s")
    return [(svg, f"{network}: images a second by number of processes; 95 % intervals.")]


def _scale_notes(result):
    options = result["options"]
    if not result["rows"]:
        return ["This host took part; the figures are with host 0."]
    return [
        f"{options['network']}, {options['threads']} threads for each process. Weak: each process "
        f"has a batch of {options['batch']}; strong: all share it. Speed-up is equation 6, the "
        "growth of the throughput by a doubling, ideally 100 %."
    ]


KINDS = {
    "step": Kind("Time of an iteration", _step_tables, _step_plots, _step_notes),
    "load": Kind("Rate of loading images", _rate_tables, _rate_plots),
    "detect": Kind("Rate of detection", _rate_tables, _rate_plots),
    "eval": Kind("Rate of scoring and measuring", _rate_tables, _rate_plots),
    "layers": Kind(
        "Time of a forward pass by layer", _layer_tables, lambda result: [], _layer_notes
    ),
    "scale": Kind("Scaling", _scale_tables, _scale_plots, _scale_notes),
}
