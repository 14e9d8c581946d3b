"""Texts with secrets and texts without: the corpora that redaction is measured with."""

from __future__ import annotations

import random
import re
import string
import uuid
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ALPHABETS = {
    "hex": "0123456789abcdef",
    "digits": string.digits,
    "az": string.ascii_letters,
    "b32": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    "b36": string.ascii_lowercase + string.digits,
    "B36": string.ascii_uppercase + string.digits,
    "b62": string.ascii_letters + string.digits,
    "b64": string.ascii_letters + string.digits + "+/",
    "b64u": string.ascii_letters + string.digits + "-_",
}
PASSWORDS = (
    "hunter2",
    "correcthorse",
    "Tr0ub4dor&3",
    "S3cr3t!",
    "letmein",
    "p@ssw0rd",
    "xK9#mQ2$vL",
    "winter2026",
)
PLACE = re.compile(r"\{(?:(pw|uuid)|(\w+):(\d+))\}")


class Shape(NamedTuple):
    """A text, and the secrets in it."""

    template: str
    text: str
    secrets: tuple[str, ...]

    def leaks(self, cleaned: str) -> bool:
        """Whether eight characters of a secret, or a short one whole, are still there."""
        return any(
            secret[start : start + 8] in cleaned
            for secret in self.secrets
            for start in range(max(1, len(secret) - 7))
        )


def lines(name: str) -> list[str]:
    """The texts of one corpus."""
    text = (HERE / f"{name}.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("# ")]


def filled(template: str, seed: int) -> Shape:
    """A template with random secrets, the same for the same seed."""
    chance = random.Random(f"{seed} {template}")
    secrets: list[str] = []

    def fill(place: re.Match[str]) -> str:
        whole, kind, count = place.groups()
        if whole == "uuid":
            secret = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        elif whole == "pw":
            secret = chance.choice(PASSWORDS)
        elif kind == "b64pct":
            secret = "%2B".join(_random(chance, "b62", int(count) // 2) for _ in range(2))
        else:
            secret = _random(chance, kind, int(count))
        # What is too short to be a secret by itself is a part of one.
        if len(secret) > 4:
            secrets.append(secret)
        return secret

    text = PLACE.sub(fill, template)
    return Shape(template, text, tuple(secrets))


def _random(chance: random.Random, kind: str, count: int) -> str:
    return "".join(chance.choice(ALPHABETS[kind]) for _ in range(count))
