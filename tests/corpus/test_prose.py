"""The demo's corpus: prose alone, each paragraph once, the same on every call."""

import re
import sys
from pathlib import Path

import pytest

from eigentext.corpus.prose import docstring_prose
from eigentext.errors import CorpusError

MODULE = r'''
"""Tools for :class:`Matrix` and ~decay~.

A first *paragraph* over
two lines (with ``code``); it isn't long, see [1]_ and https://example.org/x.

.. math::

    \sum_i x_i where the sum runs over all of the rows

References
----------
.. [1] A. Author, "A long title about matrices", Journal of
   Matrices, 1999.
"""

# A comment of the module
# goes over two lines.
_doc_template = """
A template that is filled in later, %(name)s.
"""
color = "this string is not documentation at all"
pattern = "\d"


def solve(a, b):
    """Solve the system of equations.

    Call it like this::

        result = solve(matrix, vector)
        print(result and so on and on)

    .. note:: The matrix must be :py:func:`symmetric <other.target>`.

    .. versionadded:: 1.2

    Parameters
    ----------
    a : ndarray of shape (n, n), default=None
        The matrix, e.g. a :obj:`~scipy.sparse.csr_array` in 2-D.
    b : ndarray
        The right-hand side of :math:`a x = b` in float64.

        - the first item of a list
        - the second item of a list

    Examples
    --------
    An example with a prompt follows.

    >>> for x in solve(matrix, vector):
    ...     print(x)
    output of the example is not prose

    And prose goes on after it.

    | 1.0 | 2.0 | 3.0 | 4.0 | a | b | c |
    """

    class Inner:
        """Solve the system of equations."""


if True:

    async def later():
        """Documented inside of a condition."""


add_newdoc("module", ("name", """Compiled functions are documented by a call."""))
'''

EXPECTED = [
    "tools for matrix and decay .",
    "a first paragraph over two lines ( with code ) ; it isn't long , see and",
    "a template that is filled in later , .",
    "solve the system of equations .",
    "call it like this",
    "the matrix must be symmetric .",
    "a : ndarray of shape ( n , n ) , default = none the matrix , e.g. a csr_array in 2-d .",
    "b : ndarray the right-hand side of in float64 .",
    "the first item of a list",
    "the second item of a list",
    "an example with a prompt follows .",
    "and prose goes on after it .",
    "documented inside of a condition .",
    "compiled functions are documented by a call .",
    "a comment of the module goes over two lines .",
]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package whose import would fail: its files are only ever read."""
    name = "documented_package"
    root = tmp_path / name
    (root / "tests").mkdir(parents=True)
    (root / "__init__.py").write_text("raise RuntimeError('imported')\n")
    (root / "a.py").write_text(MODULE)
    (root / "b.py").write_text(MODULE)  # the same once more
    (root / "broken.py").write_text('"""This file does not parse at all."""\ndef f(:\n')
    (root / "latin.py").write_bytes(b'"""Bytes that are not \xe9 in the encoding."""\n')
    (root / "null.py").write_bytes(b'"""A null byte does not parse either."""\n\0\n')
    (root / "tests" / "test_a.py").write_text(
        '"""Tests are not parsed for speed."""\n# Their comments are read.\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    return name


def test_exactly_the_prose_of_a_small_package(package):
    *prose, undecodable, comment = docstring_prose([package])
    assert prose == EXPECTED
    assert undecodable.startswith("bytes that are not")
    assert comment == "their comments are read ."
    assert package not in sys.modules


def test_a_missing_package_is_passed_over(package):
    assert docstring_prose(["no_such_package_here", package]) == docstring_prose([package])


@pytest.mark.parametrize("packages", [["no_such_package_here"], ["sys"], ["ast"], [""]])
def test_no_sources_is_an_error_with_a_remedy(packages):
    with pytest.raises(CorpusError, match="eigentext demo FILE"):
        docstring_prose(packages)


@pytest.fixture(scope="module")
def prose() -> list[str]:
    return docstring_prose()


def test_the_scientific_packages_hold_a_million_words(prose):
    words = re.compile(r"[^\W\d_]")
    assert sum(1 for line in prose for token in line.split() if words.search(token)) > 1_000_000


def test_every_paragraph_is_there_once_in_lower_case_with_single_blanks(prose):
    assert len(set(prose)) == len(prose)
    assert all(line == " ".join(line.lower().split()) for line in prose)


def test_no_prompts_and_no_markup_survive(prose):
    for mark in (">>>", "`", "::", "http://", "https://", "---", "\\", "%(", "]_", "[", "{"):
        assert not [line for line in prose if mark in line], mark
    assert not [line for line in prose if re.search(r"\b(?:math|class|func|meth|ref) : `", line)]


def test_a_second_call_agrees_and_packages_come_in_order(prose):
    again = docstring_prose(["numpy"])
    assert prose[: len(again)] == again
