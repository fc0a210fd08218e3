"""The `rowkey` command, also as `python -m rowkey`."""

import signal
import sys

# Ctrl-C ends the process at once until somebody waits for it: as an exception amidst imports it may even crash them.
signal.signal(signal.SIGINT, signal.SIG_DFL)

from rowkey.cli import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
