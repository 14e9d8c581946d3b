"""Tests of hooks: cases in files, run on a copy of their package, for the hook alone or for every agent."""
