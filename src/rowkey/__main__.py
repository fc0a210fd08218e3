"""`python -m rowkey` is the `rowkey` command."""

import sys

from rowkey.cli import main

sys.exit(main())
