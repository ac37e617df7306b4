"""The secret key of pseudonyms: its sources, and the keys that are refused."""

from __future__ import annotations

import os
import stat
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from sqlanon.errors import PolicyError

if TYPE_CHECKING:
    from sqlanon.model.policy.policy import Policy

VARIABLE = "SQLANON_PSEUDONYM_KEY"  # the environment variable of the key, by default

GUIDE = "pseudonyms"

MIN_KEY_BYTES = 32
MAX_KEY_BYTES = 4096
MIN_DIFFERENT_BYTES = 8
"""A random key of 64 hexadecimal digits has fewer than 8 different ones with a probability below 10⁻¹⁸."""
BLOCK_BYTES = 64  # of SHA-256

HOW_TO_MAKE = "`(umask 077; openssl rand -hex 32 > pseudonym.key)` makes one"


class PseudonymKey:
    """A secret that is never printed.

    Trailing line breaks, which editors and `openssl` add to a file, don't belong to it. Keys that are too short, too
    long, or repeat few bytes, such as blanks or zeros, are refused.
    """

    __slots__ = ("_secret",)

    # guarded: tests/unit/test_pseudonym_key.py
    def __init__(self, secret: bytes) -> None:
        self._secret = secret.rstrip(b"\r\n")
        if len(self._secret) < MIN_KEY_BYTES:
            raise _refused(f"it has {len(self._secret)} bytes and needs {MIN_KEY_BYTES} at least")
        if len(self._secret) > MAX_KEY_BYTES:
            raise _refused(f"it has more than {MAX_KEY_BYTES:,} bytes, so it is probably another file")
        if len(set(self._secret)) < MIN_DIFFERENT_BYTES:
            raise _refused(f"it repeats fewer than {MIN_DIFFERENT_BYTES} different bytes, which can be guessed")

    def __repr__(self) -> str:
        return "PseudonymKey(<secret>)"

    # guarded: tests/unit/test_pseudonym_key.py
    @property
    def blocks(self) -> tuple[bytes, bytes]:
        """The inner and the outer block of the key, as ``anon_helpers.hmac_block`` makes them."""
        short = sha256(self._secret).digest() if len(self._secret) > BLOCK_BYTES else self._secret
        filled = short.ljust(BLOCK_BYTES, b"\0")
        return bytes(byte ^ 0x36 for byte in filled), bytes(byte ^ 0x5C for byte in filled)


# guarded: tests/unit/test_pseudonym_key.py
def key_for(policy: Policy, given: bytes | Path | None) -> PseudonymKey | None:
    """Return the given key, or the one in ``VARIABLE``, for a policy with pseudonyms; None for one without.

    Raise a PolicyError if it is missing or refused, or if it is given without pseudonyms.
    """
    if not policy.pseudonyms:
        if given is not None:
            raise PolicyError("a pseudonym key is for a policy with pseudonyms, and this one has none").with_guide(
                GUIDE
            )
        return None
    if given is not None:
        if not isinstance(given, bytes | Path):
            raise _refused("it is neither bytes, which are the key, nor a pathlib.Path, which is its file")
        return PseudonymKey(given if isinstance(given, bytes) else _read(given))
    if VARIABLE not in os.environ:
        columns = ", ".join(f'"{name}"' for name in policy.pseudonyms)
        raise PolicyError(
            f"the pseudonyms of {columns} need a secret key: give its file as --pseudonym-key FILE (in Python "
            f"pseudonym_key=Path(FILE)), or set {VARIABLE} to the key; {HOW_TO_MAKE}"
        ).with_guide(GUIDE)
    return PseudonymKey(os.fsencode(os.environ[VARIABLE]))


# guarded: tests/unit/test_pseudonym_key.py
def _read(path: Path) -> bytes:
    """Return the content of a key file, whose name no message shows: it could be the key itself."""
    try:
        with path.open("rb") as file:
            others_read = os.fstat(file.fileno()).st_mode & (stat.S_IRGRP | stat.S_IROTH)
            content = b"" if others_read else file.read(MAX_KEY_BYTES + 3)  # no mutants: a longer one is refused
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "that is not the name of a file"
        raise _refused(f"its file cannot be read ({reason})") from None
    if others_read:
        raise _refused("other users of this machine can read its file: `chmod 600` it, or make a new one")
    return content


def _refused(reason: str) -> PolicyError:
    return PolicyError(f"the pseudonym key is refused: {reason}; {HOW_TO_MAKE}").with_guide(GUIDE)
