"""The bridge that a project commits: `bridge.pyz` and its plan, for teammates with only `python3`."""
