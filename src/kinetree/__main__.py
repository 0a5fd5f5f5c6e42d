"""`python -m kinetree`: the command line."""

import sys

from kinetree.cli import main

if __name__ == "__main__":
    sys.exit(main())
