"""Every reader with small good files of its own: what fuzzers begin with.

An input is two bytes and a content. The first byte says how the content becomes a file: plain,
packed, or under the ending of a packed file as it is. The second one chooses among the options of
the reader; from 254 up it makes the content long by saying it over and over. A reader must read the
file, or raise an `EigentextError`. What was read must be the same when it is written and read
again, where the library can write it.
"""

import bz2
import contextlib
import gzip
import lzma
import pickle
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from eigentext.corpus.conll import read_conll, write_conll
from eigentext.corpus.documents import in_batches
from eigentext.corpus.encoded import encode
from eigentext.corpus.ngram_counts import read_ngram_counts
from eigentext.corpus.text import TextCorpus
from eigentext.corpus.trees import Tree, normalize_tree, read_trees, write_trees
from eigentext.errors import EigentextError
from eigentext.evaluate.readers import half, kind_of, read_pairs, read_questions
from eigentext.moments.counted_ngrams import trie_of
from eigentext.reranking.candidates import read_candidates, read_structures, write_candidates
from eigentext.words.clusters import WordClusters

LONG = 254
PACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda data: gzip.compress(data, 1),
    ".bz2": lambda data: bz2.compress(data, 1),
    ".xz": lambda data: lzma.compress(data, preset=0),
    ".zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
}
FORMS = [("", False)] * 4 + [(end, True) for end in PACK] + [(end, False) for end in PACK]
_COLUMNS = (("word", "pos", "label"), ("word", "label"), ("word",), ("word", None, None, "label"))
_TOKENIZERS = ("whitespace", "simple", "words", str.split)


class Reader(NamedTuple):
    """How to read a file with the choice of a byte, good contents, and what they are made of."""

    read: Callable[[Path, int], Any]
    good: list[bytes]
    tokens: list[bytes]
    only: Callable[[Path], Any] | None = None  # reads a file, and looks no further


def file_of(data: bytes, folder: Path, n_long: int) -> tuple[Path, int]:
    """The file that an input stands for, and the choice of options.

    Long files have `n_long` bytes.
    """
    form, choice, content = (*data[:2], 0, 0)[0], (*data[1:2], 0)[0], data[2:]
    ending, packs = FORMS[form % len(FORMS)]
    if choice >= LONG and content:
        content *= max(1, n_long // len(content))
    path = folder / f"input.txt{ending}"
    path.write_bytes(PACK[ending](content) if packs else content)
    return path, choice


def attempt(name: str, data: bytes, folder: Path, n_long: int = 1 << 13) -> bool:
    """Whether a reader takes an input; whatever is no `EigentextError` goes through."""
    return attempt_file(name, *file_of(data, folder, n_long))


def attempt_file(name: str, path: Path, choice: int | None = None) -> bool:
    """The same for a file; without a choice, it is read and no more."""
    reader = READERS[name]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # trees may look like another dialect
            if choice is None and reader.only is not None:
                reader.only(path)
            else:
                reader.read(path, choice or 0)
    except EigentextError as error:
        str(error).encode()  # a message that can be printed
        return False
    return True


def _trees(path: Path, choice: int) -> None:
    trees = read_trees(path)
    some = trees[:20]
    for tree in some:
        assert Tree.parse(str(tree)) == tree
        assert pickle.loads(pickle.dumps(tree)) == tree
        with contextlib.suppress(EigentextError):
            normalize_tree(tree)
    other = path.with_name("again.txt")
    write_trees(some, other)
    assert read_trees([other]) == some


def _other_trees(path: Path, choice: int) -> None:
    """The same with a dialect, and maybe with what it cuts, and without bad trees."""
    names = ("auto", "ppche", "cess", "lemma", "tut", "export", "tiger-xml", "auto")
    keep = ("none", "all", "features", "functions")[choice // 8 % 4]
    errors = ("raise", "skip")[choice // 32 % 2]
    trees = read_trees(path, dialect=names[choice % 8], keep=keep, errors=errors)
    assert len(trees) == trees.about.n_trees
    assert trees.about.facts(trees)["n_traces"] >= 0
    some = trees[:20]
    other = path.with_name("again.txt")
    write_trees(some, other)
    assert read_trees(other, dialect="penn") == some


def _conll(path: Path, choice: int) -> None:
    columns = _COLUMNS[choice % len(_COLUMNS)]
    sentences = list(read_conll(path, columns=columns))
    other = path.with_name("again.txt")
    write_conll(sentences, other)
    kept = [name for name in columns if name]
    assert list(read_conll(other, columns=kept)) == sentences


def _columns(path: Path, choice: int) -> None:
    """Columns that are found by looking, or by their names, in several encodings."""
    columns: Any = ("auto", "auto", ("word", "xpos"), ("form", "ner"))[choice % 4]
    encoding = ("utf-8", "latin-1", "utf-16", "cp1252")[choice // 4 % 4]
    errors = ("raise", "skip")[choice // 16 % 2]
    for sentence in read_conll(path, columns=columns, encoding=encoding, errors=errors):
        assert sentence
        assert all(len(token) > 1 and all(token) for token in sentence)


def _counts(path: Path, choice: int) -> None:
    counts = read_ngram_counts(
        path,
        order=(None, 1, 2, 3)[choice % 4],
        lowercase=bool(choice // 4 % 2),
        errors=("raise", "skip")[choice // 8 % 2],
    )
    parts = trie_of(counts)
    assert (parts["unigrams"] >= 0).all()
    assert sum(len(rows) for rows, _ in counts.tables.values()) > 0


def _tables(path: Path, choice: int) -> None:
    kinds = {"{": "jsonl", "P": "parquet", "A": "arrow"}
    first = path.read_bytes()[:1].decode("latin-1")
    kind = kinds.get(first, ("csv", "tsv", "jsonl", "csv")[choice % 4])
    table = path.rename(path.with_name(f"table.{kind}{path.suffix.replace('.txt', '')}"))
    errors = ("strict", "replace", "skip")[choice // 4 % 3]
    name = (None, "id")[choice // 12 % 2]
    hook, sys.unraisablehook = sys.unraisablehook, lambda _: None
    try:  # of a row with too many values that is not UTF-8, Arrow also prints a traceback
        corpus = TextCorpus(table, column="text", id=name, errors=errors)
        assert encode(corpus).n_tokens == sum(map(len, corpus))
    finally:
        sys.unraisablehook = hook


def _text(path: Path, choice: int) -> None:
    corpus = TextCorpus(
        path,
        tokenizer=_TOKENIZERS[choice % 4],
        unit=("line", "document", "stream")[choice // 4 % 3],
        lowercase=bool(choice // 12 % 2),
        errors=("strict", "replace")[choice // 24 % 2],
        encoding=("utf-8", "latin-1", "utf-16", "cp1252", "utf-8")[choice // 48 % 5],
    )
    if corpus.unit != "stream":
        for _, part in in_batches(corpus):
            assert part.texts
    encoded = encode(corpus)
    assert encoded.n_tokens == sum(map(len, corpus))


def _candidates(path: Path, choice: int) -> None:
    lists = read_candidates(path)
    other = path.with_name("again.txt")
    write_candidates(lists, other)
    assert read_candidates(other) == lists


def _structures(path: Path, choice: int) -> None:
    assert read_structures(path)


def _paths(path: Path, choice: int) -> None:
    clusters = WordClusters.read_paths(path)
    other = path.with_name("again.txt")
    clusters.to_tsv(other)
    again = WordClusters.read_paths(other)
    assert again.vocabulary_ == clusters.vocabulary_
    assert again.bit_strings_ == clusters.bit_strings_


def _pairs(path: Path, choice: int) -> None:
    pairs = read_pairs(path)
    assert len(half(pairs, "dev")) + len(half(pairs, "test")) == len(pairs)


def _questions(path: Path, choice: int) -> None:
    kind_of(path)
    questions = read_questions(path)
    assert len(half(questions, "dev")) + len(half(questions, "test")) == len(questions)


_BRACKETS = [b"(", b")", b"((", b"))", b"( ", b"(S ", b"-NONE-", b"NP-SBJ", b"=", b"\n"]
_TREE = b"( (S (NP-SBJ-1 (DT the) (NN cat)) (VP (VBZ sleeps) (NP (-NONE- *T*-1)))) )\n"
_HISTORICAL = (
    b"( (IP-MAT (NP-SBJ *con*) (VBD ran-run) (C 0) (NP (N cats-cat)) (CODE <x>)) (ID A,1))\n" * 3
)
_CESS = b"(S (sn.e-SUJ *0*) (gv (vmip3s0 come comer)) (grup.nom.ms (ncms000 pan pan)) (,))\n" * 3
_EXPORT = (
    b"#FORMAT 3\n#BOS 1 1\na\tX\t--\tHD\t500\n,\t$,\t--\t--\t0\nb\tY\t--\tSB\t501\n"
    b"c\tX\t--\tMO\t500\n#500\tVP\t--\tOC\t501\n#501\tS\t--\t--\t0\n#EOS 1\n"
)
_XML = (
    b'<corpus><s><graph root="9"><t id="1" word="a" pos="X"/><t id="2" word="b" pos="Y"/>'
    b'<nt id="9" cat="S"><edge idref="1" label="HD"/><edge idref="2" label="--"/></nt></graph></s>'
    b"</corpus>"
)
_CONLL_U = (
    b"# global = x\n1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n1\tdo\tdo\tAUX\tVB\t_\t0\troot\t_\t_\n"
    b"1.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n2\tnot\tnot\tPART\tRB\t_\t1\tadv\t_\t_\n\n"
)
_CONLL_2003 = b"-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\nrejects VBZ I-VP O\n\n"
_BOOKS = b"a rose\t1999,3,2\t2000,4,4\nrose is\t2001\t5\t1\n"


def _packed_table(write: Callable[[Any, Any], Any]) -> bytes:
    sink = pa.BufferOutputStream()
    write(pa.table({"text": ["a cat", "a dog"], "id": [1, 2]}), sink)
    return sink.getvalue().to_pybytes()


def _write_ipc(rows: Any, sink: Any) -> None:
    with pa.ipc.new_file(sink, rows.schema) as file:
        file.write_table(rows)


_LIST = b"-12.25\t(S (NP (NNS cats)) (VP (VBP sleep)))\n2\t-inf\t(S (X cats) (Y sleep))\n\n\n"
_TAGS = b"-1.5\tcats/NNS sleep/VBP\n-2e3\tand/or/CC (/-LRB-\n\n"
READERS = {
    "trees": Reader(_trees, [_TREE, b"(NP (N cats))(NP (N dogs) (N x y))"], _BRACKETS),
    "dialects": Reader(
        _other_trees, [_HISTORICAL, _CESS], [*_BRACKETS, b"(CODE ", b"(ID x)", b"*T*-1"]
    ),
    "export": Reader(
        _other_trees, [_EXPORT], [b"#BOS 1\n", b"#EOS 1\n", b"#500", b"500", b"\t", b"--", b"%%"]
    ),
    "tiger-xml": Reader(
        _other_trees,
        [_XML],
        [b"<s>", b"</s>", b"<t ", b"<nt ", b"<edge ", b'id="2"', b"/>", b"<!DOCTYPE a [", b"&a;"],
    ),
    "conll": Reader(
        _conll,
        [b"Dogs NNS B-NP\nbark VBP B-VP\n\nYes UH O\n", b"Dogs\tN\n\n-DOCSTART- O\n\na b\n", b"x"],
        [b"\t", b" ", b"\n\n", b"-DOCSTART-", b"\xc2\xa0", b"O", b"\r\n"],
    ),
    "columns": Reader(
        _columns,
        [_CONLL_U, _CONLL_2003, b"el D O\nni\xc3\xb1o N S-X\n\nvio V E-X\n"],
        [b"\t", b"_", b"\n\n", b"1-2\t", b"1.1\t", b"# ", b"# global.columns = ", b"I-X", b"E-X"],
    ),
    "counts": Reader(
        _counts,
        [b"<s> a\t2\na rose\t3\nrose </s>\t2\na\t3\nrose\t3\n", b"a b c\t1\nb c d\t2\n", _BOOKS],
        [b"\t", b" ", b"\n", b"<s>", b"</s>", b"<unk>", b"_END_", b"999999999999999999", b"1,2,3"],
    ),
    "tables": Reader(
        _tables,
        [
            b'id,text\n1,a cat\n2,"a ""dog"""\n',
            b'{"id": 1, "text": "a cat"}\n{"id": 2, "text": "a dog", "x": []}\n',
            _packed_table(pq.write_table),
            _packed_table(_write_ipc),
        ],
        [b",", b"\t", b'"', b"text", b"{", b"}", b"null", b"\n", b"PAR1", b"\\ud800", b"1e999"],
    ),
    "text": Reader(
        _text,
        ["The cat sat.\n\nDon't — “stop”!\n ΣΑΣ İ\r\n".encode(), b"a b c a b", b"x\n" * 20],
        [b"\n", b" ", b"'", b"-", b"\xe2\x80\x99", b"\xc2\xa0", b"\x1c", b"\r\n", b"\xcc\x81"],
        lambda path: encode(TextCorpus(path)),
    ),
    "candidates": Reader(_candidates, [_LIST, _TAGS], [*_BRACKETS, b"\t", b"-1e9", b"inf", b"/"]),
    "structures": Reader(
        _structures, [_TREE, b"cats/NNS sleep/VBP\n\nx/y/Z\n"], [*_BRACKETS, b"/"]
    ),
    "paths": Reader(
        _paths,
        [b"00\tcat\t12\n01\tdog\t7\n1\tham\t3\n", b"0\ta\t1\r\n0\tb\t0\n"],
        [b"\t", b"0", b"1", b"\n", b"99999999999999999999", b"\xd9\xa1"],
    ),
    "pairs": Reader(
        _pairs,
        [
            b"word1\tword2\tscore\ncat\tdog\t7.5\n# note\nsun, ham, 1\n",
            b"a b N 0.5 more\n",
            b"a;b;1",
        ],
        [b"\t", b";", b",", b"nan", b"1e400", b"1_0", b"#", b"\n"],
    ),
    "questions": Reader(
        _questions,
        [b": capitals\nAthens Greece Oslo Norway\n# note\na\tb\tc\td\n", b"a b c d\nx,y,z,w\n"],
        [b":", b"\t", b";", b",", b"#", b"\n", b"word1"],
    ),
}
COMMON = [b"\xef\xbb\xbf", b"\0", b"\xff", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"\xe2\x80\xa8"]


def seeds(name: str) -> list[bytes]:
    """Inputs of good files, in every form."""
    reader = READERS[name]
    plain = [bytes([0, choice]) + good for good in reader.good for choice in (0, 1, LONG)]
    packs = [bytes([form, 0]) + reader.good[0] for form in range(4, 8)]
    packed = [
        bytes([8 + number, 0]) + pack(reader.good[0]) for number, pack in enumerate(PACK.values())
    ]
    return plain + packs + packed
