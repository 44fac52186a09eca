"""Whether a run folder has what a journal or a challenge asks for: rules as data."""

import os
from importlib.resources import files

from facebench import _eval
from facebench.core import closest_name
from facebench.core._arguments import brief


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

    >>> from facebench.lab.claims import rule_sets
    >>> rule_sets()
    ['frte-1-1', 'wang-guo-2019']
    """
    shipped = files("facebench").joinpath("rules").iterdir()
    return sorted(p.name.removesuffix(".toml") for p in shipped if p.name.endswith(".toml"))


def _file_of(name_or_path):
    text = os.fspath(name_or_path)
    if text.endswith(".toml"):
        return text
    if text in rule_sets():
        return str(files("facebench").joinpath(f"rules/{text}.toml"))
    near = closest_name(text, rule_sets())
    hint = f"did you mean '{near}'?" if near else f"there are {', '.join(rule_sets())}"
    raise ValueError(f"'{brief(text)}' is neither a set of rules nor a .toml file; {hint}")


def read_rules(name_or_path) -> dict:
    """A set of rules, by name or from a TOML file (docs/suite.md has the form): id, version, title,
    source, changes, and of each rule its name and why. Throws `facebench.Error` for a key that it
    does not know and a rule without exactly one test."""
    return _eval.read_rules(_file_of(name_or_path))


def check(run, rules) -> RunCheck:
    """Whether a run folder meets a set of rules (a name of `rule_sets`, or a TOML file).

    Every rule says yes or no with the reason; nothing is computed again but the hashes of the run's
    files. Throws `facebench.Error` where ``run`` is not a run folder.

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
    description = read_rules(rules)
    results = _eval.check_run(os.fspath(run), _file_of(rules))
    return RunCheck(description["id"], description["version"], run, results)
