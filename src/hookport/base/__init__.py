"""What every part of hookport does the same way: folders, files, locks and shell words.

Nothing here imports more of hookport, and all of it is cheap enough for a dispatch.
"""
