"""Hooks installed into agents' own files: what is not ours stays as it is, and all can be taken back."""
