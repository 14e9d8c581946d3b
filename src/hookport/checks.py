"""What is wrong with a manifest whatever the target."""
from __future__ import annotations
from hookport.findings import Finding
def check(reading: object) -> list[Finding]:
    return []
