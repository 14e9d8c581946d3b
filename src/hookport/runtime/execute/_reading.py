"""What an agent hook may see of a project: files below its root, read only, in bounded pieces.

Every path is resolved, links included, before it is compared with the root. Texts are searched literally:
a pattern from a model could run for ever.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

PIECE_BYTES = 65536
NAME_LIMIT = 500
HIT_LIMIT = 100
LINE_LIMIT = 200
SEARCHED_FILE_BYTES = 1024 * 1024
SEARCHED_BYTES = 64 * 1024 * 1024
_UNSEARCHED = {".git", ".hg", ".svn", ".venv", "node_modules"}


class _RefusedError(Exception):
    """The reason why a path is not read; the model sees it."""


class Project:
    """The tools of an agent hook; the model reads their docstrings."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)

    def read_file(self, path: str, offset: int = 0) -> str:
        """Read a text file of the project, at most 64 KiB at a time.

        Args:
            path: the file, relative to the project's root
            offset: where to start, in bytes
        """
        try:
            place = self._inside(path)
            if not os.path.isfile(place):
                return f"refused: {path} is not a file"
            with open(place, "rb") as file:
                file.seek(max(0, offset))
                piece = file.read(PIECE_BYTES)
                rest = os.fstat(file.fileno()).st_size - file.tell()
        except (_RefusedError, OSError, ValueError) as error:
            return f"refused: {_explain_error(error)}"
        more = f"\n[{rest} more bytes, from offset {max(0, offset) + len(piece)}]" if rest > 0 else ""
        return piece.decode("utf-8", "replace") + more

    def list_directory(self, path: str = ".") -> str:
        """List the names in a directory of the project; those of directories end in a slash.

        Args:
            path: the directory, relative to the project's root
        """
        try:
            with os.scandir(self._inside(path)) as entries:
                names = sorted(entry.name + "/" * entry.is_dir(follow_symlinks=False) for entry in entries)
        except (_RefusedError, OSError, ValueError) as error:
            return f"refused: {_explain_error(error)}"
        more = [f"[{len(names) - NAME_LIMIT} more]"] if len(names) > NAME_LIMIT else []
        return "\n".join(names[:NAME_LIMIT] + more) or "[empty]"

    def search(self, text: str, path: str = ".") -> str:
        """Find the lines that contain a text in the files below a directory; gives at most 100 of them.

        Args:
            text: what to look for, exactly as written, not a pattern
            path: a directory or a file, relative to the project's root
        """
        if not text:
            return "refused: the text to search for is empty"
        hits: list[str] = []
        try:
            for hit in self._hits(text.encode("utf-8", "surrogatepass"), self._inside(path)):
                hits.append(hit)
                if len(hits) == HIT_LIMIT:
                    hits.append(f"[the first {HIT_LIMIT} only]")
                    break
        except (_RefusedError, OSError, ValueError) as error:
            return f"refused: {_explain_error(error)}"
        return "\n".join(hits) or "[nothing found]"

    def _inside(self, path: str) -> str:
        place = os.path.realpath(os.path.join(self.root, path))
        if os.path.commonpath((self.root, place)) != self.root:
            raise _RefusedError(f"{path} is outside the project")
        return place

    def _hits(self, text: bytes, start: str) -> Iterator[str]:
        left = SEARCHED_BYTES
        for place in self._files(start):
            try:
                with open(place, "rb") as file:
                    content = file.read(SEARCHED_FILE_BYTES + 1)
            except OSError:
                continue
            if len(content) > SEARCHED_FILE_BYTES or b"\0" in content:
                continue
            left -= len(content)
            if left < 0:
                yield f"[stopped after {SEARCHED_BYTES} bytes: search one directory at a time]"
                return
            if text not in content:
                continue
            name = os.path.relpath(place, self.root)
            for number, line in enumerate(content.split(b"\n"), 1):
                if text in line:
                    yield f"{name}:{number}: {line.decode('utf-8', 'replace').strip()[:LINE_LIMIT]}"

    def _files(self, start: str) -> Iterator[str]:
        if os.path.isfile(start):
            yield start
        for folder, folders, names in os.walk(start):
            folders[:] = sorted(set(folders) - _UNSEARCHED)
            for name in sorted(names):
                place = os.path.join(folder, name)
                # Links are skipped: a target inside the project is searched at its own path.
                if os.path.isfile(place) and not os.path.islink(place):
                    yield place


def _explain_error(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
