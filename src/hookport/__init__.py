"""Write a hook for AI coding agents once and run it, with the same effect, in every agent."""

__version__ = "0.1.0"
