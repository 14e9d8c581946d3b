"""Hooks as Python functions: decorators, events, answers, and `run`; people import these from `hookport`.

All of it is loaded whenever such a hook runs, so it needs no more than the core does.
"""
