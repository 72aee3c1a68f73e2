"""`python -m hivedruid`."""

from __future__ import annotations

import sys

from hivedruid.cli import main

if __name__ == "__main__":
    sys.exit(main())
