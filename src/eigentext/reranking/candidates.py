"""Files of candidates: structures with the log-probability that a base model gave them.

An n-best file has one candidate on each line: its log-probability, a tab and its structure. An
empty line ends the candidates of each input. An input without candidates is only an empty line::

    -12.25	(S (NP (NNS cats)) (VP (VBP sleep)))
    -13.5	(S (NP (NNS cats) (NN sleep)))

There may be one more column before these, the rank that ``eigentext grammar nbest`` writes. It is
ignored. After the log-probability, in the same column, the candidates of a parser (``eigentext
grammar nbest --candidates``) have further numbers, with blanks between them: how many brackets the
parser expects to be right, and the probability of each bracket, parents first.

A structure is a tree in Penn brackets, or a tagged sequence, ``cats/NNS sleep/VBP``. Words may
contain slashes, and tags may not. Files may be compressed (.gz, .bz2, .xz, .zst) and may begin with
a byte order mark. A file may have up to 1 GiB.
"""

import math
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from eigentext.corpus.encodings import UTF8, checked_encoding, text_of
from eigentext.corpus.readers import check_size, compression, expand_paths, read_lines
from eigentext.corpus.trees import Tree, as_tree, collecting_no_garbage, packed, parse_trees
from eigentext.errors import CorpusError, ParameterError
from eigentext.kernels.candidate import Candidate, WeighedCandidate, as_candidate, is_tree
from eigentext.storage.files import replacing

Source = str | os.PathLike[str]
_TOKEN = re.compile(r"\S+", re.ASCII)  # Unicode blanks belong to words, as in trees
_UNWRITABLE = re.compile(r"[\s\0\ud800-\udfff]", re.ASCII)
_TREE, _TAGGED = "a tree", "a tagged sequence"


# Reading.


def read_candidates(
    paths: Source | Iterable[Source], *, encoding: str = UTF8
) -> list[list[Candidate]]:
    """Read the candidates of each input from n-best files.

    The module describes the format.

    Parameters
    ----------
    paths : str, path, or list of them
        Files or globs, plain or compressed. All contain trees, or all contain tagged sequences.
    encoding : str
        The encoding of the files: "utf-8", "utf-16", "latin-1", …

    Returns
    -------
    list of lists of Candidate
        Structures are `Tree` or lists of (word, tag). A log-probability may be -inf: parsers give
        it to the tree that they return if there is no parse. Candidates with further numbers are
        WeighedCandidate.

    Raises
    ------
    CorpusError
        If a line is not a candidate. The message names the file and the line.

    Examples
    --------
    >>> from eigentext.kernels import Candidate
    >>> from eigentext.reranking import read_candidates, write_candidates
    >>> lists = [[Candidate([("cats", "NNS"), ("sleep", "VBP")], -12.25)], []]
    >>> write_candidates(lists, "best.txt")  # doctest: +SKIP
    >>> read_candidates("best.txt") == lists  # doctest: +SKIP
    True
    """
    lists: list[list[Candidate]] = []
    kind = None
    for path in _expanded(paths):
        kind = _read_into(lists, path, kind, encoding)
    return lists


def _read_into(lists: list[list[Candidate]], path: Path, kind: str | None, encoding: str) -> str:
    """Add the candidates of a file to `lists`, and return the kind of its structures.

    Raise CorpusError if the kind differs from `kind`, the kind of the files before.
    """
    with collecting_no_garbage():
        lines = _read_lines(path, encoding)
        rows = [_columns(line, f"{path}, line {n}") for n, line in enumerate(lines, 1)]
        kind = _kind_of_all((row and row[1] for row in rows), path, kind)
        texts = [row[1] if row else "" for row in rows]
        structures = (_trees if kind == _TREE else _taggings)(texts, path)
        candidates: list[Candidate] = []
        for row in rows:
            if row:
                candidates.append(_candidate(next(structures), row[0]))
            else:
                lists.append(candidates)
                candidates = []
        if candidates:  # the file does not end with an empty line
            lists.append(candidates)
    return kind


def _candidate(structure: Any, numbers: list[float]) -> Any:
    if len(numbers) == 1:
        return Candidate(structure, numbers[0])
    return WeighedCandidate(structure, numbers[0], numbers[1], tuple(numbers[2:]))


def read_structures(paths: Source | Iterable[Source], *, encoding: str = UTF8) -> list[Any]:
    """Read gold structures: trees in Penn brackets, or one tagged sequence on each line.

    A tree may take several lines. Empty lines are ignored. Files and errors are as in
    :func:`read_candidates`.
    """
    found: list[Any] = []
    kind = None
    for path in _expanded(paths):
        lines = _read_lines(path, encoding)
        first = next(filter(_TOKEN.search, lines), "")
        if first and _kind(first) == _TREE:
            kind = _kind_of_all([first], path, kind)
            found += parse_trees("\n".join(lines), str(path))
        else:
            kind = _kind_of_all(lines, path, kind)
            found += _taggings(lines, path)
    return found


def _expanded(paths: Source | Iterable[Source]) -> list[Path]:
    return expand_paths([paths] if isinstance(paths, (str, os.PathLike)) else list(paths))


def _read_lines(path: Path, encoding: str) -> list[str]:
    lines: list[str] = []
    size = 0
    for number, line in read_lines(path, checked_encoding(encoding)):
        size += 1 + len(line)
        check_size(size, path)
        lines.append(text_of(line, f"{path}, line {number}") if line else "")
    return lines


def _columns(line: str, place: str) -> tuple[list[float], str] | None:
    """Return the log-probability and further numbers, and the structure; None for no candidate."""
    if not _TOKEN.search(line):
        return None
    *first, text = line.split("\t", 3)
    if not 1 <= len(first) <= 2 or not _TOKEN.search(text):
        raise CorpusError(
            f"{place}: {_shortened(line)} is not a candidate; give its log-probability, a tab and "
            "its structure; only a rank and a tab may come before"
        )
    try:
        numbers = [float(one) for one in first[-1].split()] or [math.nan]
    except ValueError:
        numbers = [math.nan]
    if not numbers[0] < math.inf:
        raise CorpusError(
            f"{place}: {_shortened(first[-1])} is not a log-probability; give a number or -inf"
        )
    if not all(map(math.isfinite, numbers[1:])):
        raise CorpusError(f"{place}: a number after the log-probability is not finite; remove it")
    return numbers, text


def _kind(text: str) -> str:
    return _TREE if text.lstrip().startswith("(") and not _is_tagged(text) else _TAGGED


def _is_tagged(text: str) -> bool:
    """Whether all words have tags. Then this is a sequence, even if its first word is a bracket."""
    return all(
        0 < word.rfind("/") < len(word) - 1 for word in map(itemgetter(0), _TOKEN.finditer(text))
    )


def _kind_of_all(texts: Iterable[str | None], path: Path, kind: str | None) -> str:
    """Return the kind of all texts, which must be `kind` if that is not None."""
    for number, text in enumerate(texts, 1):
        if text and _TOKEN.search(text):
            found = _kind(text)
            if found != (kind or found):
                raise CorpusError(
                    f"{path}, line {number}: {found} after {kind}; read each kind separately"
                )
            kind = found
    if kind is None:
        raise CorpusError(f"{path}: the file is empty; give one that contains structures")
    return kind


def _trees(lines: Sequence[str], path: Path) -> Iterator[Tree]:
    """Read one tree from each line, all lines together."""
    for number, line in enumerate(lines, 1):
        if (opened := line.count("(")) != (closed := line.count(")")):
            raise CorpusError(
                f"{path}, line {number}: {_shortened(line)} has {opened} '(' but {closed} ')'; "
                "put each whole tree on one line"
            )
    trees = parse_trees("\n".join(lines), str(path)) if any(lines) else []
    if len(trees) > sum(map(bool, lines)):
        for number, line in enumerate(lines, 1):
            if line and len(parse_trees(line, "")) > 1:
                raise CorpusError(f"{path}, line {number}: several trees; put each on its own line")
    return iter(trees)


def _taggings(lines: Sequence[str], path: Path) -> Iterator[list[tuple[str, str]]]:
    pairs: dict[str, tuple[str, str]] = {}  # n-best lists repeat the same tokens many times
    for number, line in enumerate(lines, 1):
        tokens = _TOKEN.findall(line)
        for token in tokens:
            if token not in pairs:
                word, _, tag = token.rpartition("/")
                if not (word and tag):
                    raise CorpusError(
                        f"{path}, line {number}: {_shortened(token)} is not a word with its tag; "
                        "write word/tag, or trees in brackets"
                    )
                pairs[token] = word, tag
        if tokens:
            yield [pairs[token] for token in tokens]


def _shortened(text: str) -> str:
    text = " ".join(text[:80].split())
    return repr(text if len(text) <= 40 else f"{text[:40]} ...")


# Writing.


def write_candidates(lists: Iterable[Iterable[Any]], path: Source) -> None:
    """Write the candidates of each input to an n-best file.

    :func:`read_candidates` reads the same candidates again, except that round brackets in the words
    and labels of trees become ``-LRB-`` and ``-RRB-``. The ending of the file name selects the
    compression. An existing file is replaced only after everything is written.
    """
    lines: list[str] = []
    for number, candidates in enumerate(lists, 1):
        for rank, one in enumerate(candidates, 1):
            try:
                lines.append(candidate_line(one))
            except (CorpusError, ParameterError) as error:
                raise type(error)(f"input {number}, candidate {rank}: {error}") from None
        lines.append("")
    data = "".join(f"{line}\n" for line in lines).encode()
    with replacing(Path(path)) as temporary:
        temporary.write_bytes(packed(data, compression(Path(path))))


def candidate_line(candidate: Any) -> str:
    r"""Return a candidate as a line of an n-best file.

    Examples
    --------
    >>> candidate_line(("(NP (NNS cats))", -2.5))
    '-2.5\t(NP (NNS cats))'
    """
    given = as_candidate(candidate)
    if given is None or not given.log_probability < math.inf:
        raise ParameterError(
            f"{_shortened(repr(candidate))} has no log-probability; give a structure and a number "
            "or -inf, as in Candidate(tree, -12.5)"
        )
    numbers = [float(given.log_probability)]
    if hasattr(candidate, "marginals"):
        numbers += [float(candidate.expected), *map(float, candidate.marginals)]
    return f"{' '.join(map(repr, numbers))}\t{structure_line(given.structure)}"


def structure_line(structure: Any) -> str:
    """Return a tree or a tagged sequence as the line that :func:`read_structures` reads.

    Examples
    --------
    >>> structure_line([("and/or", "CC"), ("cats", "NNS")])
    'and/or/CC cats/NNS'
    """
    if not is_tree(structure):
        return " ".join(map(_tagged_word, structure)) or _refuse("the sequence")
    tree = as_tree(structure)
    for node in tree.subtrees():
        if not _is_writable(node):
            _refuse(f"a word or label of {_shortened(str(node))}")
    line = str(tree)
    return f"( {line[1:]}" if _is_tagged(line) else line  # a separate bracket has no tag


def _is_writable(node: Tree) -> bool:
    words = [child for child in node.children if isinstance(child, str)]
    if not node.children or not all(words):
        return False
    if not node.label and isinstance(node.children[0], str):
        return False  # "( cat)" would be read as a label
    return not any(map(_UNWRITABLE.search, (node.label, *words)))


def _tagged_word(token: Any) -> str:
    if not (isinstance(token, (tuple, list)) and len(token) == 2):
        raise ParameterError(
            f"{token!r} is not a word with its tag; give trees, or lists of (word, tag)"
        )
    word, tag = map(str, token)
    if not (word and tag) or _UNWRITABLE.search(word + tag):
        _refuse(repr((word[:40], tag[:40])))
    if "/" in tag:
        raise CorpusError(
            f"the tag {tag[:40]!r} contains a slash; use another character, as in NN|VB"
        )
    return f"{word}/{tag}"


def _refuse(what: str) -> Any:
    raise CorpusError(
        f"{what} is empty, or has blanks or characters that a text cannot contain, so that it "
        "could not be read again; replace them, as in New_York"
    )
