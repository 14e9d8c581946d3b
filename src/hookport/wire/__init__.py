"""The protocol of a running hook: read and write events and answers, driven by tables."""
