"""Ways to run a hook; each gives a `RunResult`, never a decision."""
