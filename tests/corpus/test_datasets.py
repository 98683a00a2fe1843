"""Data sets by name: found where people keep them, whole or refused, fetched only when asked."""

import http.server
import json
import lzma
import os
import sys
import tempfile
import threading
import zipfile
from functools import partial
from pathlib import Path

import pytest

import eigentext as et
from eigentext import engine
from eigentext.corpus import _download, _places, datasets
from eigentext.corpus.schemes import find_misfit, iob1_to_bio
from eigentext.errors import CorpusError, ParameterError

FIRST = b"\n\n\tThe/at 1/2/cd and/or/cc ``/`` ./.\n\n\n\tWell/uh-hl !/.-hl\n"
NAMES = [f"c{letter}{number:02}" for letter in "rpjba" for number in range(100)]  # not in order


@pytest.fixture(autouse=True)
def _nowhere(tmp_path, monkeypatch):
    """No data set is found but what a test puts somewhere."""
    for variable in ("EIGENTEXT_DATA", "NLTK_DATA", "EIGENTEXT_DOWNLOADS"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("EIGENTEXT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "prefix"))
    monkeypatch.setattr(_places, "_SYSTEM", (str(tmp_path / "system"),))


def small_brown(mark: str = "", **changes: bytes | None) -> dict[str, bytes]:
    """Files like Brown's: one sentence each, two in the first; `mark` tells them apart."""
    files: dict[str, bytes | None] = {name: f"\t{name}{mark}/nn ./.\n".encode() for name in NAMES}
    files |= {"ca00": FIRST, "README": b"about it", "cats.txt": b"ca01 news"} | changes
    return {name: data for name, data in files.items() if data is not None}


def write_zip(path: Path, files: dict[str, bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.mkdir("brown")
        for name, data in files.items():
            archive.writestr(f"brown/{name}", data)
    return path


def write_folder(path: Path, files: dict[str, bytes]) -> Path:
    path.mkdir(parents=True)
    for name, data in files.items():
        (path / name).write_bytes(data)
    return path


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A folder laid out as EIGENTEXT_DATA is, and named by it."""
    monkeypatch.setenv("EIGENTEXT_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


# Brown.


@pytest.mark.parametrize("write", [write_zip, write_folder])
def test_brown_zipped_and_unpacked(data, write):
    write(data / f"nltk_data/corpora/brown{'.zip' * (write is write_zip)}", small_brown())
    brown = et.load_dataset("brown")
    sentences = list(brown)
    assert list(brown) == sentences  # again from the start
    assert sentences[:3] == [["The", "1/2", "and/or", "``", "."], ["Well", "!"], ["ca01", "."]]
    assert [sentence[0] for sentence in sentences[2:]] == sorted(NAMES)[1:]
    assert brown.options == {"tokenizer": "none", "lowercase": False, "unit": "line"}
    tagged = et.load_dataset("brown", tagged=True)
    assert tagged[0] == [("The", "at"), ("1/2", "cd"), ("and/or", "cc"), ("``", "``"), (".", ".")]
    assert tagged[1] == [("Well", "uh-hl"), ("!", ".-hl")]
    assert [[word for word, _ in sentence] for sentence in tagged] == sentences


def test_the_real_brown(data_folder, monkeypatch):
    monkeypatch.setenv("EIGENTEXT_DATA", str(data_folder))
    if not (data_folder / "nltk_data/corpora/brown.zip").exists():
        pytest.skip("no Brown corpus in the data folder")
    tagged = et.load_dataset("brown", tagged=True)
    assert len(tagged) == 57_340
    assert sum(map(len, tagged)) == 1_161_192
    assert tagged[0][:4] == [
        ("The", "at"),
        ("Fulton", "np-tl"),
        ("County", "nn-tl"),
        ("Grand", "jj-tl"),
    ]
    assert len({word for sentence in tagged for word, _ in sentence}) == 56_057
    brown = et.load_dataset("brown")
    stream = [word for sentence in brown for word in sentence]
    assert stream == [word for sentence in tagged for word, _ in sentence]
    vocabulary = et.Vocabulary.from_corpus([stream[:800_000]], min_count=2)
    assert len(vocabulary) == 24_537  # 24,538 with the symbol of words seen once


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"ca01": None, "cb02": None}, "it has 498 of the 500 files"),
        ({"ca01": b"a/at\n\tb/nn c\n"}, "ca01, line 2: 'c' is not word/tag"),
        ({"ca01": b"/nn"}, "ca01, line 1: '/nn' is not word/tag"),
        ({"ca01": b"a/"}, "ca01, line 1: 'a/' is not word/tag"),
        ({"cr99": b"a/at\n\ncaf\xe9/nn\n"}, "cr99, line 3: .*can't decode byte 0xe9"),
        ({"ca01": b"a\0b/nn"}, r"ca01, line 1: .* is not word/tag"),
    ],
)
@pytest.mark.parametrize("write", [write_zip, write_folder])
def test_a_brown_that_is_not_whole(data, write, changes, reason):
    path = data / f"nltk_data/corpora/brown{'.zip' * (write is write_zip)}"
    write(path, small_brown(**changes))
    with pytest.raises(CorpusError, match=rf"^{path}: cannot be read \({reason}.*get it again"):
        et.load_dataset("brown")


def test_a_zip_that_is_damaged(data):
    path = write_zip(data / "nltk_data/corpora/brown.zip", small_brown())
    whole = path.read_bytes()
    middle = whole.index(b"brown/cj50") + len("brown/cj50") + 3
    flipped = whole[:middle] + bytes([whole[middle] ^ 0x55]) + whole[middle + 1 :]
    for content in (b"", b"no zip", whole[:1000], whole[:-1], flipped):
        path.write_bytes(content)
        with pytest.raises(CorpusError, match=rf"^{path}: cannot be read \(.*get it again"):
            et.load_dataset("brown")


def test_a_brown_without_permission(as_nobody, monkeypatch):
    with tempfile.TemporaryDirectory() as data:
        Path(data).chmod(0o755)
        path = write_zip(Path(data, "nltk_data/corpora/brown.zip"), small_brown())
        path.chmod(0)
        monkeypatch.setenv("EIGENTEXT_DATA", data)
        with as_nobody(), pytest.raises(CorpusError, match=rf"{path}: cannot be read .*Permission"):
            et.load_dataset("brown")


# Text.


def test_text8_is_a_stream(data):
    (data / "text").mkdir(parents=True)
    (data / "text/text8-prefix.txt.xz").write_bytes(lzma.compress(b" anarchism originated as a"))
    corpus = et.load_dataset("text8")
    assert list(corpus) == list(corpus) == [["anarchism", "originated", "as", "a"]]
    assert corpus.unit == "stream"
    (data / "text/text8").write_bytes(b" all of it")
    assert list(et.load_dataset("text8")) == [["all", "of", "it"]]  # the whole rather than a part


def test_enwiki_has_a_paragraph_on_each_line(data):
    (data / "text").mkdir(parents=True)
    path = data / "text/enwiki-30m.tok.txt.xz"
    path.write_bytes(lzma.compress(b"The first .\nThe second .\n"))
    assert list(et.load_dataset("enwiki-30m")) == [["The", "first", "."], ["The", "second", "."]]
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(CorpusError, match=r"enwiki-30m\.tok\.txt\.xz: not a complete \.xz file"):
        list(et.load_dataset("enwiki-30m"))


def test_the_real_texts_begin_as_they_should(data_folder, monkeypatch):
    monkeypatch.setenv("EIGENTEXT_DATA", str(data_folder))
    if not (data_folder / "text").is_dir():
        pytest.skip("no texts in the data folder")
    text8 = et.load_dataset("text8")
    first = text8.tokens_of(next(text8.blocks()))[:4].to_pylist()
    assert first == ["anarchism", "originated", "as", "a"]
    assert len(next(iter(et.load_dataset("enwiki-30m")))) > 5


# Texts with labels.


def write_jsonl(path: Path, *records: dict | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (record if isinstance(record, str) else json.dumps(record) for record in records)
    path.write_bytes(lzma.compress("".join(f"{line}\n" for line in lines).encode()))
    return path


POST = """From: a@b.c (A. Writer)
Subject: Re: what for
Lines: 9

In article <1@x.y> B wrote:
> why?
 > not at the start

Because of it.
C says:
| that

I think.
--
A. Writer, at home

"""


def test_newsgroups(data):
    other = "Subject: x\n\nOne paragraph,\nno signature.\n"
    write_jsonl(
        data / "topics/20news.jsonl.xz",
        {"split": "train", "group": "sci.a", "id": "1", "text": POST},
        {"split": "test", "group": "sci.b", "id": "1", "text": other},
        {"split": "train", "group": "sci.b", "id": "2", "text": "Subject: empty\n\n"},
    )
    news = et.load_dataset("20news")
    assert news.texts == [" > not at the start\n\nBecause of it.\n\nI think.", ""]
    assert (news.labels, news.ids) == (["sci.a", "sci.b"], ["sci.a/1", "sci.b/2"])
    assert len(news) == 2
    assert repr(news) == "LabelledTexts(2 texts)"
    assert et.load_dataset("20news", split="test").texts == ["One paragraph,\nno signature.\n"]
    everything = et.load_dataset("20news", split="all", clean=False)
    assert everything.texts == [POST, other, "Subject: empty\n\n"]
    assert everything.ids == ["sci.a/1", "sci.b/1", "sci.b/2"]


def test_reuters(data):
    def story(number, split, has_topics="YES", **fields):
        about = {"newid": number, "lewissplit": split, "has_topics": has_topics}
        return about | {"topics": [], "title": "", "body": ""} | fields

    write_jsonl(
        data / "topics/reuters21578.jsonl.xz",
        story("1", "TRAIN", title="COCOA", body="Rain.", topics=["cocoa", "rain"]),
        story("2", "TRAIN", "NO", body="Not indexed."),
        story("3", "TRAIN", "BYPASS", body="Nor this."),
        story("4", "NOT-USED", body="Nor that."),
        story("5", "TEST", title="ONLY A TITLE"),
        story("6", "TRAIN", body="Only a body."),
        story("7", "TRAIN"),
    )
    train = et.load_dataset("reuters")
    assert train.texts == ["COCOA\n\nRain.", "Only a body.", ""]
    assert train.labels == [["cocoa", "rain"], [], []]
    assert et.load_dataset("reuters", split="test").texts == ["ONLY A TITLE"]
    assert et.load_dataset("reuters", split="all").ids == ["1", "5", "6", "7"]


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        ("{", r"line 2: JSONDecodeError\("),
        ({"split": "test", "group": "a", "id": "2"}, r"line 2: KeyError\('text'\)"),
        ("[]", r"line 2: TypeError\("),
    ],
)
def test_labelled_texts_that_are_damaged(data, second, reason):
    first = {"split": "train", "group": "a", "id": "1", "text": "x"}
    path = write_jsonl(data / "topics/20news.jsonl.xz", first, second)
    with pytest.raises(CorpusError, match=rf"^{path}: cannot be read \({reason}.*get it again"):
        et.load_dataset("20news")
    for content in (path.read_bytes()[:-5], b"no xz file"):
        path.write_bytes(content)
        with pytest.raises(CorpusError, match=rf"^{path}: cannot be read \(.*get it again"):
            et.load_dataset("20news")


def test_what_is_always_there():
    docs = et.load_dataset("python-docs")
    lines = [next(iter(docs)) for _ in range(2)]
    assert lines[0] == lines[1]
    assert lines[0] == [word.lower() for word in lines[0]]
    train, test = (et.load_dataset("toy-treebank", split=split) for split in ("train", "test"))
    assert (len(train), len(test)) == (1000, 200)
    assert et.load_dataset("toy-treebank") == train
    assert et.load_dataset("toy-treebank", split="all") == train + test
    assert {tree.label for tree in test} == {"S"}


def test_options_a_data_set_does_not_have():
    with pytest.raises(ParameterError, match="brown has no split; load it without split='test'"):
        et.load_dataset("brown", split="test")
    with pytest.raises(ParameterError, match="reuters has no clean; load it without clean=False"):
        et.load_dataset("reuters", clean=False)
    with pytest.raises(ParameterError, match="split must be 'train', 'test' or 'all', not 'dev'"):
        et.load_dataset("20news", split="dev")


def test_the_real_newsgroups(data_folder, monkeypatch):
    monkeypatch.setenv("EIGENTEXT_DATA", str(data_folder))
    if not (data_folder / "topics/20news.jsonl.xz").exists():
        pytest.skip("no newsgroups in the data folder")
    posts = et.load_dataset("20news", split="test", clean=False)
    assert len(posts) == len(set(posts.ids)) == 7_532
    assert len(set(posts.labels)) == 20
    stripping = pytest.importorskip("sklearn.datasets._twenty_newsgroups")  # the same rules
    for post in posts.texts[::5]:
        body = stripping.strip_newsgroup_footer(stripping.strip_newsgroup_header(post))
        assert datasets._message(post) == stripping.strip_newsgroup_quoting(body)


def test_the_real_reuters(data_folder, monkeypatch):
    monkeypatch.setenv("EIGENTEXT_DATA", str(data_folder))
    if not (data_folder / "topics/reuters21578.jsonl.xz").exists():
        pytest.skip("no Reuters stories in the data folder")
    stories = et.load_dataset("reuters", split="all")
    test = et.load_dataset("reuters", split="test")
    assert (len(stories), len(test)) == (9_603 + 3_299, 3_299)  # as its README counts them
    assert stories.texts[0].startswith("BAHIA COCOA REVIEW\n\nShowers continued")
    assert (stories.labels[0], stories.ids[0]) == (["cocoa"], "1")


# Trees.


def small_penn(**changes: bytes | None) -> dict[str, bytes]:
    """Files like those of NLTK's sample of the Penn treebank, a tree each, two in the first."""
    files: dict[str, bytes | None] = {
        f"combined/wsj_{number:04}.mrg": b"\n( (S \n    (NN w%d) ))\n" % number
        for number in reversed(range(1, 200))
    }
    files["combined/wsj_0001.mrg"] = b"( (S (NP-SBJ (NN w1))))\n( (X (NN w1)))\n"
    files |= {"README": b"about it", "raw/wsj_0001": b"w1", "tagged/wsj_0001.pos": b"[ w1/NN ]"}
    files |= {f"combined/{name}.mrg": data for name, data in changes.items()}
    return {name: data for name, data in files.items() if data is not None}


def write_penn(data: Path, how: str, **changes: bytes | None) -> Path:
    corpora = data / "nltk_data/corpora"
    corpora.mkdir(parents=True)
    files = {f"treebank/{name}": content for name, content in small_penn(**changes).items()}
    if how == "zip":
        with zipfile.ZipFile(corpora / "treebank.zip", "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return corpora / "treebank.zip"
    for name, content in files.items():
        (corpora / name).parent.mkdir(parents=True, exist_ok=True)
        (corpora / name).write_bytes(content)
    return corpora / "treebank"


@pytest.mark.parametrize("how", ["zip", "folder"])
def test_penn_sample(data, how):
    write_penn(data, how)
    train = et.load_dataset("penn-sample")
    assert train[0] == et.Tree.parse("( (S (NP-SBJ (NN w1))))")
    splits = {split: et.load_dataset("penn-sample", split=split) for split in ("dev", "test")}
    assert [len(train), *map(len, splits.values())] == [170, 15, 15]
    assert splits["dev"][0].leaves() == ["w170"]
    assert splits["test"][0].leaves() == ["w185"]
    everything = et.load_dataset("penn-sample", split="all")
    assert everything == train + splits["dev"] + splits["test"]
    assert et.load_dataset("penn-sample", split="train") == train


@pytest.mark.parametrize("how", ["zip", "folder"])
def test_a_penn_sample_that_is_not_whole(data, how):
    path = write_penn(data, how, wsj_0190=None, wsj_0002=b"( (S (NN w2)))\n( (S (NN w2))")
    with pytest.raises(CorpusError, match=rf"^{path}: wsj_0002.mrg, line 2: the tree .* never"):
        et.load_dataset("penn-sample")
    with pytest.raises(CorpusError, match=rf"^{path}: cannot be read \(it lacks .*wsj_0190.mrg\)"):
        et.load_dataset("penn-sample", split="dev")


def test_gum(data):
    folder = data / "treebanks/gum"
    folder.mkdir(parents=True)
    for part, line in (("train", "(A a)\n(B b)"), ("dev", "(C c)"), ("test", "(D d)")):
        (folder / f"{part}.ptb.xz").write_bytes(lzma.compress(line.encode()))
    labels = {
        split: [tree.label for tree in et.load_dataset("gum", split=split)]
        for split in ("train", "dev", "test", "all")
    }
    assert labels == {"train": ["A", "B"], "dev": ["C"], "test": ["D"], "all": [*"ABCD"]}
    (folder / "dev.ptb.xz").unlink()
    assert len(et.load_dataset("gum")) == 2
    with pytest.raises(CorpusError, match=r"dev\.ptb\.xz: no such file"):
        et.load_dataset("gum", split="dev")
    with pytest.raises(ParameterError, match="must be 'train', 'dev', 'test' or 'all', not 'eval'"):
        et.load_dataset("gum", split="eval")


def test_the_real_treebanks(data_folder, monkeypatch):
    monkeypatch.setenv("EIGENTEXT_DATA", str(data_folder))
    for place in ("nltk_data/corpora/treebank.zip", "treebanks/gum"):
        if not (data_folder / place).exists():
            pytest.skip(f"no {place} in the data folder")
    sizes = [len(et.load_dataset("gum", split=split)) for split in ("dev", "test")]
    assert sizes == [1_575, 1_464]
    penn = [et.load_dataset("penn-sample", split=split) for split in ("train", "dev", "test")]
    assert list(map(len, penn)) == [3_501, 217, 196]
    assert penn[0][0].leaves()[:2] == ["Pierre", "Vinken"]
    words = [len(et.normalize_tree(tree).leaves()) for split in penn for tree in split]
    assert sum(words) == 94_084


# Chunks.


def write_conll(data: Path, how: str, **changes: bytes | None) -> Path:
    files: dict[str, bytes | None] = {
        "train": b"Dogs NNS B-NP\nbark VBP B-VP\n\nYes UH O\n\n",
        "test": b"No UH O\n",
        "README": b"about it",
    }
    files |= changes
    corpora = data / "nltk_data/corpora"
    kept = {f"conll2000/{name}.txt": text for name, text in files.items() if text is not None}
    (corpora / "conll2000").mkdir(parents=True)
    if how == "zip":
        with zipfile.ZipFile(corpora / "conll2000.zip", "w") as archive:
            for name, text in kept.items():
                archive.writestr(name, text)
        (corpora / "conll2000").rmdir()
        return corpora / "conll2000.zip"
    for name, text in kept.items():
        (corpora / name).write_bytes(text)
    return corpora / "conll2000"


@pytest.mark.parametrize("how", ["zip", "folder"])
def test_conll2000(data, how):
    write_conll(data, how)
    train = et.load_dataset("conll2000")
    assert train == [[("Dogs", "NNS", "B-NP"), ("bark", "VBP", "B-VP")], [("Yes", "UH", "O")]]
    assert et.load_dataset("conll2000", split="test") == [[("No", "UH", "O")]]
    assert len(et.load_dataset("conll2000", split="all", tagged=True)) == 3
    with pytest.raises(ParameterError, match="must be 'train', 'test' or 'all', not 'dev'"):
        et.load_dataset("conll2000", split="dev")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"test": None}, "it lacks test.txt"),
        ({"train": b"a DT O\n\nb NN\n"}, "train.txt, line 3: 'b NN' has 2 columns, not 3"),
        ({"train": b"caf\xe9 NN O\n"}, "train.txt, line 1: byte 0xe9 is not UTF-8"),
    ],
)
@pytest.mark.parametrize("how", ["zip", "folder"])
def test_a_conll2000_that_is_not_whole(data, how, changes, reason):
    path = write_conll(data, how, **changes)
    with pytest.raises(CorpusError, match=rf"^{path}: cannot be read \({reason}.*get it again"):
        et.load_dataset("conll2000")


def test_the_real_conll2000(data_folder, monkeypatch):
    monkeypatch.setenv("EIGENTEXT_DATA", str(data_folder))
    if not (data_folder / "nltk_data/corpora/conll2000.zip").exists():
        pytest.skip("no CoNLL-2000 in the data folder")
    train = et.load_dataset("conll2000")
    assert len(train) == 8_936
    assert sum(map(len, train)) == 211_727
    assert train[0][:2] == [("Confidence", "NN", "B-NP"), ("in", "IN", "B-PP")]


# Entities.


def write_conll2002(data: Path, how: str, **changes: bytes | None) -> Path:
    files: dict[str, bytes | None] = {
        f"{of}.{part}": f"{of}-{part} NP B-LOC\n\nsi Fc O\n".encode()
        for of in ("esp", "ned")
        for part in ("train", "testa", "testb")
    }
    files["ned.train"] = b"-DOCSTART- -DOCSTART- O\nDe Art O\n\n-DOCSTART- -DOCSTART- O\n"
    files |= {f"esp.{name}": text for name, text in changes.items()}
    folder = data / "nltk_data/corpora/conll2002"
    kept = {name: text for name, text in files.items() if text is not None} | {"README": b"x"}
    folder.mkdir(parents=True)
    for name, text in kept.items():
        (folder / name).write_bytes(text)
    if how == "folder":
        return folder
    with zipfile.ZipFile(folder.with_suffix(".zip"), "w") as archive:
        for name in kept:
            archive.write(folder / name, f"conll2002/{name}")
            (folder / name).unlink()
    folder.rmdir()
    return folder.with_suffix(".zip")


@pytest.mark.parametrize("how", ["zip", "folder"])
def test_conll2002(data, how):
    write_conll2002(data, how)
    first = {
        split: et.load_dataset("conll2002-es", split=split)[0][0][0]
        for split in ("train", "dev", "test", "all")
    }
    assert first == {
        "train": "esp-train",
        "dev": "esp-testa",
        "test": "esp-testb",
        "all": "esp-train",
    }
    assert len(et.load_dataset("conll2002-es", split="all", tagged=True)) == 6
    assert et.load_dataset("conll2002-nl") == [[("De", "Art", "O")]]
    assert et.load_dataset("conll2002-nl", split="dev")[0] == [("ned-testa", "NP", "B-LOC")]
    with pytest.raises(ParameterError, match="must be 'train', 'dev', 'test' or 'all', not 'x'"):
        et.load_dataset("conll2002-nl", split="x")


@pytest.mark.parametrize("how", ["zip", "folder"])
def test_a_conll2002_that_is_not_whole(data, how):
    path = write_conll2002(data, how, testb=None, testa=b"a NP O\nb O\n")
    with pytest.raises(CorpusError, match=rf"^{path}: cannot be read \(it lacks esp.testb\)"):
        et.load_dataset("conll2002-es")
    with pytest.raises(CorpusError, match=r"\(esp.testa, line 2: 'b O' has 2 columns, not 3\);"):
        et.load_dataset("conll2002-es", split="dev")
    assert et.load_dataset("conll2002-nl")


def test_wnut17(data):
    folder = data / "ner/wnut17"
    folder.mkdir(parents=True)
    (folder / "train.conll").write_bytes(b"at\tO\nNew York\tB-location\n\t\nhi\tO\n\t\n")
    for part in ("dev", "test"):
        (folder / f"{part}.conll").write_bytes(f"{part}\tO\n".encode())
    train = et.load_dataset("wnut17")
    assert train == [[("at", "O"), ("New York", "B-location")], [("hi", "O")]]
    assert et.load_dataset("wnut17", split="dev", tagged=True) == [[("dev", "O")]]
    everything = et.load_dataset("wnut17", split="all")
    assert everything == [*train, [("dev", "O")], [("test", "O")]]
    (folder / "dev.conll").write_bytes(b"a O\n\nb\tN\tO\n")
    reason = r"dev.conll, line 3: 'b\\tN\\tO' has 3 columns, not 2"
    with pytest.raises(CorpusError, match=rf"^{folder}: cannot be read \({reason}\); get it"):
        et.load_dataset("wnut17", split="dev")


def test_the_real_entities(data_folder, monkeypatch):
    monkeypatch.setenv("EIGENTEXT_DATA", str(data_folder))
    for place in ("nltk_data/corpora/conll2002.zip", "ner/wnut17"):
        if not (data_folder / place).exists():
            pytest.skip(f"no {place} in the data folder")
    sizes = {
        name: [
            (len(sentences), sum(map(len, sentences)))
            for split in ("train", "dev", "test")
            if (sentences := et.load_dataset(name, split=split))
        ]
        for name in ("conll2002-es", "conll2002-nl", "wnut17")
    }
    assert sizes == {
        "conll2002-es": [(8_323, 264_715), (1_915, 52_923), (1_517, 51_533)],
        "conll2002-nl": [(15_806, 202_644), (2_895, 37_687), (5_195, 68_875)],
        "wnut17": [(3_394, 62_730), (1_009, 15_733), (1_287, 23_394)],
    }
    spanish = et.load_dataset("conll2002-es")
    assert spanish[0][:2] == [("Melbourne", "NP", "B-LOC"), ("(", "Fpa", "O")]
    tags = {
        name: [[token[-1] for token in one] for one in et.load_dataset(name, split="all")]
        for name in sizes
    }
    misfits = {
        name: [find_misfit(one, "bio") for one in sentences if find_misfit(one, "bio")]
        for name, sentences in tags.items()
    }
    # A line is blank within three names of the Spanish files.
    broken = [(0, "O", "I-LOC"), (0, "O", "I-LOC"), (0, "O", "I-MISC")]
    assert misfits == {"conll2002-es": broken, "conll2002-nl": [], "wnut17": []}
    assert all(find_misfit(iob1_to_bio(one), "bio") is None for one in tags["conll2002-es"])


# Where it is looked for.


def test_the_order_of_search(tmp_path, monkeypatch):
    here = tmp_path / "here"
    named = os.pathsep.join([str(tmp_path / "one"), "", "~/two"])
    monkeypatch.setenv("NLTK_DATA", named)
    monkeypatch.setenv("EIGENTEXT_DATA", str(here))
    places = [
        here / "nltk_data",
        tmp_path / "one",
        tmp_path / "home/two",
        tmp_path / "home/nltk_data",
        tmp_path / "prefix/nltk_data",
        tmp_path / "prefix/share/nltk_data",
        tmp_path / "prefix/lib/nltk_data",
        tmp_path / "system/nltk_data",
        tmp_path / "cache/data/nltk_data",
    ]
    for number, place in reversed(list(enumerate(places))):
        write_zip(place / "corpora/brown.zip", small_brown(f"-{number}"))
        assert list(et.load_dataset("brown"))[2] == [f"ca01-{number}", "."]
    write_folder(here / "nltk_data/corpora/brown", small_brown("-unpacked"))  # as NLTK prefers
    assert list(et.load_dataset("brown"))[2] == ["ca01-unpacked", "."]


def test_found_nowhere(tmp_path, monkeypatch):
    with pytest.raises(CorpusError) as caught:
        et.load_dataset("brown")
    message = str(caught.value)
    assert message.startswith("brown: not found; searched EIGENTEXT_DATA (not set), NLTK_DATA (")
    for place in ("home/nltk_data", "prefix/share/nltk_data", "system/nltk_data", "cache/data"):
        assert str(tmp_path / place) in message
    assert "set EIGENTEXT_DATA to a folder that contains nltk_data/corpora/brown" in message
    assert "run `python -m nltk.downloader brown`" in message
    assert "load_dataset('brown', download=True)" in message
    with pytest.raises(CorpusError, match=r"run `python -m nltk\.downloader treebank`"):
        et.load_dataset("penn-sample")  # NLTK has another name for it
    monkeypatch.setenv("EIGENTEXT_DATA", "/no/such/folder")
    monkeypatch.setenv("NLTK_DATA", "/nor/this")
    with pytest.raises(CorpusError, match=r"searched /no/such/folder, /nor/this, /.*home"):
        et.load_dataset("brown")
    with pytest.raises(CorpusError) as caught:
        et.load_dataset("text8")
    assert "NLTK" not in str(caught.value)  # which has no text8
    assert "download" not in str(caught.value)
    assert "contains text/text8 or text/text8-prefix.txt.xz" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("bronw", "did you mean 'brown'"),
        ("Brown", "did you mean 'brown'"),
        ("enwiki", "did you mean 'enwiki-30m'"),
        ("20newsgroups", "did you mean '20news'"),
        ("conll2002", "did you mean 'conll2002-es' or 'conll2002-nl'"),
        (
            "wsj",
            "Known: brown, python-docs, toy-treebank, enwiki-30m, text8, 20news",
        ),
        (None, "Known"),
    ],
)
def test_unknown_names(name, hint):
    with pytest.raises(ParameterError, match=f"no data set {name!r}; .*{hint}"):
        et.load_dataset(name)


def test_tags_where_there_are_none():
    with pytest.raises(ParameterError, match="text8 has no tags; load it without tagged=True"):
        et.load_dataset("text8", tagged=True)


# Downloads, from a server of our own.


class Server(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *arguments, asked: list[str], **options):
        self.asked = asked
        super().__init__(*arguments, **options)

    def log_request(self, *_):
        self.asked.append(self.path)

    def log_message(self, *_):
        pass


@pytest.fixture
def server(tmp_path, monkeypatch):
    """The folder that a server on this machine serves, with the list of what it was asked for."""
    folder = tmp_path / "served"
    folder.mkdir()
    asked: list[str] = []
    handler = partial(Server, asked=asked, directory=str(folder))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, args=[0.01], daemon=True).start()
        monkeypatch.setenv("EIGENTEXT_DOWNLOADS", f"http://127.0.0.1:{running.server_port}/all/")
        yield folder, asked
        running.shutdown()


def test_nothing_is_fetched_silently(server):
    folder, asked = server
    write_zip(folder / "all/corpora/brown.zip", small_brown())
    with pytest.raises(CorpusError, match="not found"):
        et.load_dataset("brown")
    assert asked == []


def test_a_download_is_kept(server, tmp_path):
    folder, asked = server
    served = write_zip(folder / "all/corpora/brown.zip", small_brown())
    phases: list[engine.Phase] = []

    class Listener:
        def started(self, phase):
            phases.append(phase)

        def advanced(self, phase):
            pass

        finished = advanced

    with engine.report_to(Listener()):
        fetched = list(et.load_dataset("brown", download=True))
    assert len(fetched) == 501
    assert [(phase.name, phase.done) for phase in phases] == [
        ("download brown", served.stat().st_size)
    ]
    kept = tmp_path / "cache/data/nltk_data/corpora/brown.zip"
    assert kept.read_bytes() == served.read_bytes()
    assert list(kept.parent.iterdir()) == [kept]
    assert list(et.load_dataset("brown", download=True)) == fetched
    assert list(et.load_dataset("brown")) == fetched
    assert asked == ["/all/corpora/brown.zip"]


def test_what_is_here_is_not_fetched(server, data):
    write_zip(data / "nltk_data/corpora/brown.zip", small_brown("-here"))
    assert list(et.load_dataset("brown", download=True))[2] == ["ca01-here", "."]
    assert server[1] == []


@pytest.mark.parametrize("content", [b"", b"<html>log in first</html>", None])
def test_a_server_that_sends_something_else(server, tmp_path, content):
    served = write_zip(server[0] / "all/corpora/brown.zip", small_brown())
    served.write_bytes(served.read_bytes()[:-100] if content is None else content)
    with pytest.raises(CorpusError) as caught:
        et.load_dataset("brown", download=True)
    message = str(caught.value)
    assert message.startswith("brown: not found, and what http://127.0.0.1:")
    assert "/all/corpora/brown.zip sent cannot be read (File is not a zip file); " in message
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


def test_a_server_that_lacks_it(server, tmp_path):
    with pytest.raises(CorpusError) as caught:
        et.load_dataset("brown", download=True)
    message = str(caught.value)
    assert "brown.zip cannot be fetched (HTTP Error 404" in message
    assert str(tmp_path / "home/nltk_data") in message
    assert "nltk.downloader brown" in message
    assert "download=True" not in message  # that was tried
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "no-address", "http://[bad"])
def test_no_network(monkeypatch, address):
    monkeypatch.setenv("EIGENTEXT_DOWNLOADS", address)
    monkeypatch.setenv("no_proxy", "*")
    with pytest.raises(CorpusError) as caught:
        et.load_dataset("brown", download=True)
    assert f"{address}/corpora/brown.zip cannot be fetched (" in str(caught.value)
    assert "set EIGENTEXT_DATA" in str(caught.value)


def test_a_cache_that_cannot_be_written(server, tmp_path, monkeypatch):
    write_zip(server[0] / "all/corpora/brown.zip", small_brown())
    (tmp_path / "file").touch()
    monkeypatch.setenv("EIGENTEXT_CACHE", str(tmp_path / "file"))
    with pytest.raises(CorpusError, match=r"brown\.zip: cannot be written .*set EIGENTEXT_CACHE"):
        et.load_dataset("brown", download=True)


def test_not_everything_is_offered(server):
    for name in ("text8", "enwiki-30m", "20news", "reuters", "gum", "wnut17"):
        with pytest.raises(CorpusError, match=f"{name}: not found, and not offered for download"):
            et.load_dataset(name, download=True)
    assert server[1] == []


def test_the_address_is_safe_by_default():
    assert _download.DOWNLOADS.startswith("https://")
