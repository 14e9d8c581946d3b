"""Installs hooks into agents' own files: the rest of a file stays untouched, and every edit can be undone."""
