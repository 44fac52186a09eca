"""The last step of a wheel: notices and licences of what it bundles, a list of its parts
(PEP 770), and the same bytes from the same files.

    finish_wheel.py WHEEL FOLDER

Reads the wheel that auditwheel made, and writes the finished one into FOLDER. Versions and licences
of bundled libraries, and of headers that were compiled in, come from the system's packages (dpkg).
SOURCE_DATE_EPOCH is the time of every file in the wheel.
"""

import argparse
import base64
import hashlib
import json
import os
import re
import subprocess
import time
import uuid
import zipfile
from pathlib import Path

# Headers that are compiled in: package on Debian, name for people.
COMPILED_IN = {
    "libtomlplusplus-dev": "toml++",
    "nlohmann-json3-dev": "nlohmann/json",
    "libeigen3-dev": "Eigen",
    "libfmt-dev": "fmt",
}
COMPILED_INTO_FULL = {"libdlib-dev": "dlib"}


def package_of(library: str) -> str:
    """The package that a bundled library came from: libhdf5_serial-1a2b3c4d.so.103.3.0."""
    stem, version = re.fullmatch(r"(.+?)(?:-[0-9a-f]{8})?(\.so[.\d]*)", library).groups()
    found = subprocess.run(
        ["dpkg-query", "--search", f"*/{stem}{version}*"], capture_output=True, text=True
    )
    return found.stdout.split(":")[0].split(",")[0]


def version_of(package: str) -> str:
    asked = ["dpkg-query", "--show", "--showformat=${Version}", package]
    return subprocess.run(asked, capture_output=True, text=True).stdout


def notice_of(package: str) -> bytes:
    path = Path("/usr/share/doc") / package / "copyright"
    return path.read_bytes() if path.exists() else b""


def parts_of(names: list[str]) -> dict[str, str]:
    """Package -> name, of all that the wheel holds of others."""
    parts = dict(COMPILED_IN)
    if any("libfacebench." in Path(n).name for n in names):
        parts |= COMPILED_INTO_FULL
    for name in names:
        if ".libs/" in name and (package := package_of(Path(name).name)):
            parts[package] = Path(name).name
    return {package: name for package, name in sorted(parts.items()) if version_of(package)}


def bill_of_materials(name: str, version: str, parts: dict[str, str]) -> bytes:
    """CycloneDX 1.5: the wheel, and a component for each part."""
    components = [
        {
            "type": "library",
            "bom-ref": package,
            "name": shown,
            "version": version_of(package),
            "purl": f"pkg:deb/debian/{package}@{version_of(package)}",
        }
        for package, shown in parts.items()
    ]
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([name, version, components]))
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": name,
                "name": name,
                "version": version,
                "purl": f"pkg:pypi/{name}@{version}",
            }
        },
        "components": components,
        "dependencies": [{"ref": name, "dependsOn": sorted(parts)}],
    }
    return json.dumps(document, indent=1).encode()


def record_of(files: dict[str, bytes], record: str) -> bytes:
    lines = []
    for name, content in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}")
    return ("\n".join([*lines, f"{record},,"]) + "\n").encode()


def finish(wheel: Path, folder: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        files = {n: archive.read(n) for n in archive.namelist() if not n.endswith("/")}
        modes = {i.filename: i.external_attr >> 16 for i in archive.infolist()}
    (metadata,) = (n for n in files if n.endswith(".dist-info/METADATA"))
    info = metadata.rsplit("/", 1)[0]
    name, version = info.removesuffix(".dist-info").split("-")
    files.pop(f"{info}/RECORD")
    # auditwheel's own list names the libraries; this one holds them too.
    for other in [n for n in files if n.startswith(f"{info}/sboms/")]:
        files.pop(other)
    parts = parts_of(list(files))
    files[f"{info}/sboms/{name}.cdx.json"] = bill_of_materials(
        name.replace("_", "-"), version, parts
    )
    for package in parts:
        if notice := notice_of(package):
            files[f"{info}/licenses/third_party/{package}"] = notice
    files[f"{info}/RECORD"] = record_of(files, f"{info}/RECORD")
    moment = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", "315532800")))[:6]
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / wheel.name
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files, key=lambda n: (n.startswith(info), n)):
            entry = zipfile.ZipInfo(name, moment)
            entry.external_attr = (0o100755 if modes.get(name, 0) & 0o100 else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name])
    return made


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    print(finish(given.wheel, given.folder))
