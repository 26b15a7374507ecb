"""``python -m textodds``: the same as ``textodds``, where scripts are not on the path."""

import sys

from textodds.cli import main

if __name__ == "__main__":
    sys.exit(main())
