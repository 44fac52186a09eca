"""Line coverage of each reader by its own seeds, from the profiles that fuzz.sh left.

    python scripts/fuzz_coverage.py build-fuzz [READER...] [--lines]

A target, tests/fuzz/READER.cc, names the sources of its reader in a comment, and where they do more
than read, the functions that do not, or those that do:

    // Sources: cpp/eval/facebench/io/json.cc cpp/eval/facebench/core/utf8.cc
    // Not of the reader: write_json
    // Functions: parse_json

Only those lines count, and only what the seeds of that target reach. --lines lists what they do
not.
"""

import argparse
import json
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def words_of(reader, title):
    text = (ROOT / f"tests/fuzz/{reader}.cc").read_text()
    found = re.findall(rf"^// {title}: ((?:.*\n)(?://   .*\n)*)", text, re.M)
    return " ".join(found).replace("//", " ").split()


def objects_of(fuzz):
    """The libraries and programs with the instrumented code."""
    folders = fuzz / "cpp", fuzz / "tests/fuzz"
    files = [p for f in folders for p in f.glob("*") if p.is_file() and not p.is_symlink()]
    return sorted(p for p in files if p.read_bytes()[:4] == b"\x7fELF" and os_executable(p))


def os_executable(path):
    return path.stat().st_mode & 0o100


def export(fuzz, profile, sources):
    """What llvm-cov says of the sources, as JSON."""
    data = profile.with_suffix(".profdata")
    subprocess.run(["llvm-profdata", "merge", "-sparse", profile, "-o", data], check=True)
    first, *others = objects_of(fuzz)
    command = ["llvm-cov", "export", str(first), *(f"-object={o}" for o in others)]
    command += [f"-instr-profile={data}", *(str(ROOT / s) for s in sources)]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(out.stdout)["data"][0]


def counts_of_lines(segments):
    """Line -> how often it ran, as llvm-cov counts: the largest count of the regions on it."""
    counts = {}
    wrapped = None  # the segment that reaches into the line from above
    by_line = {}
    for line, _, count, has_count, entry, gap in segments:
        by_line.setdefault(line, []).append((count, has_count, entry, gap))
    for line in range(segments[0][0], segments[-1][0] + 1):
        here = by_line.get(line, [])
        starts = [count for count, has, entry, gap in here if has and entry and not gap]
        skipped = here and not here[0][1] and here[0][2]
        if not skipped and (starts or (wrapped and wrapped[1] and (len(here) < 2 or starts))):
            inherited = [wrapped[0]] if wrapped and wrapped[1] else []
            counts[line] = max(starts + inherited)
        if here:
            wrapped = here[-1]
    return counts


def lines_of_functions(exported, source, names):
    """Lines of the functions of a file that have one of `names`, and of the lambdas in them."""
    lines = set()
    mangled = [f["name"].rpartition(":")[2] for f in exported["functions"]]
    plain = subprocess.run(
        ["c++filt"], input="\n".join(mangled), text=True, check=True, stdout=subprocess.PIPE
    ).stdout.splitlines()
    for function, name in zip(exported["functions"], plain, strict=True):
        called = re.sub(r"\(anonymous namespace\)|<[^<>]*>", "", name).split("(")[0]
        called = re.sub(r"\[abi:\w+\]", "", called).rpartition("::")[2].split()[-1]
        if called in names and function["filenames"][0] == source:
            lines |= set(range(function["regions"][0][0], function["regions"][0][2] + 1))
    return lines


def lines_reached(fuzz, profile, reader):
    """Source -> line of the reader -> how often it ran."""
    exported = export(fuzz, profile, words_of(reader, "Sources"))
    others, own = words_of(reader, "Not of the reader"), words_of(reader, "Functions")
    found = {}
    for file in exported["files"]:
        name = file["filename"]
        counts = counts_of_lines(file["segments"])
        ignored = lines_of_functions(exported, name, others) if others else set()
        wanted = lines_of_functions(exported, name, own) if own else counts
        found[Path(name).relative_to(ROOT)] = {
            line: n for line, n in counts.items() if line in wanted and line not in ignored
        }
    return found


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("folder", type=Path)
    options.add_argument("readers", nargs="*")
    options.add_argument("--lines", action="store_true")
    options = options.parse_args()
    for profile in sorted((options.folder / "profiles").glob("*.raw")):
        reader = profile.stem
        if options.readers and reader not in options.readers:
            continue
        found = lines_reached(options.folder, profile, reader)
        total = sum(len(counts) for counts in found.values())
        reached = sum(n > 0 for counts in found.values() for n in counts.values())
        share = 100 * reached / total if total else 0
        print(f"{reader:14} {reached:5} of {total:5} lines {share:6.1f} %", flush=True)
        for path, counts in found.items() if options.lines else ():
            text = (ROOT / path).read_text().splitlines()
            print(f"  {path}")
            for line in (line for line, n in counts.items() if n == 0):
                print(f"    {line:4} {text[line - 1]}")


if __name__ == "__main__":
    main()
