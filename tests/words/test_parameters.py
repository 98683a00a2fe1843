"""The tables of words: light to import, and the same as what the estimators have."""

import subprocess
import sys

from eigentext import Eigentokens, Eigenwords, WordClusters
from eigentext.words import parameters
from eigentext.words.subwords import CharacterRidge

_LOOK = """
import sys
import eigentext.words.parameters
print([name for name in ("numpy", "scipy", "sklearn", "pyarrow", "numba") if name in sys.modules])
"""


def test_the_tables_bring_nothing_heavy_along():
    done = subprocess.run([sys.executable, "-c", _LOOK], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_every_estimator_has_its_table():
    for cls in (Eigenwords, Eigentokens, WordClusters, CharacterRidge):
        assert cls._table is getattr(parameters, cls.__name__)
        assert cls().get_params() == cls._table.defaults
