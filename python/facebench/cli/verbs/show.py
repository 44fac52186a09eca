"""``facebench show``: all that is known of one named thing."""

import facebench
from facebench.cli import common
from facebench.cli.options import argument, option
from facebench.cli.verb import Answer, verb
from facebench.cli.verbs.listing import KINDS
from facebench.core._arguments import did_you_mean, printable
from facebench.core._options import OptionsClass


def _options(kind: type[OptionsClass]) -> list[dict]:
    """The options that a thing takes, as its options class describes them."""
    keys = ("name", "type", "default", "doc")
    return [{key: field[key] for key in keys} for field in kind.fields()]


def _network(name: str) -> dict:
    graph = facebench.nn.build_graph(name)
    return {"layers": str(graph).count("\n"), "options": _options(facebench.nn.NetworkOptions)}


def _protocol(name: str) -> dict:
    spec = facebench.protocols.load_protocol(name)
    rules = ("match", "fusion", "interval", "failed_enrolments", "expected", "citations")
    return {
        "files": spec.files,
        "data": spec.about["files"],
        "ask": spec.about["ask"],
        **common.fields_of(spec, "image_folders", *rules),
        "notes": spec.about["notes"],
    }


def _recipe(name: str) -> dict:
    return {"settings": facebench.training.load_recipe(name).to_dict()}


def _metric(name: str) -> dict:
    """What a protocol writes to ask for it, and the rules that compute it."""
    entry = next(e for e in facebench.protocols.protocol_metrics() if e["name"] == name)
    ranks = entry["targets_are_ranks"]
    conventions: list[dict] = getattr(facebench.metrics, f"{name}_conventions", list)()
    return {
        "measured_on": entry["applies_to"],
        "targets": "ranks, such as 1" if ranks else "rates, such as 0.001" if "far" in name else "",
        "rules": conventions,
    }


# What there is to say of a thing of these kinds beside its entry in the list.
MORE = {"metrics": _metric, "networks": _network, "protocols": _protocol, "recipes": _recipe}
# What stands in an entry for programs, and is said in words beside it.
UNSAID = {"metrics": {"applies_to", "targets_are_ranks"}}


def _lines(value, depth: int = 0) -> list[str]:
    """A dict or list as indented lines; what is empty is left out."""
    indent = "  " * depth
    lines: list[str] = []
    if isinstance(value, dict):
        for key, inner in value.items():
            if inner in (None, "", [], {}) or inner is False:
                continue
            key = str(key).replace("_", " ")
            if isinstance(inner, dict | list) and not _is_short(inner):
                lines += [f"{indent}{key}:", *_lines(inner, depth + 1)]
            else:
                lines.append(f"{indent}{key}: {_short(inner)}")
        return lines
    for inner in value:
        if isinstance(inner, dict) and "name" in inner and "doc" in inner:
            default = f" (default {_short(inner['default'])})" if "default" in inner else ""
            lines.append(f"{indent}{inner['name']}: {inner['doc']}{default}")
        elif isinstance(inner, dict):
            lines.append(indent + ", ".join(f"{k} {_short(v)}" for k, v in inner.items()))
        else:
            lines.append(f"{indent}{inner}")
    return lines


def _is_short(value) -> bool:
    numbers = isinstance(value, list) and all(isinstance(v, int | float) for v in value)
    words = isinstance(value, list) and all(isinstance(v, str) for v in value)
    return numbers or (words and sum(map(len, value)) < 60)


def _short(value) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if type(value) is int and abs(value) >= 10_000 else str(value)


def _names() -> list[str]:
    return [entry["name"] for kind in KINDS if kind != "devices" for entry in KINDS[kind]()]


@verb("facebench show mobilefacenet")
def show(
    name: argument("What: a name of any of the lists (facebench list KIND).", str, _names),
    kind: option("The list that it stands in, where several hold the name.") = "",
):
    """Show all that is known of a protocol, network, loss, recipe, crop, data set, ..."""
    if kind and kind not in KINDS:
        raise ValueError(f"unknown kind '{kind}' (known: {', '.join(KINDS)})")
    entries, known = {}, []
    for one in [kind] if kind else [k for k in KINDS if k != "devices"]:
        for entry in KINDS[one]():
            known.append(entry["name"])
            if entry["name"] == name:
                entries[one] = entry
    if not entries:
        meant = did_you_mean(name, known)
        raise ValueError(f"nothing is called '{name}'{meant} (facebench list names the kinds)")
    fields = {k: {**entry, **(MORE[k](name) if k in MORE else {})} for k, entry in entries.items()}
    text = []
    for k, entry in fields.items():
        said = {key: value for key, value in entry.items() if key not in UNSAID.get(k, ())}
        text += [f"{k}:", *_lines(said, 1)]
    return Answer(fields, printable("\n".join(text)))
