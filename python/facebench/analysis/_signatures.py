"""Signatures of run folders in the format of minisign: who says that a run.json is theirs."""

import base64
import binascii
import getpass
import hashlib
import time
from pathlib import Path

from facebench import _eval
from facebench.core import Error
from facebench.core._arguments import brief
from facebench.core._files import read_bytes, read_text

SIGNATURE = "run.json.minisig"
_MOST = 1 << 14  # bytes of a key or a signature
_DAMAGED = "is cut or was changed"


def sign(run, key) -> Path:
    """Write ``run.json.minisig`` into a run folder, by a secret key of ``minisign -G``; its path.

    Where the key has a password, it is asked for. facebench.Error where the key cannot be used.
    """
    number, seed = _secret_key(key)
    private = _ed25519().Ed25519PrivateKey.from_private_bytes(seed)
    path = Path(run) / "run.json"
    signature = private.sign(_digest(path))
    comment = f"timestamp:{int(time.time())}\tfile:run.json\tfacebench {_eval.version()}"
    lines = [
        "untrusted comment: signature of a facebench run",
        _base64(b"ED" + number + signature),
        f"trusted comment: {comment}",
        _base64(private.sign(signature + comment.encode())),
    ]
    out = path.with_name(SIGNATURE)
    _eval.write_file(out, ("\n".join(lines) + "\n").encode())
    return out


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
    return True, f"by the key {_name(number)}: {_eval.printable(comment.encode())}"


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
        password = getpass.getpass(f"Password of {key}: ").encode()
        stream = _scrypt(password, data[6:38], work, memory, len(secret), key)
        secret = bytes(a ^ b for a, b in zip(secret, stream, strict=True))
    number, pair, checked = secret[:8], secret[8:72], secret[72:]
    if hashlib.blake2b(data[:2] + number + pair, digest_size=32).digest() != checked:
        raise Error(f"{brief(key)}: the password is another one, or the file {_DAMAGED}")
    return number, pair[:32]


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
