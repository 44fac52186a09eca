"""Signatures of run folders in the format of minisign: who says that these files are theirs.

What is signed is run.json, and in the trusted comment, which the key signs with it, the form of the
statement, the hash of the run's content, and one hash over the names and hashes of all files that
lie in the folder, pages too. A signature of run.json alone, as another program makes it, does not
say which pages and scores it is of, and is refused.
"""

import base64
import binascii
import getpass
import hashlib
import json
import os
import re
import time
from pathlib import Path

from facebench import _eval
from facebench.core import Error
from facebench.core._arguments import brief, printable
from facebench.core._files import read_bytes, read_text

SIGNATURE = "run.json.minisig"
_MOST = 1 << 14  # bytes of a key or a signature
_DAMAGED = "is cut or was changed"


_FORM = 2  # of the statement in the trusted comment; 1 said nothing of the files


def digests(run) -> dict:
    """What a signature states of a run folder: ``content``, the hash of run.json's content, and
    ``files``, one over all files but the signature."""
    folder = Path(run)
    record = json.loads(read_text(folder / "run.json", 64 << 20))
    lines = []
    for name in sorted(os.listdir(folder)):
        if name != SIGNATURE:
            lines.append(f"{_eval.sha256_file(folder / name)}  {name}\n")
    return {
        "content": str(record.get("content_sha256")),
        "files": hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest(),
    }


def sign(run, key, stated=None, into=None) -> Path:
    """Write ``run.json.minisig`` into a run folder, by a secret key of ``minisign -G``; its path.

    ``stated``: its `digests`; ``into``: the folder, where ``run`` is a copy of it. Where the key
    has a password, it is asked for. facebench.Error where the key cannot be used.
    """
    number, seed = _secret_key(key)
    private = _ed25519().Ed25519PrivateKey.from_private_bytes(seed)
    path = Path(run) / "run.json"
    stated = digests(run) if stated is None else stated
    signature = private.sign(_digest(path))
    parts = {"timestamp": int(time.time()), "file": "run.json", "form": _FORM, **stated}
    comment = "\t".join(f"{name}:{value}" for name, value in parts.items())
    comment += f"\tfacebench {_eval.version()}"
    lines = [
        "untrusted comment: signature of a facebench run",
        _base64(b"ED" + number + signature),
        f"trusted comment: {comment}",
        _base64(private.sign(signature + comment.encode())),
    ]
    out = Path(run if into is None else into) / SIGNATURE
    _eval.write_file(out, ("\n".join(lines) + "\n").encode())
    return out


def check_run(run, key):
    """(whether ``run.json.minisig`` signs this folder by this public key, what is said).

    As `check`, and the folder holds the files that it was made for.
    """
    same, said = check(run, key)
    if not same:
        return same, said
    stated = dict(re.findall(r"(?:^|[\t ])(form|content|files):([0-9a-f]+)(?=\t)", said))
    if stated.get("form") != str(_FORM):
        return False, (
            f"{Path(run) / SIGNATURE}: signs run.json alone, not the pages and files beside it; "
            "sign the folder with facebench verify --sign"
        )
    try:
        now = digests(run)
    except (Error, ValueError, OSError) as error:
        return False, str(error)
    for name, what in (("content", "the content of another run"), ("files", "other files")):
        if stated.get(name) != now[name]:
            return False, f"{Path(run) / SIGNATURE}: is of {what} than those of this folder"
    return True, said


def check(run, key):
    """(whether ``run.json.minisig`` is a signature of run.json by this public key, what is said).

    ``key``: the file of ``minisign -G``, or its line of base64. facebench.Error where it is none.
    """
    from cryptography.exceptions import InvalidSignature

    number, public = _public_key(key)
    ed25519 = _ed25519().Ed25519PublicKey.from_public_bytes(public)
    path = Path(run) / SIGNATURE
    try:
        lines = read_text(path, _MOST).split("\n")
        if len(lines) < 4 or not lines[2].startswith("trusted comment: "):
            raise Error(f"{path}: is not a signature of minisign")
        comment = lines[2].removeprefix("trusted comment: ").removesuffix("\r")
        signature, over = _bytes(lines[1], 74, path), _bytes(lines[3], 64, path)
        digest = _digest(Path(run) / "run.json")
    except Error as error:
        return False, str(error)
    if signature[:2] != b"ED":  # the older form signs the file itself, however large it is
        return False, f"{path}: is a signature without a hash; sign with minisign 0.10 or later"
    if signature[2:10] != number:
        return False, f"{path}: is by another key ({_name(signature[2:10])}, not {_name(number)})"
    try:
        ed25519.verify(signature[10:], digest)
        ed25519.verify(over, signature[10:] + comment.encode())
    except InvalidSignature:
        return False, f"{path}: is not of this run.json, or not by this key"
    return True, f"by the key {_name(number)}: {printable(comment)}"


def _ed25519():
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise ImportError("signatures need cryptography: pip install cryptography") from None
    return ed25519


def _digest(path):
    """What minisign signs of a file: its BLAKE2b hash."""
    return hashlib.blake2b(read_bytes(path, 64 << 20)).digest()


def _base64(data) -> str:
    return base64.b64encode(data).decode("ascii")


def _bytes(line, size, where) -> bytes:
    try:
        data = base64.b64decode(line.strip(), validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if len(data) != size:
        raise Error(f"{brief(where)}: {_DAMAGED}: {size} bytes of base64 are expected")
    return data


def _name(number) -> str:
    """A key's number as minisign prints it."""
    return number[::-1].hex().upper()


def _public_key(key):
    text = str(key)
    where = "the public key"
    if len(text) != 56 or not text.startswith("RW"):
        where = key
        lines = read_text(key, _MOST).split("\n")
        text = lines[1] if len(lines) > 1 else ""
    data = _bytes(text, 42, where)
    if data[:2] != b"Ed":
        raise Error(f"{brief(where)}: is not a public key of minisign")
    return data[2:10], data[10:]


def _secret_key(key):
    """(number, seed) of a secret key file."""
    lines = read_text(key, _MOST).split("\n")
    data = _bytes(lines[1] if len(lines) > 1 else "", 158, key)
    if data[:2] != b"Ed" or data[4:6] != b"B2" or data[2:4] not in (b"Sc", b"\0\0"):
        raise Error(f"{brief(key)}: is not a secret key of minisign")
    secret = data[54:]
    if data[2:4] == b"Sc":
        work, memory = (int.from_bytes(data[k : k + 8], "little") for k in (38, 46))
        password = _password(key)
        stream = _scrypt(password, data[6:38], work, memory, len(secret), key)
        secret = bytes(a ^ b for a, b in zip(secret, stream, strict=True))
    number, pair, checked = secret[:8], secret[8:72], secret[72:]
    if hashlib.blake2b(data[:2] + number + pair, digest_size=32).digest() != checked:
        raise Error(f"{brief(key)}: the password is another one, or the file {_DAMAGED}")
    return number, pair[:32]


def _password(key) -> bytes:
    """Asked for on the terminal; facebench.Error where there is none."""
    try:
        return getpass.getpass(f"Password of {key}: ").encode()
    except (EOFError, OSError):
        raise Error(
            f"{brief(key)}: has a password, and there is no terminal to ask for it. Sign on a "
            "terminal, or by a key without one (minisign -G -W)"
        ) from None


def _scrypt(password, salt, work, memory, size, where):
    """scrypt with the parameters that libsodium makes of a limit of work and of memory."""
    if memory > 1 << 30:
        raise Error(f"{brief(where)}: asks for more than 1 GiB of memory; make another key")
    work = max(work, 32768)
    bound = work // 32 if work < memory // 32 else memory // 1024
    n = next(1 << k for k in range(1, 63) if 1 << k > bound // 2)
    p = 1 if work < memory // 32 else max(1, min(work // 4 // n, 0x3FFFFFFF) // 8)
    return hashlib.scrypt(
        password, salt=salt, n=n, r=8, p=p, maxmem=(1 << 30) + (1 << 26), dklen=size
    )
