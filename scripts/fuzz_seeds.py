"""Keeps, of the inputs that fuzzing found, the few that reach lines of a reader which no seed does.

    python scripts/fuzz_seeds.py build-fuzz READER...

They are copied into tests/fuzz/seeds/READER as found-HASH, small inputs first.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from fuzz_coverage import ROOT, lines_reached

LARGEST = 16384  # bytes of a seed


class Reader:
    def __init__(self, fuzz, name, program, work):
        self.fuzz, self.name, self.program, self.work = fuzz, name, program, work

    def lines(self, files):
        """What the files together reach."""
        profile = self.work / f"{self.name}.raw"
        environment = os.environ | {
            "FACEBENCH_FUZZ_READER": self.name,
            "LLVM_PROFILE_FILE": str(profile),
        }
        subprocess.run(
            [self.program, "-runs=1", *map(str, files)],
            env=environment,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return {
            (path, line)
            for path, counts in lines_reached(self.fuzz, profile, self.name).items()
            for line, n in counts.items()
            if n > 0
        }

    def of_new_edges(self, seeds, corpus):
        """The inputs of the corpus, small first, that libFuzzer would add to the seeds."""
        merged = self.work / "merged"
        shutil.copytree(seeds, merged)
        known = set(merged.iterdir())
        subprocess.run(
            [self.program, "-merge=1", "-use_counters=0", str(merged), str(corpus)],
            env=os.environ | {"FACEBENCH_FUZZ_READER": self.name, "LLVM_PROFILE_FILE": os.devnull},
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return sorted(set(merged.iterdir()) - known, key=lambda p: (p.stat().st_size, p.name))

    def needed(self, files, known):
        """The files that add lines to `known`, which grows by them."""
        if not files:
            return []
        new = self.lines(files) - known
        if not new:
            return []
        if len(files) == 1:
            known |= new
            return list(files)
        half = len(files) // 2
        first = self.needed(files[:half], known)
        return first + (self.needed(files[half:], known) if new - known else [])


def program_of(fuzz, reader):
    """The program with this target."""
    for program in sorted(fuzz.glob("tests/fuzz/fuzz_*")):
        if reader.encode() + b"\0" in program.read_bytes():
            return program
    raise SystemExit(f"no program has the target {reader}")


def main():
    fuzz = Path(sys.argv[1]).resolve()
    for name in sys.argv[2:]:
        seeds = ROOT / "tests/fuzz/seeds" / name
        with tempfile.TemporaryDirectory() as work:
            reader = Reader(fuzz, name, program_of(fuzz, name), Path(work))
            known = reader.lines(sorted(seeds.iterdir()))
            found = reader.of_new_edges(seeds, fuzz / "corpus" / name)
            found = [path for path in found if path.stat().st_size <= LARGEST]
            kept = [path.read_bytes() for path in reader.needed(found, known)]
        for data in kept:
            (seeds / f"found-{hashlib.sha256(data).hexdigest()[:12]}").write_bytes(data)
        print(f"{name}: {len(kept)} of {len(found)} kept, {sum(map(len, kept))} bytes", flush=True)


if __name__ == "__main__":
    main()
