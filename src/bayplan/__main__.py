"""`python -m bayplan`"""

import sys

from bayplan.cli import main

sys.exit(main())
