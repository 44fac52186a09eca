"""The last step of a wheel: notices and licences of what it bundles, a list of its parts
(PEP 770), and the same bytes from the same files.

    finish_wheel.py WHEEL FOLDER

Reads the wheel that auditwheel made, and writes the finished one into FOLDER. Versions and licences
of bundled libraries, and of headers that were compiled in, come from the system's packages (dpkg),
those of what came by pip from this interpreter's packages. A part without a licence is an error.
SOURCE_DATE_EPOCH is the time of every file in the wheel.
"""

import argparse
import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import time
import uuid
import zipfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

# Headers that are compiled in: package on Debian, name for people.
COMPILED_IN = {
    "libtomlplusplus-dev": "toml++",
    "nlohmann-json3-dev": "nlohmann/json",
    "libfmt-dev": "fmt",
    "libeigen3-dev": "Eigen",
}
COMPILED_INTO_FULL = {"libdlib-dev": "dlib"}
# Package on PyPI of which a file of the wheel was made.
CONVERTED = {"mtcnn.safetensors": "mtcnn"}


@dataclass
class Part:
    """What the wheel holds of others."""

    package: str
    name: str  # for people
    version: str
    purl: str
    licence: bytes


def package_of(library: str) -> str:
    """The system's package of a bundled library; auditwheel put a hash before its first dot."""
    name = re.sub(r"^([^.]+)-[0-9a-f]{8}\.", r"\1.", library)
    asked = ["dpkg-query", "--search", f"*/{name}*"]
    found = subprocess.run(asked, capture_output=True, text=True)
    return found.stdout.split(":")[0].split(",")[0]


def system_part(package: str, name: str) -> Part:
    asked = ["dpkg-query", "--show", "--showformat=${Version}", package]
    version = subprocess.run(asked, capture_output=True, text=True).stdout
    path = Path("/usr/share/doc") / package / "copyright"
    licence = path.read_bytes() if path.exists() else b""
    return Part(package, name, version, f"pkg:deb/debian/{package}@{version}", licence)


def pip_part(package: str, name: str) -> Part:
    found = metadata.distribution(package)
    texts = [f.read_binary() for f in found.files or [] if "LICENSE" in f.name.upper()]
    purl = f"pkg:pypi/{package}@{found.version}"
    return Part(package, name, found.version, purl, b"\n".join(texts))


def cuda_part() -> Part:
    """The runtime that nvcc links into libfacebench_cuda."""
    toolkit = Path(shutil.which("nvcc") or "").resolve().parents[1]
    found = sorted(toolkit.glob("dist-info/nvidia_cuda_runtime-*/licenses/License.txt"))
    found += sorted(toolkit.glob("EULA.txt"))
    said = subprocess.run(["nvcc", "--version"], capture_output=True, text=True).stdout
    version = re.search(r"V([\d.]+)", said)[1]
    purl = f"pkg:generic/nvidia-cuda-runtime@{version}"
    licence = found[0].read_bytes() if found else b""
    return Part("nvidia-cuda-runtime", "CUDA runtime (static)", version, purl, licence)


def parts_of(names: list[str]) -> list[Part]:
    """All that the wheel holds of others, by package."""
    packages = dict(COMPILED_IN)
    last = {Path(name).name for name in names}
    if any(name.startswith("libfacebench.so") for name in last):
        packages |= COMPILED_INTO_FULL
    for name in names:
        if ".libs/" in name:
            library = Path(name).name
            packages[package_of(library) or library] = library
    parts = [system_part(*item) for item in packages.items()]
    parts += [pip_part(package, name) for name, package in CONVERTED.items() if name in last]
    if any(name.startswith("libfacebench_cuda") for name in last):
        parts.append(cuda_part())
    if nameless := [p.name for p in parts if not (p.version and p.licence)]:
        raise SystemExit(f"no package or no licence was found of: {', '.join(nameless)}")
    return sorted(parts, key=lambda part: part.package)


def bill_of_materials(name: str, version: str, parts: list[Part]) -> bytes:
    """CycloneDX 1.5: the wheel, and a component for each part."""
    components = [
        {
            "type": "library",
            "bom-ref": part.package,
            "name": part.name,
            "version": part.version,
            "purl": part.purl,
        }
        for part in parts
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
        "dependencies": [{"ref": name, "dependsOn": [part.package for part in parts]}],
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
    (described,) = (n for n in files if n.endswith(".dist-info/METADATA"))
    info = described.rsplit("/", 1)[0]
    name, version = info.removesuffix(".dist-info").split("-")
    files.pop(f"{info}/RECORD")
    # auditwheel's own list names the libraries; this one holds them too.
    for other in [n for n in files if n.startswith(f"{info}/sboms/")]:
        files.pop(other)
    parts = parts_of(list(files))
    files[f"{info}/sboms/{name}.cdx.json"] = bill_of_materials(
        name.replace("_", "-"), version, parts
    )
    for part in parts:
        files[f"{info}/licenses/third_party/{part.package}"] = part.licence
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
