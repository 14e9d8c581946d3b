"""The bridge that a project commits: `bridge.pyz` and its plan, for teammates who have only `python3`."""
