"""Collected cuts and insertions in one text; insertions survive inside a cut, cuts may overlap."""

from __future__ import annotations


class Splices:
    """Edits by offset in the old text, applied all at once."""

    def __init__(self) -> None:
        self._cuts: list[tuple[int, int]] = []
        self._inserts: list[tuple[int, int, int, str]] = []

    def cut(self, start: int, end: int) -> None:
        if end > start:
            self._cuts.append((start, end))

    def insert(self, at: int, text: str, rank: int = 0) -> None:
        """Insert a text: at one offset a lower rank comes first, then the earlier call."""
        self._inserts.append((at, rank, len(self._inserts), text))

    def replace(self, start: int, end: int, text: str) -> None:
        self.insert(start, text)
        self.cut(start, end)

    def apply(self, text: str) -> str:
        merged: list[tuple[int, int]] = []
        for start, end in sorted(self._cuts):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        out: list[str] = []
        at = 0
        cuts = iter([*merged, (len(text), len(text))])
        cut = next(cuts)
        for offset, _, _, added in [*sorted(self._inserts), (len(text), 0, 0, "")]:
            while cut[1] <= offset and cut[0] < len(text):
                out.append(text[at : cut[0]])
                at = cut[1]
                cut = next(cuts)
            stop = min(offset, cut[0])
            if stop > at:
                out.append(text[at:stop])
                at = stop
            out.append(added)
        return "".join(out)
