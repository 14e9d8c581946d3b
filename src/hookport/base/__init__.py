"""What every part of hookport does the same way: folders, files, locks and words of a shell.

Nothing here imports more of hookport, and all of it is cheap enough for a dispatch.
"""
