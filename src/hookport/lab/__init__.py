"""Real agents on a scripted model: what a hook does to the agent is measured, never assumed."""
