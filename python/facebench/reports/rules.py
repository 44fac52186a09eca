"""Whether a run folder has what a journal or a challenge asks for: rules as data."""

import os
from importlib.resources import files
from pathlib import Path

from facebench import _eval
from facebench._arguments import brief
from facebench._toml import check_keys, read_toml
from facebench.core import Error, closest_name
from facebench.reports.runs import read_run, verify_inputs, verify_scores

# What a rule can ask of the values at its place, and how each is read in a sentence.
_TESTS = {
    "is": lambda value, wanted: value == wanted,
    "one_of": lambda value, wanted: value in wanted,
    "at_least": lambda value, wanted: _is_number(value) and value >= wanted,
    "at_most": lambda value, wanted: _is_number(value) and value <= wanted,
    "present": lambda value, wanted: (value is not None) == wanted,
    "empty": lambda value, wanted: (not value) == wanted,
    "lacks": lambda value, wanted: wanted not in str(value),
}
_WORDS = {
    "is": "has to be",
    "one_of": "has to be one of",
    "at_least": "has to be at least",
    "at_most": "has to be at most",
    "present": "recorded has to be",
    "empty": "empty has to be",
    "lacks": "must not contain",
}
_GENERAL = ("id", "version", "title", "source", "changes", "rules")


class RunCheck:
    """What `check` found: ``rules`` (a list of dicts: name, passed, reason), ``passed``."""

    def __init__(self, rules_id, version, run, rules):
        self.rules_id, self.version, self.run, self.rules = rules_id, version, str(run), rules

    @property
    def passed(self) -> bool:
        """Whether every rule passed."""
        return all(rule["passed"] for rule in self.rules)

    def to_dict(self):
        return {
            "run": self.run,
            "rules": {"id": self.rules_id, "version": self.version},
            "passed": self.passed,
            "checks": self.rules,
        }

    def __repr__(self):
        lines = [f"{self.run} by the rules {self.rules_id}, version {self.version}"]
        lines += [
            f"{'yes' if r['passed'] else 'NO ':3} {r['name']}: {r['reason']}" for r in self.rules
        ]
        failed = sum(not r["passed"] for r in self.rules)
        lines.append(
            "every rule is met"
            if not failed
            else f"{failed} of {len(self.rules)} rules are not met"
        )
        return "\n".join(lines)


def rule_sets() -> list[str]:
    """The names of the rules that facebench ships.

    >>> from facebench.reports import rule_sets
    >>> rule_sets()
    ['frte-1-1', 'wang-guo-2019']
    """
    shipped = files("facebench").joinpath("rules").iterdir()
    return sorted(p.name.removesuffix(".toml") for p in shipped if p.name.endswith(".toml"))


def read_rules(name_or_path) -> dict:
    """A set of rules, by name or from a TOML file (docs/suite.md has the form). Throws
    `facebench.Error` for a key that it does not know and a rule without exactly one test."""
    text = os.fspath(name_or_path)
    if text.endswith(".toml"):
        said = read_toml(Path(text))
    elif text in rule_sets():
        said = read_toml(files("facebench").joinpath(f"rules/{text}.toml"))
    else:
        near = closest_name(text, rule_sets())
        hint = f"did you mean '{near}'?" if near else f"there are {', '.join(rule_sets())}"
        raise ValueError(f"'{brief(text)}' is no set of rules and no .toml file; {hint}")
    check_keys(text, "the file", said, _GENERAL)
    if not isinstance(said.get("id"), str) or not isinstance(said.get("version"), int):
        raise Error(f"{text}: id = a text and version = a number are needed")
    if not isinstance(said.get("rules"), list) or not said["rules"]:
        raise Error(f"{text}: there is no [[rules]]")
    for rule in said["rules"]:
        _check_rule(text, rule)
    return said


def _check_rule(where, rule):
    name = rule.get("name")
    if not isinstance(name, str):
        raise Error(f"{where}: a rule has no name")
    what = f"rule '{name}'"
    check_keys(where, what, rule, ("name", "why", "value", "unless", "verified", "file", *_TESTS))
    asked = [key for key in ("value", "verified", "file") if key in rule]
    if len(asked) != 1:
        raise Error(f"{where}: {what} needs one of value, verified and file")
    tests = [key for key in _TESTS if key in rule]
    if len(tests) != (1 if "value" in rule else 0):
        raise Error(f"{where}: {what}: a value needs one of {', '.join(_TESTS)}")


def check(run, rules) -> RunCheck:
    """Whether a run folder meets a set of rules (a name of `rule_sets`, or a TOML file).

    Every rule says yes or no with the reason; nothing is computed again but the hashes of the run's
    files. Throws `facebench.Error` where ``run`` is no run folder.

    >>> import pathlib, tempfile, facebench
    >>> from facebench import check
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> text = "2\\t1\\nAnn\\t1\\t2\\nAnn\\t1\\tBob\\t1\\nCat\\t1\\t2\\nCat\\t1\\tDan\\t1\\n"
    >>> _ = (folder / "pairs.txt").write_text(text)
    >>> _ = facebench.evaluate(
    ...     "lfw", scores=[0.9, 0.1, 0.8, 0.2], root=folder, replicates=50, out=folder / "run")
    >>> _ = (folder / "mine.toml").write_text('''id = "mine"
    ... version = 1
    ... [[rules]]
    ... name = "the exact convention"
    ... value = "content/options/convention"
    ... is = "exact"''')
    >>> check(folder / "run", folder / "mine.toml").passed
    True
    """
    said = read_rules(rules)
    data = read_run(run)
    results = []
    for rule in said["rules"]:
        passed, reason = _apply(rule, data, Path(run))
        results.append({"name": rule["name"], "passed": passed, "reason": reason})
        if not passed and "why" in rule:
            results[-1]["reason"] += f". {rule['why']}"
    return RunCheck(said["id"], said["version"], run, results)


def _apply(rule, data, run):
    if "unless" in rule and any(found for _, found in _values(data, rule["unless"])):
        return True, f"does not apply: {rule['unless']} is there"
    if "file" in rule:
        found = sorted(path.name for path in run.glob(rule["file"]))
        return bool(found), ", ".join(found) or f"there is no file {rule['file']} in the run folder"
    if "verified" in rule:
        checks = verify_scores(run) + verify_inputs(run)
        wrong = [f"{c['name']} ({c['detail']})" for c in checks if not c["same"]]
        done = f"{len(checks)} files and inputs have their hashes"
        return not wrong, "; ".join(wrong) or done
    test = next(name for name in _TESTS if name in rule)
    found = _values(data, rule["value"])
    if not found and test not in ("present", "empty"):
        return False, f"{rule['value']} is not recorded"
    if not found:
        found = [(rule["value"], None)]
    for place, value in found:
        if not _TESTS[test](value, rule[test]):
            return False, f"{place} is {_brief(value)}, and {_WORDS[test]} {_brief(rule[test])}"
    place, value = found[0]
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return True, f"{place} is {_brief(value)}{more}"


def _values(data, place):
    """(place, value) for everything at a place; ``*`` stands for every key."""
    found = [("", data)]
    for part in place.split("/"):
        step = []
        for at, value in found:
            if isinstance(value, dict):
                keys = value if part == "*" else [part] if part in value else []
                if part != "*" and part.endswith("*"):
                    keys = [key for key in value if key.startswith(part[:-1])]
                step += [(f"{at}/{key}".lstrip("/"), value[key]) for key in keys]
            elif isinstance(value, list) and part == "*":
                step += [(f"{at}/{i}", item) for i, item in enumerate(value)]
        found = step
    return found


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _brief(value):
    text = _eval.canonical_json(value) if not isinstance(value, str) else value
    return text if len(text) <= 90 else text[:87] + "..."
