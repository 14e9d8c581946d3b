"""Asking a Guardian of the OWASP Agent Control Standard (ACS) 0.1.0 about tool calls, over signed HTTP."""
