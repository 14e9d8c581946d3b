"""What a terminal gets: tables and lines that fit it, and progress. Needs `rich`; never in `bridge.pyz`."""
