"""Converts one dialect's files to another's: read, check, degrade, write, verify; every loss is a finding."""
