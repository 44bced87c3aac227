"""A broken server, which tests must catch: every query takes longer.

`python -m tests.server.leaky SECONDS serve …` runs the command so.
"""

import sys
import time
from typing import Any

from discreet.cli import main
from discreet.engines.duckdb import DuckDbEngine

if __name__ == "__main__":
    seconds, run = float(sys.argv[1]), DuckDbEngine.run

    def slow_run(*given: Any, **named: Any) -> Any:
        time.sleep(seconds)
        return run(*given, **named)

    DuckDbEngine.run = slow_run  # type: ignore[method-assign]
    sys.argv = ["discreet", *sys.argv[2:]]
    main()
