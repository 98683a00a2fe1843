"""`load_dataset`: well-known corpora by name.

A data set is searched for in ``EIGENTEXT_DATA`` (a folder with the subfolders ``ner/``,
``nltk_data/``, ``text/``, ``topics/`` and ``treebanks/``), then, if NLTK has it, in ``NLTK_DATA``
and the usual folders of NLTK, then in the cache of eigentext, which has the layout of
``EIGENTEXT_DATA``. Nothing is downloaded unless the user asks for it.

============ ============================================== ======================================
name         what                                           where in ``EIGENTEXT_DATA``
============ ============================================== ======================================
brown        Brown corpus: 57,340 sentences, 1,161,192      nltk_data/corpora/brown, or brown.zip
             tokens, tagged; for non-commercial use
text8        Wikipedia of 2006 in lower case, one stream    text/text8, or its first 12.6 million
             of words (GFDL)                                tokens, text/text8-prefix.txt.xz
enwiki-30m   Wikipedia of 2015, cased, a paragraph a line,  text/enwiki-30m.tok.txt.xz
             30,000,010 tokens (CC BY-SA 3.0)
20news       20 newsgroups by date: 11,314 and 7,532        topics/20news.jsonl.xz
             posts, each with its group
reuters      Reuters-21578 by its "ModApte" split: 9,603    topics/reuters21578.jsonl.xz
             and 3,299 stories with lists of topics; for
             research
penn-sample  NLTK's sample of the Penn treebank, by files:  nltk_data/corpora/treebank, or
             3,501, 217 and 196 trees to train, develop and treebank.zip
             test on (LDC; for non-commercial use)
gum          GUM's constituents by its own split: 10,224,   treebanks/gum/train.ptb.xz, dev.ptb.xz
             1,575 and 1,464 trees, automatic parses (CC    and test.ptb.xz
             BY 4.0, some texts for non-commercial use)
conll2000    chunks of Wall Street Journal sections 15 to   nltk_data/corpora/conll2000, or
             18 and 20: 8,936 and 2,012 sentences, with     conll2000.zip
             parts of speech (by a tagger)
conll2002-es named entities in Spanish news: 8,323, 1,915   nltk_data/corpora/conll2002, or
             and 1,517 sentences, with parts of speech; for conll2002.zip
             research
conll2002-nl the same in Dutch: 15,806, 2,895 and 5,195
             sentences
wnut17       emerging entities in tweets and the like:      ner/wnut17/train.conll, dev.conll and
             3,394, 1,009 and 1,287 sentences (CC BY 4.0)   test.conll
python-docs  documentation of NumPy, SciPy and scikit-learn always there: read from the installed
             in lower case, a paragraph a line              sources
toy-treebank trees drawn from a small grammar with hidden   always there: drawn when it is loaded
             labels: 1,000 and 200
============ ============================================== ======================================
"""

import difflib
import json
import lzma
import os
import re
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, overload

from eigentext.corpus._download import BROKEN, fetch
from eigentext.corpus._places import Dataset, candidates, not_found
from eigentext.corpus.conll import parse_conll
from eigentext.corpus.reading_trees import read_trees
from eigentext.corpus.text import TextCorpus
from eigentext.corpus.trees import Tree, parse_trees
from eigentext.errors import CorpusError, ParameterError

TaggedSentences = list[list[tuple[str, str]]]
ChunkedSentences = list[list[tuple[str, str, str]]]
Label = TypeVar("Label")
Split = Literal["train", "test", "all"]
DevSplit = Literal["train", "dev", "test", "all"]

_BROWN_FILE = re.compile(r"(?:.*/)?(c[a-r]\d\d)")
_N_BROWN_FILES = 500
_PENN_FILE = re.compile(r"(?:.*/)?combined/(wsj_\d{4}\.mrg)")
_PENN_SPLIT = {"train": range(1, 170), "dev": range(170, 185), "test": range(185, 200)}
_CONLL2002 = {"train": "train", "dev": "testa", "test": "testb"}
_DEV_SPLITS = ("train", "dev", "test", "all")
# How quoted lines begin, and phrases of lines that introduce a quotation.
_QUOTES = (">", "|", "In article", "Quoted from")
_QUOTING = ("writes in", "writes:", "wrote:", "says:", "said:")


@dataclass(frozen=True)
class LabelledTexts(Generic[Label]):
    """Documents with labels: three lists of the same length."""

    texts: list[str]
    labels: list[Label]
    ids: list[str]

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        return f"LabelledTexts({len(self)} texts)"


@overload
def load_dataset(
    name: Literal["20news"], *, split: Split = "train", clean: bool = True, download: bool = False
) -> LabelledTexts[str]: ...
@overload
def load_dataset(
    name: Literal["reuters"], *, split: Split = "train", download: bool = False
) -> LabelledTexts[list[str]]: ...
@overload
def load_dataset(
    name: Literal["penn-sample", "gum", "toy-treebank"],
    *,
    split: DevSplit = "train",
    download: bool = False,
) -> list[Tree]: ...
@overload
def load_dataset(
    name: Literal["conll2000"],
    *,
    split: Split = "train",
    tagged: bool = True,
    download: bool = False,
) -> ChunkedSentences: ...
@overload
def load_dataset(
    name: Literal["conll2002-es", "conll2002-nl"],
    *,
    split: DevSplit = "train",
    tagged: bool = True,
    download: bool = False,
) -> ChunkedSentences: ...
@overload
def load_dataset(
    name: Literal["wnut17"],
    *,
    split: DevSplit = "train",
    tagged: bool = True,
    download: bool = False,
) -> TaggedSentences: ...
@overload
def load_dataset(
    name: str, *, tagged: Literal[False] = False, download: bool = False
) -> TextCorpus: ...
@overload
def load_dataset(
    name: str, *, tagged: Literal[True], download: bool = False
) -> TaggedSentences: ...
def load_dataset(
    name: str,
    *,
    tagged: bool = False,
    split: str | None = None,
    clean: bool | None = None,
    download: bool = False,
) -> Any:
    """A corpus by its name, such as "brown", "20news" or "penn-sample".

    Parameters
    ----------
    name : str
        "brown", "text8", "enwiki-30m", "20news", "reuters", "penn-sample", "gum", "conll2000",
        "conll2002-es", "conll2002-nl", "wnut17", "python-docs" or "toy-treebank". The last two
        are always there.
    tagged : bool
        Return words with their tags ("brown"). The CoNLL data sets and "wnut17" always have tags.
    split : "train", "dev", "test" or "all"
        Which documents of "20news" (the earlier and the later posts; no "dev") or "reuters" (the
        ModApte split: LEWISSPLIT is TRAIN or TEST, and TOPICS is YES; no "dev"), or which trees of
        "penn-sample" (the files wsj_0001 to 0169, 0170 to 0184, 0185 to 0199) or "gum", or which
        sentences of "conll2000" (no "dev"), "conll2002-es" and "-nl" (testa is "dev", testb
        "test"), "wnut17" or "toy-treebank" (no "dev"). The default is "train".
    clean : bool
        For "20news": keep only the text of the writer (the default). This removes the header up to
        the first blank line, the last block after a line that is blank or consists of dashes
        (usually a signature), and quotations with the lines that introduce them. These are the
        rules of scikit-learn's ``remove=("headers", "footers", "quotes")``. Some posts become
        empty.
    download : bool
        If the data set is not found, download it into the cache (``EIGENTEXT_CACHE``). This works
        for "brown", "penn-sample" and "conll2000", for non-commercial use, from the collection of
        NLTK (``EIGENTEXT_DOWNLOADS`` names another address with the same files).

    Returns
    -------
    TextCorpus
        One list of words per sentence ("brown", files ca01 to cr09 in order), per paragraph
        ("enwiki-30m", "python-docs"), or for the whole text ("text8", a stream). It can be read
        many times. ``[word for unit in corpus for word in unit]`` is one stream of words.
    list of lists of (word, tag)
        The same sentences, with `tagged`. The tags of "wnut17" are B-person, I-person, O, ...
    list of lists of (word, part of speech, chunk tag)
        For "conll2000" (chunk tags B-NP, I-NP, O, ...) and "conll2002-es" and "-nl" (B-PER, I-PER,
        O, ...), without the lines that begin documents. In Spanish, one sentence of each part
        begins with I-, which :func:`eigentext.corpus.iob1_to_bio` corrects. For a chunk tagger,
        :func:`eigentext.corpus.factored` turns tokens into ("word|part", chunk tag).
    LabelledTexts
        For "20news" and "reuters": ``texts``, ``labels`` (the group of a post; the list of topics
        of a story, often empty) and ``ids``, in the order of the file. The text of a story is its
        title, a blank line, and its body. Some stories have neither.
    list of Tree
        For "penn-sample" and "gum", unchanged: with function tags, traces and a root, which
        :func:`normalize_tree` removes. Also for "toy-treebank".

    Raises
    ------
    CorpusError
        If the data set is not found (the message lists all places) or is damaged.

    Examples
    --------
    >>> import eigentext as et
    >>> brown = et.load_dataset("brown")  # doctest: +SKIP
    >>> next(iter(brown))[:5]  # doctest: +SKIP
    ['The', 'Fulton', 'County', 'Grand', 'Jury']
    >>> et.load_dataset("brown", tagged=True)[0][0]  # doctest: +SKIP
    ('The', 'at')
    >>> news = et.load_dataset("20news", split="test")  # doctest: +SKIP
    >>> len(news), news.labels[0], news.ids[0]  # doctest: +SKIP
    (7532, 'alt.atheism', 'alt.atheism/53068')
    >>> len(et.load_dataset("penn-sample", split="dev"))  # doctest: +SKIP
    217
    >>> et.load_dataset("conll2000")[0][:2]  # doctest: +SKIP
    [('Confidence', 'NN', 'B-NP'), ('in', 'IN', 'B-PP')]
    """
    dataset = _named(name)
    if tagged and not (dataset.tagged or dataset.always_tagged):
        raise ParameterError(f"{name} has no tags; load it without tagged=True")
    options = {"split": split, "clean": clean}
    options = {option: value for option, value in options.items() if value is not None}
    for option, value in options.items():
        if option not in dataset.options:
            raise ParameterError(f"{name} has no {option}; load it without {option}={value!r}")
    if split not in (None, *dataset.splits):
        *most, last = map(repr, dataset.splits)
        raise ParameterError(f"split must be {', '.join(most)} or {last}, not {split!r}")
    if not dataset.places:  # it is made here
        return dataset.read(**options)
    path = next(filter(os.path.exists, candidates(dataset)), None)
    if path is None and download:
        path = fetch(dataset)
    if path is None:
        raise not_found(dataset)
    try:
        content = dataset.read(path, **options)
    except CorpusError:
        raise
    except BROKEN as error:
        raise CorpusError(f"{path}: cannot be read ({error}); get it again") from error
    if not dataset.tagged or tagged:
        return content
    return TextCorpus([[word for word, _ in sentence] for sentence in content], kind="tokens")


# Reading.


def _read_brown(place: Path) -> TaggedSentences:
    files = sorted(_files(place, _BROWN_FILE))
    if len(files) != _N_BROWN_FILES:
        raise ValueError(f"it has {len(files)} of the {_N_BROWN_FILES} files")
    pairs: dict[str, tuple[str, str]] = {}  # most tokens occur often, so each pair is stored once
    sentences: TaggedSentences = []
    for name, data in files:
        for number, line in enumerate(data.split(b"\n"), start=1):
            try:
                tokens = line.decode().split()
                for token in tokens:
                    if token not in pairs:
                        pairs[token] = _word_and_tag(token)
            except ValueError as error:
                raise ValueError(f"{name}, line {number}: {error}") from error
            if tokens:
                sentences.append([pairs[token] for token in tokens])
    return sentences


def _word_and_tag(token: str) -> tuple[str, str]:
    word, _, tag = token.rpartition("/")  # words may contain slashes, tags may not
    if not word or not tag or "\0" in token:
        raise ValueError(f"{token!r} is not word/tag")
    return sys.intern(word), sys.intern(tag)


def _files(place: Path, pattern: re.Pattern[str]) -> Iterator[tuple[str, bytes]]:
    """The names and contents of the files that match, in a folder or a zip file of it."""
    if place.is_dir():
        for path in place.rglob("*"):
            if (match := pattern.fullmatch(path.as_posix())) and path.is_file():
                yield match[1], path.read_bytes()
        return
    with zipfile.ZipFile(place) as archive:
        for name in archive.namelist():
            if match := pattern.fullmatch(name):
                yield match[1], archive.read(name)


def _read_stream(path: Path) -> TextCorpus:
    return TextCorpus(path, unit="stream")


def _read_newsgroups(path: Path, split: Split = "train", clean: bool = True) -> LabelledTexts[str]:
    posts = _records(path, "split", "group", "id", "text")
    texts, labels, ids = [], [], []
    for group, number, text in _of_split(split, posts):
        texts.append(_message(text) if clean else text)
        labels.append(sys.intern(group))
        ids.append(f"{group}/{number}")  # a post in two groups may have the same number
    return LabelledTexts(texts, labels, ids)


def _message(post: str) -> str:
    """A post without its header, signature and quotations."""
    _, _, body = post.partition("\n\n")
    lines = body.strip().split("\n")
    borders = [number for number, line in enumerate(lines) if not line.strip().strip("-")]
    if borders and borders[-1] > 0:
        body = "\n".join(lines[: borders[-1]])
    return "\n".join(line for line in body.split("\n") if not _is_quotation(line))


def _is_quotation(line: str) -> bool:
    return line.startswith(_QUOTES) or any(phrase in line for phrase in _QUOTING)


def _read_reuters(path: Path, split: Split = "train") -> LabelledTexts[list[str]]:
    fields = ("lewissplit", "has_topics", "newid", "topics", "title", "body")
    indexed = (
        (use.lower(), *story)
        for use, has_topics, *story in _records(path, *fields)
        if has_topics == "YES"
    )
    texts, labels, ids = [], [], []
    for number, topics, title, body in _of_split(split, indexed):
        texts.append("\n\n".join(filter(None, (title, body))))
        labels.append(list(map(sys.intern, topics)))
        ids.append(number)
    return LabelledTexts(texts, labels, ids)


def _read_penn(place: Path, split: DevSplit = "train") -> list[Tree]:
    files = dict(_files(place, _PENN_FILE))
    trees: list[Tree] = []
    for part, numbers in _PENN_SPLIT.items():
        names = [f"wsj_{number:04}.mrg" for number in numbers]
        if missing := [name for name in names if name not in files]:
            raise ValueError(f"it lacks combined/{missing[0]}")
        if split in (part, "all"):
            for name in names:
                trees += parse_trees(files[name].decode(), f"{place}: {name}")
    return trees


def _read_gum(folder: Path, split: DevSplit = "train") -> list[Tree]:
    parts = ("train", "dev", "test") if split == "all" else (split,)
    return read_trees((folder / f"{part}.ptb.xz" for part in parts), dialect="penn")


def _read_conll(
    place: Path, names: dict[str, str], n_columns: int, split: str = "train"
) -> list[list[tuple[Any, ...]]]:
    """Sentences in columns; `names` are the files of each part of the split."""
    files = dict(_files(place, re.compile(rf"(?:.*/)?({'|'.join(names.values())})")))
    sentences: list[list[tuple[Any, ...]]] = []
    for part, name in names.items():
        if name not in files:
            raise ValueError(f"it lacks {name}")
        if split in (part, "all"):
            try:
                sentences += parse_conll(files[name], n_columns)
            except ValueError as error:
                raise ValueError(f"{name}, {error}") from error
    return sentences


def _of_split(split: Split, documents: Iterator[tuple[Any, ...]]) -> Iterator[list[Any]]:
    """The documents whose first field names the split, without that field."""
    wanted = ("train", "test") if split == "all" else (split,)
    return (document for part, *document in documents if part in wanted)


def _records(path: Path, *fields: str) -> Iterator[tuple[Any, ...]]:
    """The named fields of each line, which is a JSON object."""
    with lzma.open(path) as lines:
        for number, line in enumerate(lines, start=1):
            try:
                record = json.loads(line)
                yield tuple(record[field] for field in fields)
            except (ValueError, LookupError, TypeError) as error:
                raise ValueError(f"line {number}: {error!r}") from error


def _python_docs() -> TextCorpus:
    from eigentext.corpus.prose import docstring_prose

    return TextCorpus(docstring_prose(), kind="texts")


def _toy_treebank(split: str = "train") -> list[Tree]:
    from eigentext.corpus.toy_treebank import sampled_trees

    parts = {"train": sampled_trees(1000), "test": sampled_trees(200, seed=1)}
    return parts[split] if split in parts else [*parts["train"], *parts["test"]]


_DATASETS = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            "brown",
            ("nltk_data/corpora/brown", "nltk_data/corpora/brown.zip"),
            _read_brown,
            tagged=True,
            download="corpora/brown.zip",
        ),
        Dataset("python-docs", (), _python_docs),
        Dataset("toy-treebank", (), _toy_treebank, options=("split",)),
        Dataset("enwiki-30m", ("text/enwiki-30m.tok.txt.xz",), TextCorpus),
        Dataset("text8", ("text/text8", "text/text8-prefix.txt.xz"), _read_stream),
        Dataset(
            "20news", ("topics/20news.jsonl.xz",), _read_newsgroups, options=("split", "clean")
        ),
        Dataset("reuters", ("topics/reuters21578.jsonl.xz",), _read_reuters, options=("split",)),
        Dataset(
            "penn-sample",
            ("nltk_data/corpora/treebank", "nltk_data/corpora/treebank.zip"),
            _read_penn,
            options=("split",),
            splits=_DEV_SPLITS,
            download="corpora/treebank.zip",
        ),
        Dataset(
            "gum",
            ("treebanks/gum",),
            _read_gum,
            options=("split",),
            splits=_DEV_SPLITS,
        ),
        Dataset(
            "conll2000",
            ("nltk_data/corpora/conll2000", "nltk_data/corpora/conll2000.zip"),
            partial(_read_conll, names={"train": "train.txt", "test": "test.txt"}, n_columns=3),
            always_tagged=True,
            options=("split",),
            download="corpora/conll2000.zip",
        ),
        *(
            Dataset(
                name,
                ("nltk_data/corpora/conll2002", "nltk_data/corpora/conll2002.zip"),
                partial(
                    _read_conll,
                    names={part: f"{of}.{end}" for part, end in _CONLL2002.items()},
                    n_columns=3,
                ),
                always_tagged=True,
                options=("split",),
                splits=_DEV_SPLITS,
            )
            for name, of in (("conll2002-es", "esp"), ("conll2002-nl", "ned"))
        ),
        Dataset(
            "wnut17",
            ("ner/wnut17",),
            partial(
                _read_conll,
                names={part: f"{part}.conll" for part in ("train", "dev", "test")},
                n_columns=2,
            ),
            always_tagged=True,
            options=("split",),
            splits=_DEV_SPLITS,
        ),
    )
}


def _named(name: str) -> Dataset:
    if name in _DATASETS:
        return _DATASETS[name]
    asked = str(name).lower()
    close = [known for known in _DATASETS if asked and known.startswith(asked)]
    close = close or difflib.get_close_matches(asked, _DATASETS, n=1)
    hint = f"did you mean {' or '.join(map(repr, close))}? " if close else ""
    raise ParameterError(f"no data set {name!r}; {hint}Known: {', '.join(_DATASETS)}")
