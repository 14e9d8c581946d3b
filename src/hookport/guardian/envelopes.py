"""Envelopes of the standard: made, signed, and taken only from who knows the secret.

The specification leaves salt and length of the key derivation open; these are those of its reference adapters
(adapters/_common/acs_common.py, 0.1.3): no salt, 32 bytes, the session id as info.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from hookport.base.tree import Tree
from hookport.guardian.canonical_json import canonicalize

VERSION = "0.1.0"
ALGORITHM = "HMAC-SHA256"
_MOST_EXACT = 2**53 - 1


def derive_key(secret: bytes, session: str) -> bytes:
    """Derive the key of a session (RFC 5869)."""
    extracted = hmac.new(b"\0" * 32, secret, hashlib.sha256).digest()
    return hmac.new(extracted, session.encode() + b"\1", hashlib.sha256).digest()


def make_request(method: str, payload: Mapping[str, Tree], metadata: Mapping[str, Tree]) -> dict[str, Any]:
    """Make a request that nobody made before."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    params = {
        "acs_version": VERSION,
        "request_id": str(uuid.uuid4()),
        "timestamp": now,
        "metadata": dict(metadata),
        "payload": dict(payload),
    }
    return {"jsonrpc": "2.0", "id": str(uuid.uuid4()), "method": method, "params": params}


def sign(envelope: Mapping[str, Any], key: bytes) -> dict[str, Any]:
    """The envelope with its signature."""
    part, unsigned = _take_signature(envelope)
    value = hmac.new(key, canonicalize(unsigned), hashlib.sha256).digest()
    signature = {
        "algorithm": ALGORITHM,
        "value": base64.b64encode(value).decode(),
        "key_id": "default",
    }
    return {**unsigned, part: {**unsigned[part], "signature": signature}}


def is_signed(envelope: Mapping[str, Any], key: bytes) -> bool:
    """Whether the one who knows the key made this envelope, and nobody changed it."""
    part, unsigned = _take_signature(envelope)
    signature = envelope[part].get("signature") if part in envelope else None
    if not isinstance(signature, Mapping) or signature.get("algorithm") != ALGORITHM:
        return False
    try:
        given = base64.b64decode(signature["value"], validate=True)
        value = hmac.new(key, canonicalize(unsigned), hashlib.sha256).digest()
    except (KeyError, TypeError, ValueError):
        return False
    return hmac.compare_digest(given, value)


def _take_signature(envelope: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    part = next(
        (name for name in ("params", "error", "result") if isinstance(envelope.get(name), Mapping)), ""
    )
    if not part:
        return "result", {**envelope, "result": {}}
    return part, {
        **envelope,
        part: {key: value for key, value in envelope[part].items() if key != "signature"},
    }


def make_session_id(session: str) -> str:
    """The id of a session as the standard wants it: a UUID, always the same for the same session."""
    try:
        return str(uuid.UUID(session))
    except ValueError:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"hookport:{session}"))


def make_signable(tree: Tree) -> Tree:
    """The same JSON with what has no canonical form as text: integers that JavaScript would round."""
    if isinstance(tree, dict):
        return {_encode(key): make_signable(value) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [make_signable(value) for value in tree]
    if isinstance(tree, int) and abs(tree) > _MOST_EXACT:
        return str(tree)
    return _encode(tree) if isinstance(tree, str) else tree


def _encode(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
