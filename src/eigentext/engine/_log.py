"""The logger of the library is called "eigentext". It is silent unless a program configures it.

Notes, for example that loops are being compiled, have level INFO. The start and the end of each
phase of the work have level DEBUG.
"""

import logging

logger = logging.getLogger("eigentext")
logger.addHandler(logging.NullHandler())
