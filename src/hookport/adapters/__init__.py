"""The hooks of a project in agents made with a framework: one module for each, whose `guard` takes a host.

An adapter imports its framework, which is an optional extra of hookport, and no adapter imports another.
"""
