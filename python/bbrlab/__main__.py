"""`python -m bbrlab` is the `bbrlab` command."""

import sys

from ._command import main

sys.exit(main())
