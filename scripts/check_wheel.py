"""What the libraries of a wheel ask of a system, and how they are protected.

    check_wheel.py WHEEL [--glibc 2.36] [--glibcxx 3.4.30] [--built-in FOLDER]

For each library: the newest symbol version of glibc and of libstdc++ that it asks for, how many
names it exports, and how many of those are not of the namespace facebench. Exit code 1 where a
version is above its bound, or where a library of ours lacks read-only relocations bound at the
start, has an executable stack, or exports the names of libraries that it was made with, or where a
file names the folder in which it was built: in another one its bytes would be others.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

FOREIGN = re.compile(r"^_Z(T[ISTV])?N?K?(3fmt|4toml|4dlib)")


def said(*command) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def newest(library: Path, family: str) -> tuple[int, ...]:
    """(2, 34) for GLIBC_2.34; () where none is asked for."""
    found = re.findall(rf"Name: {family}_([\d.]+)\b", said("readelf", "--version-info", library))
    return max((tuple(map(int, v.split("."))) for v in found), default=())


def exports(library: Path) -> list[str]:
    listed = said("nm", "--dynamic", "--defined-only", library)
    return [line.split()[-1].split("@")[0] for line in listed.splitlines()]


def unprotected(library: Path) -> list[str]:
    dynamic, segments = said("readelf", "-dW", library), said("readelf", "-lW", library)
    missing = []
    if not re.search(r"BIND_NOW|\bNOW\b", dynamic) or "GNU_RELRO" not in segments:
        missing.append("relocations stay writable")
    if re.search(r"GNU_STACK.*RWE", segments):
        missing.append("executable stack")
    if "__stack_chk_fail" not in said("nm", "-D", "--undefined-only", library):
        missing.append("no stack protector")
    if foreign := [name for name in exports(library) if FOREIGN.match(name)]:
        missing.append(f"exports {len(foreign)} names of other libraries: {foreign[0]}")
    return missing


def placed(root: Path, folder: Path) -> list[str]:
    """The files below `root` that name `folder`."""
    named = str(folder).encode()
    files = sorted(p for p in root.rglob("*") if p.is_file())
    return [f"{p.relative_to(root)} names {folder}" for p in files if named in p.read_bytes()]


def check(wheel: Path, bounds: dict[str, tuple[int, ...]], built_in: Path | None) -> list[str]:
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        if built_in is not None:
            problems += placed(Path(folder), built_in)
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
        for library in sorted(p for p in Path(folder).rglob("*.so*") if p.is_file()):
            asked = {family: newest(library, family) for family in bounds}
            names = exports(library)
            own = sum("9facebench" in name for name in names)
            shown = " ".join(f"{f} {'.'.join(map(str, v)) or '-':7}" for f, v in asked.items())
            print(f"  {library.name:44} {shown} exports {len(names)}, {len(names) - own} foreign")
            for family, version in asked.items():
                if version > bounds[family]:
                    problems.append(f"{library.name} asks for {family} {version}")
            if ".libs" not in library.parts[-2]:
                problems += [f"{library.name}: {what}" for what in unprotected(library)]
    return problems


def version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--glibc", type=version, default="2.36")
    parser.add_argument("--glibcxx", type=version, default="3.4.30")
    parser.add_argument("--built-in", type=Path)
    given = parser.parse_args()
    found = check(given.wheel, {"GLIBC": given.glibc, "GLIBCXX": given.glibcxx}, given.built_in)
    sys.exit("\n".join(found) or 0)
