"""What ``facebench list`` shows of the laboratory."""

import facebench
from facebench.lab.engines import ENGINES, absent


def published() -> list[dict]:
    """The papers whose tables are built in."""
    return facebench.claims.list_published()


def rule_sets() -> list[dict]:
    """The sets of rules that come with facebench."""
    return [
        {"name": name, "doc": facebench.claims.read_rules(name)["title"]}
        for name in facebench.claims.rule_sets()
    ]


def engines() -> list[dict]:
    """The frameworks, and what each lacks here."""
    missing = {name: absent(name) for name in ENGINES}
    return [{"name": n, "doc": f"needs {', '.join(m)}" if m else "is there"}
            for n, m in missing.items()]  # fmt: skip


def studies() -> list[dict]:
    """The built-in studies and their tables, as ``facebench list`` shows them."""
    listed = []
    for name in facebench.studies.study_names():
        study = facebench.studies.load_study(name)
        listed.append({"name": name, "doc": study.title, "tables": [t.id for t in study.tables]})
        listed += [{"name": f"{name}/{t.id}", "doc": t.title} for t in study.tables]
    return listed
