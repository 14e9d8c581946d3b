"""Addresses of HTTP hooks to which the runtime never sends an event."""

from __future__ import annotations

from hookport import findings as f
from hookport.findings import Finding
from hookport.runtime.execute import http

# The fix for each reason, by words of it.
FIXES = (
    ("plain HTTP", "Use https://, or an address on this machine such as http://127.0.0.1:8080."),
    ("user or password", "Send a header instead, with its variable named in `allowedEnvVars`."),
    ("not an http", "Write the whole address, such as https://hooks.example.com/check."),
)


def find_refusal(url: str) -> Finding | None:
    """The finding for an address that is always refused; None if events may go there."""
    shown = http._shorten_url(url)  # noqa: SLF001
    try:
        http._find_port(http._check_url(url, is_chosen=False))  # noqa: SLF001  (the runtime's own rule, so that both always agree)
    except (http._RefusalError, ValueError) as error:  # noqa: SLF001
        why = str(error).partition(" Nothing was sent.")[0].rstrip(".")
        fix = next((fix for word, fix in FIXES if word in why), FIXES[-1][1])
        reason = why.removeprefix(f"{shown}: ").removeprefix(f"{shown!r} ")
        return f.AddressRefused.at("", url=repr(shown), why=reason, fix=fix)
    return None
