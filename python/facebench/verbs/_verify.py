"""The verb that checks a run folder: verify. `facebench` offers it by name."""

import os
from importlib.util import find_spec
from pathlib import Path

from facebench import analysis, protocols
from facebench.analysis import _signatures
from facebench.core import Error
from facebench.core._arguments import brief, of_kind, path_text, printable
from facebench.core._files import in_place
from facebench.io import sha256_file
from facebench.reports.provenance import stated_of_run
from facebench.reports.results import verify_pages
from facebench.verbs._snapshot import snapshot


class Verification:
    """What a verification found: ``checks``, a list of dicts (name, same, detail), where same is
    True, False, or None where nothing could be compared; and ``stated``, what the run says of
    itself and nothing proves, by its names."""

    def __init__(self, checks, stated=None):
        self.checks = checks
        self.stated = stated or {}
        self.signature: Path | None = None  # that was written, where one was asked for
        self.unsigned = ""  # why it was not

    @property
    def same(self) -> bool:
        """Whether no check found a difference; `unchecked` names what was not compared."""
        return all(check["same"] is not False for check in self.checks)

    @property
    def unchecked(self) -> list[str]:
        """The names of what could not be compared."""
        return [check["name"] for check in self.checks if check["same"] is None]

    @property
    def verdict(self) -> str:
        """ "different" where a check found a difference, else "unchecked" where one could not be
        made, else "same"."""
        if not self.same:
            return "different"
        return "unchecked" if self.unchecked else "same"

    def to_dict(self):
        return {
            "verdict": self.verdict,
            "same": self.same,
            "unchecked": self.unchecked,
            "checks": self.checks,
            "stated": self.stated,
        }

    def __repr__(self):
        words = {True: "same", False: "DIFFERS", None: "not checked"}
        lines = [f"{words[c['same']]:11} {c['name']}: {c['detail']}" for c in self.checks]
        lines += [
            f"{'stated':11} {name}: {said}; not checked" for name, said in self.stated.items()
        ]
        different = [c["name"] for c in self.checks if c["same"] is False]
        same = len(self.checks) - len(different) - len(self.unchecked)
        end = f"{same} of {len(self.checks)} are the same"
        if different:
            end += f"; differs: {', '.join(different)}"
        if self.unchecked:
            end += f"; not checked: {', '.join(self.unchecked)}"
        if self.signature is not None:
            end += f"; signed: {self.signature}"
        if self.unsigned:
            end += f"; not signed: {self.unsigned}"
        return "\n".join([*lines, end])


def verify(
    run,
    root: str | os.PathLike = "",
    *,
    again=0,
    model=None,
    protocol=None,
    sign=None,
    signed_by=None,
    threads=0,
    progress=None,
):
    """Check a run folder: its numbers against its raw scores, every input against its hash, its
    comparisons against the lists, its pages against its numbers.

    Where facebench was built with torch also the images, each by name where the pack was kept.
    ``root``: where the data set lies now, if it was moved. Damage is reported as a failed check,
    what could not be compared as one that is None; facebench.Error only if ``run`` is not a run
    folder. Each file of the folder is read once, into a temporary copy (in TMPDIR, as large as the
    folder), of which all is checked; a folder that changes meanwhile fails.

    ``again``: so many images, drawn anew each time, are detected, cropped and embedded once more,
    and what the run says of its model is compared with what the model says; ``model`` where the run
    does not name its file, as for `facebench.run`. Needs torch. Of a run of a library of FRTE so
    many comparisons are made once more, by the library that ``model`` names and no other.

    ``protocol``: your own file (.toml) of the protocol, where it is not one of facebench's: without
    it such a protocol is not checked.

    ``sign``: a secret key of minisign: where all was checked and nothing differs,
    ``run.json.minisig`` is written into the folder. ``signed_by``: a public key (a file, or its
    text) that has to have signed these files. Both need the package cryptography (docs/security.md
    says what a signature proves).
    """
    of_kind(again, int, "again")
    if again < 0 or (model is not None and not again):
        raise ValueError("again: how many images, 1 or more; model goes with it")
    before = _stamps(run)
    with snapshot(run) as copy:
        verification = _of_copy(copy, root, again, model, protocol, signed_by, threads, progress)
        checks = verification.checks
        for check in checks:
            check["detail"] = in_place(check["detail"], copy, Path(run))
        _add_changes(checks, run, before)
        if sign is not None and verification.verdict == "same":
            verification.signature = _signatures.sign(copy, sign, into=run)
        elif sign is not None:
            verification.unsigned = "only what was checked, and is the same, is signed"
    return verification


def _of_copy(run, root, again, model, protocol, signed_by, threads, progress) -> Verification:
    """All checks of a folder that nobody else writes to."""
    if find_spec("torch") is not None and find_spec("facebench._full") is not None:
        from facebench._library import full

        checks = full.verify(run, path_text(root, "root"), threads, progress)
    else:
        checks = analysis.verify_scores(run, threads, progress)
        checks += analysis.verify_inputs(run, root, progress)
    if protocol is not None:
        checks = [_own_protocol(run, protocol) if c["name"] == "protocol" else c for c in checks]
    if model is not None:
        checks = [_given_model(run, model) if c["name"] == "input model" else c for c in checks]
    checks += verify_pages(run)
    if again:
        from facebench.verbs._again import check_again

        checks.append(check_again(run, root, again, model, threads, progress))
    made_again = bool(again) and checks[-1]["same"] is True
    if signed_by is not None:
        same, detail = _signatures.check_run(run, signed_by)
        checks = [c for c in checks if c["name"] != _signatures.SIGNATURE]
        checks.append({"name": "signature", "same": same, "detail": detail})
    return Verification(checks, stated_of_run(run, made_again))


def _stamps(run) -> dict:
    """Which files lie in a folder, and what tells that one was changed or exchanged. The time of a
    change of an inode is not its owner's to set."""
    stamps: dict[str, tuple | None] = {}
    try:
        names = [".", *sorted(os.listdir(run))]
    except OSError:
        return stamps  # is not a folder, which the verification says
    for name in names:
        path = os.path.join(run, name)
        try:
            facts = os.stat(path)
            link = os.lstat(path)
        except OSError:
            stamps[name] = None
            continue
        stamps[name] = (
            *(facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns),
            *(link.st_ino, link.st_ctime_ns),
        )
    return stamps


def _add_changes(checks, run, before) -> None:
    """Adds a failed check where the folder is not as it was: what was copied is then perhaps not
    one folder, and what lies there now not what was checked."""
    now = _stamps(run)
    changed = sorted(
        name for name in before.keys() | now.keys() if before.get(name) != now.get(name)
    )
    names = [printable(name) for name in changed if name != "."]
    if changed and not any(c["name"] == "the folder" for c in checks):
        what = ", ".join(names[:10]) or "its entries"
        detail = f"was changed while it was verified: {what}. Verify a copy that nobody writes to"
        checks.append({"name": "the folder", "same": False, "detail": detail})


def _own_protocol(run, path) -> dict:
    """The check of a run's protocol against the caller's own file of it."""
    mine = protocols.load_protocol(os.fspath(path))
    said = analysis.read_run(run, check=False)["content"]["protocol"]
    same = said.get("sha256") == mine.sha256
    detail = f"{brief(path)} has SHA-256 {mine.sha256}"
    return {
        "name": "protocol",
        "same": same,
        "detail": f"the text of {brief(path)}" if same else f"{detail}, the run's has another",
    }


def _given_model(run, model) -> dict:
    """The check of the model that the caller named, in place of that where the run says it lay."""
    content = analysis.read_run(run, check=False)["content"]
    inputs = [i for i in content["inputs"] if isinstance(i, dict) and i.get("role") == "model"]
    name = "input model"
    if not isinstance(model, str | os.PathLike) or not os.path.isfile(model):
        return {"name": name, "same": None, "detail": "the model that was named is not a file"}
    try:
        digest = sha256_file(model)
    except Error as error:
        return {"name": name, "same": False, "detail": str(error)}
    same = all(entry.get("sha256") == digest for entry in inputs)
    detail = f"SHA-256 as recorded: {brief(model)}"
    if not same:
        detail = f"{brief(model)} has SHA-256 {digest}, the run names another model"
    return {"name": name, "same": same, "detail": detail}
