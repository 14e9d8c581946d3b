"""The fast entry for agents: a file that runs without an installation and without a search for one.

`python3 -I -S bridge.py dispatch AGENT EVENT`. Python compiles a started file every time, so it is short.
"""

from __future__ import annotations

import gc
import os
import sys

if __name__ == "__main__":
    # The process ends in a moment, and garbage collection takes 1 ms of it.
    gc.disable()
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from hookport import loading

    loading.begin()

from hookport.project.installed import main

__all__ = ["main"]

if __name__ == "__main__":
    # The answer is written; shutting down the interpreter would cost another 2 ms.
    os._exit(main())
