"""The logger of the library, "eigentext": silent unless the program that uses it wants to hear it.

Notes, such as that kernels are being compiled, are at level INFO; phases of the work, as they start
and finish, at DEBUG. Nothing is configured on import: that is up to the program.
"""

import logging

logger = logging.getLogger("eigentext")
logger.addHandler(logging.NullHandler())
