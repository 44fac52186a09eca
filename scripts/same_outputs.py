"""Whether a change of the code changes a number: writes what the library gives today, and compares.

    python scripts/same_outputs.py write FOLDER [--data DATA]   before the change, and after it
    python scripts/same_outputs.py compare BEFORE AFTER

What is written: run folders of every protocol that synthetic data exist for, with embeddings made
from the names, under several conventions, policies and ways of storing scores; reports and
explanations of them; with --data (a folder that holds lfw/ and ijba_quality/) the official lists of
LFW and of IJB-A quality too. Compared byte for byte: metrics.json, reports, explanations; of
run.json what decides numbers. Exit code 1 where anything differs.
"""

import argparse
import hashlib
import json
import shutil
import sys
from pathlib import Path

import facebench
import numpy as np
from facebench import datasets, protocols, reports

NO_FACE = 1
SYNTHETIC = {  # data set: (people, images of each, protocols)
    "lfw": (104, 3, ["lfw", "lfw_view1", "lfw_search", "folders"]),
    "vggface2": (6, 1, ["vggface2_pose", "vggface2_age"]),
    "ijba_quality": (12, 6, ["ijba_quality"]),
    "dfw": (8, 6, ["dfw"]),
    "umdfaces": (12, 12, ["umdfaces"]),
}
VARIANTS = {
    "default": {},
    "drop": {"failed_enrolments": "drop"},
    "vertex": {"interval": "vertex", "level": 0.9, "seed": 3},
    "insightface": {"convention": "insightface", "interval": "none"},
    "ijb": {"convention": "ijb"},
    "tail": {"stored_scores": 300},
    "tail_drop": {"stored_scores": 300, "failed_enrolments": "drop"},
}


def embeddings_of(trials, salt: str):
    """The same for the same names everywhere; two of a hundred enrolments fail."""

    def draw(text, size):
        seed = int.from_bytes(hashlib.sha256(f"{salt} {text}".encode()).digest()[:8], "little")
        return np.random.default_rng(seed).normal(size=size)

    people = [draw(name, 24) for name in trials.identity_names]
    values, status = [], []
    for name, person in zip(trials.names, trials.identity, strict=True):
        own = draw(name, 25)
        failed = own[24] > 2.05
        values.append(np.zeros(24) if failed else people[person] + 1.3 * own[:24])
        status.append(NO_FACE if failed else 0)
    return facebench.io.EmbeddingSet(
        np.array(values, dtype=np.float32), trials.names, np.array(status, dtype=np.uint8)
    )


def run_all(folder: Path, root: Path, protocol: str, lists: Path | None, variants: dict) -> None:
    trials = protocols.read_trials(protocol, root, lists)
    for variant, options in variants.items():
        for salt in ("a", "b"):
            out = folder / protocol / variant / salt
            try:
                result = facebench.evaluate(
                    protocol,
                    embeddings_of(trials, salt),
                    root=root,
                    lists=lists,
                    replicates=100,
                    **options,
                )
            except (facebench.Error, ValueError) as error:
                out.mkdir(parents=True)
                text = str(error).replace(str(root), "ROOT")
                (out / "error.txt").write_text(text + "\n")
                continue
            result.save(out)
        a, b = folder / protocol / variant / "a", folder / protocol / variant / "b"
        if not (a / "run.json").exists():
            continue
        told = str(reports.explain(a, b, replicates=100)).replace(str(folder), "")
        (folder / protocol / variant / "explain.txt").write_text(told)
        (folder / protocol / variant / "curves.txt").write_text(repr(reports.curves(a)))
        checks = reports.verify_scores(a)
        (folder / protocol / variant / "verify.json").write_text(
            json.dumps([[c["name"], c["same"]] for c in checks], indent=1)
        )
    done = [r for v in variants if (r := folder / protocol / v / "a").joinpath("run.json").exists()]
    for form in reports.report_formats() if done else []:
        text = reports.table(done, form).replace(str(folder), "")
        (folder / protocol / f"table.{form}.txt").write_text(text)


def write(folder: Path, data: Path | None) -> None:
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    for name, (people, images, names) in SYNTHETIC.items():
        root = folder / "data" / name
        options = datasets.SyntheticOptions(
            people=people, images=images, size=32, supersampling=1, protocol=name
        )
        datasets.write_synthetic_dataset(options, root)
        for protocol in names:
            below = root / "images" if protocol == "folders" else root
            run_all(folder / "runs", below, protocol, None, VARIANTS)
    if data:
        some = {k: VARIANTS[k] for k in ("default", "drop", "insightface", "ijb")}
        lists = data / "lfw" / "protocol"
        run_all(folder / "official", data / "lfw", "lfw", lists, some)
        run_all(folder / "official", data / "lfw", "lfw_search", lists, some)
        run_all(folder / "official", data / "ijba_quality", "ijba_quality", None, {"default": {}})
    shutil.rmtree(folder / "data")


def comparable(path: Path) -> bytes:
    """The bytes of a file, without paths, times, versions and hashes of files."""
    if path.name == "report.md":
        lines = path.read_bytes().splitlines()
        own = (b"scores.h5, SHA-256", b"curves.json, SHA-256")
        return b"\n".join(line for line in lines if not any(name in line for name in own))
    if path.name != "run.json":
        return path.read_bytes()
    content = json.loads(path.read_text())["content"]
    kept = {k: content[k] for k in ("options", "protocol", "score", "embeddings", "tracks")}
    return json.dumps(kept, sort_keys=True).encode()


def compare(before: Path, after: Path) -> int:
    wanted = (".json", ".txt", ".md")
    files = [
        sorted(p.relative_to(f) for p in f.rglob("*") if p.suffix in wanted)
        for f in (before, after)
    ]
    missing = sorted(set(files[0]) ^ set(files[1]))
    for path in missing:
        print(f"only in {before if path in files[0] else after}: {path}")
    different = [
        p for p in files[0] if p in files[1] and comparable(before / p) != comparable(after / p)
    ]
    for path in different:
        print(f"differs: {path}")
    print(f"{len(files[0])} files compared: {len(different)} differ, {len(missing)} in one alone")
    return 1 if different or missing else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    writing = verbs.add_parser("write")
    writing.add_argument("folder", type=Path)
    writing.add_argument("--data", type=Path)
    comparing = verbs.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    arguments = parser.parse_args()
    if arguments.verb == "compare":
        return compare(arguments.before, arguments.after)
    write(arguments.folder, arguments.data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
