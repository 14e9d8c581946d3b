"""Hooks as Python functions: decorators, events, answers, and `run`; people import these from `hookport`.

Every run of such a hook loads all of it, so it needs no more than the core does.
"""
