"""``facebench list``: what there is to choose from."""

from typing import Annotated

import typer

import facebench
from facebench.cli.app import app
from facebench.cli.common import Json, print_json, verb


def _protocols() -> list[dict]:
    return facebench.protocols.list_protocols()


# Each kind as (where it is looked up, as a list of dicts with "name" and "doc").
KINDS = {
    "protocols": _protocols,
}


@app.command("list", epilog="Example: facebench list protocols --json")
@verb
def list_command(
    kind: Annotated[str, typer.Argument(help=f"One of: {', '.join(KINDS)}.")],
    json: Json = False,
) -> None:
    """List what there is to choose from: name, one line, parameters."""
    if kind not in KINDS:
        near = facebench.core.closest_name(kind, list(KINDS))
        meant = f"; did you mean '{near}'?" if near else ""
        raise ValueError(f"unknown kind '{kind}'{meant} (known: {', '.join(KINDS)})")
    entries = KINDS[kind]()
    if json:
        print_json(entries)
        return
    width = max((len(e["name"]) for e in entries), default=0)
    for entry in entries:
        print(f"{entry['name']:<{width}}  {entry.get('doc', '')}".rstrip())
