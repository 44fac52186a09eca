"""Keeps, of the inputs that fuzzing found, the few that reach lines of a reader which no seed does.

    python scripts/fuzz_seeds.py build-fuzz READER...

They are copied into tests/fuzz/seeds/READER as found-HASH, small inputs first.
"""

import hashlib
import os
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
            found = [p for p in (fuzz / "corpus" / name).iterdir() if p.stat().st_size <= LARGEST]
            found.sort(key=lambda p: (p.stat().st_size, p.name))
            kept = reader.needed(found, known)
        for path in kept:
            data = path.read_bytes()
            (seeds / f"found-{hashlib.sha256(data).hexdigest()[:12]}").write_bytes(data)
        size = sum(path.stat().st_size for path in kept)
        print(f"{name}: {len(kept)} of {len(found)} inputs kept, {size} bytes", flush=True)


if __name__ == "__main__":
    main()
