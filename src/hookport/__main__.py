"""`python -m hookport`."""

from __future__ import annotations

import sys

from hookport.cli import main

sys.exit(main())
