"""The hooks of a project and its user, their places, and the agents that load them themselves."""
