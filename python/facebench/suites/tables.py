"""The table of models by sets, as text cells: what the page and the exports share."""

from facebench import _eval


def by_model(content: dict) -> tuple[list[str], dict]:
    """The models in their order, and the run of each (model, set)."""
    models = dict.fromkeys(run["model"] for part in content["sets"] for run in part["runs"])
    cells = {(r["model"], p["name"]): r for p in content["sets"] for r in p["runs"]}
    return list(models), cells


def column_titles(content: dict) -> list[str]:
    """One a set, with its number; the protocol's version where a protocol is there in two."""
    versions = {}
    for part in content["sets"]:
        protocol = part["protocol"]
        versions.setdefault(protocol["id"], set()).add(protocol["version"])
    return [
        f"{part['name']}, {part['title']}"
        + (
            f" (version {part['protocol']['version']})"
            if len(versions[part["protocol"]["id"]]) > 1
            else ""
        )
        for part in content["sets"]
    ]


def number(part: dict, value) -> str:
    """A number of a set's metric, as reports print it."""
    return "undefined" if value is None else _eval.metric_text(part["metric"], value)


def span(part: dict, interval) -> str:
    """An interval of that metric; "" for none."""
    if not interval or None in interval:
        return ""
    return " – ".join(_eval.metric_text(part["metric"], end) for end in interval)


def percent(share) -> str:
    """A share in percent, with one decimal.

    >>> percent(0.123)
    '12.3 %'
    """
    return f"{100 * share:.1f} %"


def p_value(p) -> str:
    """A p-value with two digits; below what a normal distribution's tail can still say, a bound.

    >>> p_value(0.0123), p_value(0.0), p_value(None)
    ('0.012', '< 1e-15', '–')
    """
    return "–" if p is None else "< 1e-15" if p < 1e-15 else f"{p:.2g}"


def best_of(part: dict) -> set[str]:
    """The models with the best number of a set; of one alone none is the best."""
    runs = [r for r in part["runs"] if r["value"] is not None]
    if len(runs) < 2 or not part["ranking"]:
        return set()
    choose = min if part["ranking"]["lower_is_better"] else max
    best = choose(r["value"] for r in runs)
    return {r["model"] for r in runs if r["value"] == best}
