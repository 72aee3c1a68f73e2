"""The command `hivedruid` and `python -m hivedruid`."""

from __future__ import annotations

import atexit
import os
import sys

from hivedruid import cli


def main() -> int:
    """Run the command line. The process ends without freeing its objects one by one, which takes 20 ms, and more with
    DuckDB or Spark: threads have ended by then, and all exit handlers have run.
    """
    codes: list[int] = []
    if atexit._ncallbacks() == 0:  # handlers run in reverse order: those of coverage, for example, would not run
        atexit.register(_leave, codes)
    codes.append(cli.main())
    return codes[0]


def _leave(codes: list[int]) -> None:
    for code in codes:  # none after an exception
        try:
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:
                    stream.flush()
        except (OSError, ValueError):
            return  # the interpreter tries it again and reports the error
        os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
