"""What the commands on taggers share: models, and sentences in columns."""

import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from eigentext.cli._files import load_kind
from eigentext.cli._lines import raw_lines
from eigentext.errors import CorpusError, ParameterError

if TYPE_CHECKING:
    from eigentext import Tagger
    from eigentext.corpus.columns import Columns, Head
    from eigentext.corpus.conll import PlacedSentence

ModelArgument = Annotated[
    Path, typer.Argument(help="A model written by `tagger fit` or `tagger refine`.")
]
TaggedArgument = Annotated[
    list[str],
    typer.Argument(
        help="Tagged sentences: one token on each line, with its columns and its label, and a "
        "blank line after each sentence; files or globs (plain, .gz, .bz2, .xz, .zst); - is "
        "standard input."
    ),
]
ColumnsOption = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="NAMES",
        help="The columns of the files, as in word,pos,_,label; _ is ignored. In CoNLL-U some "
        "names are enough, as in word,xpos.",
        show_default="those of the model",
    ),
]
IGNORED = "_"  # the name of a column that is not used
_HEAD_LINES = 1000  # of standard input, before the first token
_PLACE = re.compile(r"\bsentence ([\d,]+), token ([\d,]+)")


class Sentence(NamedTuple):
    """A sentence, its place, and the line that ended it. Without tokens, it is that line alone."""

    file: str
    line: int  # of its first token
    tokens: list[tuple[str, ...]]
    border: str | None  # None at the end of the last file
    separator: str = " "  # between columns


# Columns.


def named_columns(text: str) -> list[str | None]:
    """Return the names in an option, as in word,pos,_,label. None is a column that is ignored."""
    names = [name.strip() for name in text.split(",")]
    kept = [name for name in names if name != IGNORED]
    if not all(names) or not kept or len(set(kept)) < len(kept):
        raise ParameterError(
            f"--columns {text}: give each column a different name, as in word,pos,label, or _ to "
            "ignore it"
        )
    return [None if name == IGNORED else name for name in names]


def training_columns(option: str | None, path: Path, encoding: str) -> "Columns":
    """Return the columns that the option names, or those that the file seems to have."""
    from eigentext.corpus.conll import auto_columns, read_head

    remedy = "correct it, or name the columns with --columns"
    names = None if option is None else named_columns(option)
    head = read_head(path, encoding)
    found = auto_columns(head) if names is None else head.told(names, remedy)
    if len(found.kept) < 2 or found.kept[0] != "word":
        raise ParameterError(
            f"--columns {option}: the first column must be called word, and the label must come "
            "last, as in word,pos,label"
        )
    return replace(found, remedy=remedy)


class KnownColumns:
    """Where the columns that a tagger uses are in files, and the label if it is wanted.

    Parameters
    ----------
    tagger
        The model.
    option
        The names that the user gave. Without them, files have the tagger's columns, and then a
        label if they are `labelled`, or they are of a format whose columns have names.
    labelled
        Whether the last column of files is a label.
    with_label
        Whether the label is wanted.
    """

    def __init__(
        self, tagger: "Tagger", option: str | None, *, labelled: bool, with_label: bool = False
    ):
        self._used, self._option = list(tagger.columns_), option
        self._tags = _in_all_schemes(tagger.tags_)
        self._labelled, self._with_label = labelled, with_label
        used = ", ".join(self._used)
        self._remedy = f"the model uses {used}: correct it, or name the columns with --columns"
        if option is None and not labelled:
            self._remedy += ", or give --labelled if the last column is a label"
        self._names = None if option is None else named_columns(option)

    def of(self, head: "Head") -> "Columns":
        """Return the columns of a file that begins like this."""
        head.check_text()
        if self._names is not None:
            return self._told(head, self._names)
        found = head.named()
        if found and (inputs := found.with_chosen(self._used, self._remedy)):
            if not self._with_label:
                return inputs
            if (label := self._label(head, found, inputs)) is not None:
                return replace(inputs, chosen=(*inputs.chosen, label))
        names = [*self._used, "label"] if self._labelled else self._used
        if head.n_columns != len(names):
            if found and found.counted:
                there = ", ".join(filter(None, found.names))
                raise CorpusError(
                    f"{head.file}: {found.kind} with the columns {there}; name those that the "
                    f"model uses ({', '.join(self._used)}), and the label if it is wanted, with "
                    "--columns"
                )
            if head.n_columns:
                head.check_format()
        n = len(names) if self._with_label else len(self._used)
        return replace(head.told(names, self._remedy), chosen=tuple(range(n)))

    def _label(self, head: "Head", found: "Columns", inputs: "Columns") -> int | None:
        """Return the place of the label: the column that has most of the tags of the model."""
        free = [i for i, name in enumerate(found.names) if name and i not in inputs.chosen]
        if not free:
            return None
        usual = found.chosen[-1]
        best = max(free, key=lambda i: (head.share(i, self._tags), i == usual))
        head.check_not_empty(found, best)
        return best

    def _told(self, head: "Head", names: list[str | None]) -> "Columns":
        found = head.told(names, self._remedy)
        place = dict(zip(found.kept, found.chosen))
        labels = [i for name, i in place.items() if name not in self._used]
        if not place.keys() >= set(self._used) or (self._with_label and not labels):
            also = " and a label, named last" if self._with_label else ""
            raise ParameterError(
                f"--columns {self._option}: the model needs {', '.join(self._used)}{also}; name "
                "them all"
            )
        last = labels[-1:] if self._with_label else []
        return replace(found, chosen=(*(place[name] for name in self._used), *last))


def _in_all_schemes(tags: Iterable[str]) -> frozenset[str]:
    """Return the tags. Of chunks, these are the tags of all schemes."""
    from eigentext.corpus.schemes import scheme_of

    known = frozenset(tags)
    if scheme_of(known) is None:
        return known
    kinds = {tag[2:] for tag in known if tag[2:]}
    return known.union(f"{letter}-{kind}" for letter in "BILUES" for kind in kinds)


# Sentences.


def how_to_skip(skip_bad: bool) -> Literal["raise", "skip"]:
    """Return what readers do with bad sentences."""
    return "skip" if skip_bad else "raise"


def read_tagged(
    paths: Iterable[Path], columns: "Columns", *, encoding: str, skip_bad: bool
) -> "list[PlacedSentence]":
    """Return the sentences of files of tagged sentences, with the label as the last column."""
    from eigentext import engine
    from eigentext.corpus.conll import read_placed

    found: list[PlacedSentence] = []
    with engine.phase("read sentences", None, "tokens") as advance:
        errors = how_to_skip(skip_bad)
        for sentence in read_placed(paths, columns, encoding=encoding, errors=errors):
            found.append(sentence)
            advance(len(sentence.tokens))
    return found


def read_sentences(
    paths: Sequence[Path | None], known: KnownColumns, *, encoding: str, skip_bad: bool
) -> Iterator[Sentence]:
    """Yield sentences, and the lines between them; an error names its place.

    Lines inside sentences that are no tokens, such as comments of CoNLL-U, are left out.
    """
    from eigentext.corpus.bad_items import BadItems
    from eigentext.corpus.conll import Tokens, reason

    bad, n_good, parsed = BadItems(how_to_skip(skip_bad), "sentences"), 0, None
    for n_files, path in enumerate(paths, 1):
        file = "standard input" if path is None else str(path)
        head, lines = _with_head(path, encoding)
        parsed = parsed or Tokens(known.of(head))
        tokens: list[tuple[str, ...]] = []
        number, separator, is_bad = 0, " ", False
        for number, line in enumerate(lines, 1):
            try:
                token = parsed[line]
            except ValueError as error:
                if not is_bad:
                    bad.skip(CorpusError(f"{file}, line {number}: {reason(error, [line])}"))
                is_bad = True
                continue
            if token:
                tokens.append(token)
                if b"\t" in line.strip():
                    separator = "\t"
            elif token is not None:
                if not is_bad:
                    n_good += bool(tokens)
                    border = line.decode(errors="replace").strip()
                    yield Sentence(file, number - len(tokens), tokens, border, separator)
                tokens, separator, is_bad = [], " ", False
        if tokens and not is_bad:
            n_good += 1
            border = "" if n_files < len(paths) else None
            yield Sentence(file, number + 1 - len(tokens), tokens, border, separator)
    bad.report(n_good)


def _with_head(path: Path | None, encoding: str) -> "tuple[Head, Iterator[bytes]]":
    """Return the first lines, and all lines. Of standard input, the first token must do."""
    from eigentext.corpus.columns import Head
    from eigentext.corpus.conll import read_head

    lines = raw_lines(path, encoding)
    if path is not None:
        return read_head(path, encoding), lines
    first: list[bytes] = []
    head = Head(b"", "standard input")
    for line in lines:
        first.append(line)
        if not line.isspace() and not line.startswith(b"#"):
            head = Head(b"\n".join(one.removesuffix(b"\n") for one in first), head.file)
        if head.n_columns or len(first) == _HEAD_LINES:
            break
    return head, chain(first, lines)


@contextmanager
def places_of(sentences: "Sequence[PlacedSentence]") -> Iterator[None]:
    """Name the file and the line in errors and warnings that name a sentence and a token."""
    show = warnings.showwarning

    def place(found: re.Match[str]) -> str:
        number, token = (int(found[k].replace(",", "")) for k in (1, 2))
        sentence = sentences[number - 1]
        return f"{sentence.file}, line {sentence.line + token - 1}"

    def show_place(message: Warning | str, *rest: Any, **more: Any) -> None:
        show(_PLACE.sub(place, str(message)), *rest, **more)

    warnings.showwarning = show_place
    try:
        yield
    except CorpusError as error:
        found = _PLACE.match(str(error))
        if not found:
            raise
        raise CorpusError(place(found) + str(error)[found.end() :]) from error
    finally:
        warnings.showwarning = show


# Models.


def load_tagger(path: Path) -> "Tagger":
    """Load a tagger."""
    from eigentext import RefinementHMM, Tagger

    kinds: Any = Tagger, RefinementHMM
    found = load_kind(path, kinds, "a tagger that `tagger fit` wrote, or `tagger refine`")
    if isinstance(found, RefinementHMM):
        from eigentext.cli.tagger.refine import InColumns

        adapted: Any = InColumns(found)
        return adapted
    return found
