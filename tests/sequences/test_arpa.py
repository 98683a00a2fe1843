r"""ARPA files: known answers, files of other tools, damaged files, and KenLM beside us."""

import gzip
import math
import pickle
import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eigentext as et
from eigentext import KneserNey, TextCorpus
from eigentext.errors import CorpusError, EigentextError, ParameterError
from eigentext.sequences import Interpolation
from eigentext.sequences.arpa import read_arpa

# By hand, as SRILM writes: -99 for <s>, back-off weights only where there are longer n-grams.
SRILM = """
\\data\\
ngram 1=5
ngram 2=4
ngram 3=1

\\1-grams:
-0.5\t</s>
-99\t<s>\t-0.25
-1\ta\t-0.125
-0.75\tb\t0.0625
-2\t<unk>

\\2-grams:
-0.25\t<s> a\t-0.5
-0.375\ta b
-0.0625\tb </s>
-0.875\ta <unk>

\\3-grams:
-0.1875\t<s> a b

\\end\\
"""
UNITS = st.lists(st.text("abcde", max_size=12).map(list), min_size=1, max_size=8)


def fitted(tokens, order=3, **settings):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "too little text")
        return KneserNey(order, **settings).fit(tokens)


@pytest.fixture
def written(tmp_path):
    """A file with this content."""

    def write(text, name="model.arpa"):
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


@pytest.fixture
def through_a_file(tmp_path):
    """What comes back from an ARPA file."""

    def pass_through(model, name="model.arpa", **settings):
        model.to_arpa(tmp_path / name)
        return KneserNey.from_arpa(tmp_path / name, **settings)

    return pass_through


def logs(model, text, **settings):
    return model.log_probabilities(text, **settings) / math.log(10)


# Known answers.


def test_a_file_by_hand(written):
    model = KneserNey.from_arpa(written(SRILM))
    assert model.vocabulary_.words == ["a", "b"]
    assert model.get_params() == {"order": 3, "min_count": 1, "prune": ()}
    assert model.diagnostics_["ngrams"] == [5, 4, 1]
    # <s> a b is listed, b </s> ends it; b(a b) = 1 because no weight is given.
    assert np.allclose(logs(model, [["a", "b"]]), [-0.25, -0.1875, -0.0625])
    # <s> b: b(<s>) p(b). Then <s> b a: b(<s> b) = 1, b(b) p(a). Then b a </s>: b(a) p(</s>).
    assert np.allclose(logs(model, [["b", "a"]]), [-0.25 - 0.75, 0.0625 - 1, -0.125 - 0.5])
    # <s> a <unk>: b(<s> a) p(<unk> | a). Then nothing has a weight.
    known, counted = (logs(model, [["a", "x", "b"]], rare=rare) for rare in (False, True))
    assert np.allclose(counted, [-0.25, -0.5 - 0.875, -0.75, -0.0625])
    assert np.isnan(known).tolist() == [False, True, False, False]
    assert np.log10(model.probability("b", given="a")) == pytest.approx(-0.375)
    p = 10.0 ** np.array([-1, -0.75, -2, -0.5])
    assert np.allclose(model.distribution(), p)
    p = 10 ** np.array([-0.125 - 1, -0.375, -0.875, -0.125 - 0.5])
    assert np.allclose(model.distribution("a"), p)
    assert model.top_next("a", 1) == [("b", pytest.approx(10**-0.1875))]  # after <s>


def test_a_small_model_as_a_file(tmp_path):
    fitted([["to", "be"]], 2).to_arpa(tmp_path / "be.arpa")
    # As in test_one_line_by_hand of Kneser-Ney: 7/24, 1/8; 1/2 + 7/48.
    p, q, r = (f"{math.log10(x):.8f}".rstrip("0") for x in (7 / 24, 1 / 8, 1 / 2 + 7 / 48))
    assert (tmp_path / "be.arpa").read_text() == (
        "\\data\\\nngram 1=5\nngram 2=3\n\n\\1-grams:\n"
        f"{q}\t<unk>\t0\n-99\t<s>\t-0.30103\n{p}\t</s>\t0\n{p}\tbe\t-0.30103\n{p}\tto\t-0.30103\n"
        f"\n\\2-grams:\n{r}\tbe </s>\n{r}\tto be\n{r}\t<s> to\n\n\\end\\\n"
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\t", " "),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\t", "  \t "),
        lambda text: "SRILM says hello\n\\not data\n" + text + "\nsomething after the end\n\\x\\",
        lambda text: text.replace("<unk>", "<UNK>"),
        lambda text: text.replace("-99\t<s>", "0\t<s>"),  # as lmplz of KenLM writes
        lambda text: text.replace("-0.375\ta b", "-0.375\ta b\t0\n"),
        lambda text: text.replace("<s> a b", "<s> a b\t0"),
        lambda text: text.replace("ngram 1=5", "ngram  1 = 5"),
        lambda text: text.replace("-0.5\t", "-5e-1\t"),
        lambda text: "\ufeff" + text,
        lambda text: text.replace("a <unk>\n", "a <unk>\n\n   \n"),
        lambda text: text.replace("\t0.0625", "\t+0.0625"),
    ],
)
def test_other_spellings(written, change):
    text = [["a", "b"], ["b", "x", "a"]]
    expected = logs(KneserNey.from_arpa(written(SRILM)), text, rare=True)
    assert np.allclose(logs(KneserNey.from_arpa(written(change(SRILM))), text, rare=True), expected)


def test_missing_symbols(written):
    lines = (
        "\\data\\\nngram 1=2\nngram 2=1\n\\1-grams:\n-0.5 a -0.1\n-0.6 b\n\\2-grams:\n-0.2 a b\n"
    )
    model = KneserNey.from_arpa(written(f"{lines}\\end\\"))
    assert model.provenance_["options"]["unit"] == "stream"
    assert np.allclose(logs(model, ["b", "a", "b", "a"]), [-0.6, -0.5, -0.2, -0.5])
    assert np.isneginf(logs(model, ["a", "x"], rare=True)[1])
    assert model.perplexity(["a", "x"]) == pytest.approx(10**0.5)
    assert model.perplexity(["a", "x"], unknown="count") == np.inf
    warning, note = model.findings()
    assert warning.sentence == "The probabilities of single words add up to 0.5674, not to 1."
    assert note.severity == "note"
    with pytest.raises(ParameterError, match="no starts"):
        model.distribution(start=True)


def test_missing_beginnings_are_what_back_off_gives(written):
    pruned = SRILM.replace("ngram 3=1", "ngram 3=2").replace(
        "-0.1875\t", "-0.5\tb a b\n-0.1875\t"
    )  # b a is no bigram
    model = KneserNey.from_arpa(written(pruned))
    assert np.log10(model.probability("b", given=["b", "a"])) == pytest.approx(-0.5)
    assert np.log10(model.probability("a", given="b")) == pytest.approx(0.0625 - 1)
    # b a is no context of the file, so its weight is 1.
    assert np.log10(model.distribution(["b", "a"])[0]) == pytest.approx(-0.125 - 1)


def test_a_unit_inside_an_ngram_is_left_out(written):
    strange = SRILM.replace("ngram 2=4", "ngram 2=6").replace(
        "-0.375\t", "-1\ta <s>\n-1\t</s> b\n-0.375\t"
    )
    with pytest.warns(UserWarning, match="left out 2 n-grams in which a unit begins after"):
        model = KneserNey.from_arpa(written(strange))
    text = [["a", "b"], ["b", "x", "a"]]
    assert np.allclose(logs(model, text), logs(KneserNey.from_arpa(written(SRILM)), text),
                       equal_nan=True)  # fmt: skip


# Laws.


@given(UNITS, st.integers(1, 4), st.integers(1, 2), st.booleans(), UNITS)
def test_probabilities_come_back(tmp_path_factory, units, order, min_count, stream, others):
    path = tmp_path_factory.mktemp("arpa") / "model.arpa"
    units, others = [*units, list("abaab")], [*others, list("abfa")]
    if stream:
        units, others = ([w for unit in part for w in unit] for part in (units, others))
    model = fitted(units, order, min_count=min_count)
    model.to_arpa(path)
    again = KneserNey.from_arpa(path)
    assert again.vocabulary_.words == model.vocabulary_.words
    for rare in (True, False):
        a, b = (one.log_probabilities(others, rare=rare) for one in (model, again))
        assert np.allclose(a, b, rtol=0, atol=1e-6, equal_nan=True)
    for context in ((), "a", ["b", "a"], ["f", "a", "b"]):
        assert np.allclose(again.distribution(context), model.distribution(context), atol=1e-7)
    first = path.read_bytes()
    again.to_arpa(path)
    assert path.read_bytes() == first


@given(st.permutations(range(10)))
def test_the_order_of_lines_does_not_matter(tmp_path_factory, order):
    entries = [line for line in SRILM.splitlines() if "\t" in line]
    sections = {1: [], 2: [], 3: []}
    for place in order:
        words = [w for w in re.split(r"\s", entries[place]) if not re.match(r"-?\d", w)]
        sections[len(words)].append(entries[place])
    head = SRILM.partition("\\1-grams")[0]
    body = "".join(f"\\{k}-grams:\n" + "\n".join(v) + "\n" for k, v in sections.items())
    path = tmp_path_factory.mktemp("arpa") / "model.arpa"
    path.write_text(f"{head}{body}\\end\\")
    model, text = KneserNey.from_arpa(path), [["a", "b"], ["b", "x", "a"]]
    path.write_text(SRILM)
    assert np.allclose(
        logs(model, text, rare=True), logs(KneserNey.from_arpa(path), text, rare=True)
    )


def test_large_files_are_read_in_blocks(tmp_path, zipf_lines, monkeypatch):
    corpus = TextCorpus(zipf_lines(300), kind="texts")
    model = fitted(corpus, 3)
    model.to_arpa(tmp_path / "whole.arpa")
    expected = KneserNey.from_arpa(tmp_path / "whole.arpa").log_probabilities(corpus)
    monkeypatch.setattr("eigentext.corpus.readers.BLOCK_BYTES", 97)
    assert np.array_equal(
        KneserNey.from_arpa(tmp_path / "whole.arpa").log_probabilities(corpus), expected
    )
    monkeypatch.setattr("eigentext.sequences.arpa.BLOCK", 7)
    model.to_arpa(tmp_path / "pieces.arpa")
    assert (tmp_path / "pieces.arpa").read_bytes() == (tmp_path / "whole.arpa").read_bytes()


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz", "zst"])
def test_packed_files(tmp_path, through_a_file, zipf_lines, ending):
    corpus = TextCorpus(zipf_lines(100), kind="texts")
    model = fitted(corpus, 2)
    again = through_a_file(model, f"model.arpa.{ending}")
    assert np.allclose(again.log_probabilities(corpus), model.log_probabilities(corpus), atol=1e-6)
    model.to_arpa(tmp_path / "plain")
    if ending == "gz":
        packed = (tmp_path / "model.arpa.gz").read_bytes()
        assert gzip.decompress(packed) == (tmp_path / "plain").read_bytes()
        model.to_arpa(tmp_path / "model.arpa.gz")
        assert (tmp_path / "model.arpa.gz").read_bytes() == packed


def test_integers_become_words(through_a_file):
    again = through_a_file(fitted([[3, 1], [0, 1]], 2))
    assert again.vocabulary_.words == ["0", "1", "2", "3"]
    assert again.probability("1", given="3") > 0.5


# A model from a file is a model.


def test_it_saves_loads_predicts_and_mixes(tmp_path, through_a_file, zipf_lines):
    lines = [line.split() for line in zipf_lines(200)]
    model = fitted(lines, 3, min_count=2)
    again = through_a_file(model)
    again.save(tmp_path / "saved")
    for twin in (et.load(tmp_path / "saved"), pickle.loads(pickle.dumps(again))):
        assert twin.get_params() == again.get_params()
        assert twin.diagnostics_ == again.diagnostics_
        assert twin.provenance_ == again.provenance_
        assert np.array_equal(
            twin.log_probabilities(lines, rare=True), again.log_probabilities(lines, rare=True)
        )
        assert twin.generate(30) == again.generate(30) == model.generate(30)
    assert again.score(lines) == pytest.approx(model.score(lines), abs=1e-6)
    mixture = Interpolation([again, model]).fit(lines[:50])
    assert mixture.perplexity(lines) == pytest.approx(model.perplexity(lines), rel=1e-5)
    with pytest.raises(ParameterError, match="KneserNey has none; put another first"):
        Interpolation([again, model], by_count=True).fit(lines[:50])
    with pytest.raises(AttributeError, match="ARPA file, which has no counts"):
        again.moments_  # noqa: B018
    again.fit(lines)
    assert np.array_equal(again.distribution("w0"), fitted(lines, 3).distribution("w0"))


def test_how_text_is_read_for_it(written):
    model = KneserNey.from_arpa(written(SRILM), lowercase=True)
    assert model.provenance_["options"] == {
        "tokenizer": "whitespace",
        "lowercase": True,
        "unit": "line",
    }
    assert np.array_equal(
        model.log_probabilities([["A", "b"]]), model.log_probabilities([["a", "b"]])
    )
    with pytest.raises(ParameterError, match="tokenizer must be 'whitespace'"):
        KneserNey.from_arpa(written(SRILM), tokenizer="none of those")


def test_another_encoding(written):
    path = written(SRILM.replace("\ta", "\té").replace(" a", " é").encode("latin-1"))
    with pytest.raises(CorpusError, match=r"model\.arpa, line 10: "):
        KneserNey.from_arpa(path)
    assert KneserNey.from_arpa(path, encoding="latin-1").vocabulary_.words == ["é", "b"]


# Mistakes.


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("\\data\\", "\\date\\", r"model.arpa: has no line \\data\\; is this an ARPA file?"),
        ("\\end\\", "", r"ends before its line \\end\\; the file is cut"),
        ("\\2-grams:", "\\3-grams:", r"line 14: '\\\\3-grams:' where \\2-grams: must be"),
        ("\\3-grams:\n-0.1875\t<s> a b\n", "", r"line 21: '\\\\end\\\\' where \\3-grams: must be"),
        ("ngram 2=4", "ngram 2=3", "line 18: one more 2-gram than the file begins with"),
        ("ngram 2=4", "ngram 2=5", "line 20: 4 2-grams came before this line, but .* 'ngram 2=5'"),
        ("ngram 2=4", "ngram 4=4", "line 4: the number of 4-grams after that of 1-grams"),
        ("ngram 2=4", "ngrams", "line 4: 'ngrams' where a line such as 'ngram 1=1000' must be"),
        ("-0.375\ta b", "-0.375\ta", "line 16: '-0.375 a' is no 2-gram"),
        ("-0.375\ta b", "-0.375\ta b c d", "line 16: '-0.375 a b c d' is no 2-gram"),
        ("-0.375\ta b", "-0.375\ta c", "line 16: 'c' is not among the 1-grams"),
        ("-0.375\ta b", "minus\ta b", "line 16: 'minus' is no logarithm"),
        ("-0.375\ta b", "nan\ta b", "line 16: 'nan' is no logarithm"),
        ("-0.375\ta b", "0.375\ta b", r"line 16: 10\^0.375 is no probability"),
        ("-0.375\ta b", "-0.375\ta b\t99", r"line 16: 10\^99 is no back-off weight"),
        ("-0.375\ta b", "-0.875\ta <unk>", "line 18: this 2-gram is in the file twice"),
        ("-0.75\tb", "-0.75\ta", "line 11: the word 'a' is in the file twice"),
        ("-0.75\tb", "-0.75\t<UNK>", "line 12: the word '<unk>' is in the file twice"),
        ("-0.75\tb", "0.75\tb", r"line 11: 10\^0.75 is no probability"),
        ("-0.75\tb", "-0.75\t\udc80", "line 11: "),
    ],
)
def test_damaged_files_are_refused(written, old, new, why):
    text = SRILM.replace(old, new, 1)
    assert text != SRILM
    with pytest.raises(CorpusError, match=why):
        KneserNey.from_arpa(written(text.encode("utf-8", "surrogateescape")))


def test_files_that_are_something_else(written, tmp_path):
    for content, why in (
        (b"", r"has no line \\data\\"),
        (b"some text\n" * 9, r"has no line \\data\\"),
        (b"mmap lm http://kheafield.com/code format version 5\n\0\0", "a binary file of KenLM"),
        (b"\\data\\\n\\1-grams:\n", "line 2: no line such as 'ngram 1=1000'"),
        (b"\\data\\\nngram 1=0\n\\1-grams:\n\\end\\", "line 4: the file has no words"),
        (b"\\data\\\nngram 1=1\n\\1-grams:\n-1 <s>\n\\end\\", "line 5: the file has no words"),
    ):
        with pytest.raises(CorpusError, match=why):
            read_arpa(written(content))
    with pytest.raises(CorpusError, match="no such file"):
        read_arpa(tmp_path / "missing")
    with pytest.raises(CorpusError, match=r"not a complete \.gz file"):
        read_arpa(written(gzip.compress(SRILM.encode())[:-9], "model.arpa.gz"))


@given(st.data())
def test_any_bytes_are_read_or_refused(tmp_path_factory, data):
    content = bytearray(SRILM.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place : place + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=6))
    path = tmp_path_factory.mktemp("arpa") / "model.arpa"
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = KneserNey.from_arpa(path)
        except EigentextError as error:
            assert str(path) in str(error)
            return
        text = [["a", "b", "x"]] if model.provenance_["options"]["unit"] == "line" else ["a", "x"]
        assert not np.isnan(model.log_probabilities(text, rare=True)).any()
        path.unlink()
        model.to_arpa(path)
        KneserNey.from_arpa(path)


@pytest.mark.parametrize(
    ("word", "why"),
    [("<s>", "has <s> as a word"), ("<unk>", "has <unk> as a word"), ("a b", "contains blanks")],
)
def test_words_that_a_file_cannot_hold(tmp_path, word, why):
    model = fitted([["to", word]], 2)
    with pytest.raises(EigentextError, match=why):
        model.to_arpa(tmp_path / "model.arpa")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_complete_or_not_there(tmp_path, monkeypatch):
    model = fitted([["to", "be"]], 2)
    model.to_arpa(tmp_path / "model.arpa")
    before = (tmp_path / "model.arpa").read_bytes()
    monkeypatch.setattr("eigentext.sequences.arpa._lines", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model.to_arpa(tmp_path / "model.arpa")
    assert (tmp_path / "model.arpa").read_bytes() == before
    with pytest.raises(EigentextError, match="is a folder"):
        model.to_arpa(tmp_path)
    with pytest.raises(Exception, match="not fitted yet"):
        KneserNey().to_arpa(tmp_path / "new.arpa")
    assert [path.name for path in tmp_path.iterdir()] == ["model.arpa"]


# KenLM.


@pytest.fixture
def kenlm(capfd):
    return pytest.importorskip("kenlm")  # prints a bar to standard error


@pytest.mark.parametrize("order", [2, 3, 4])
@pytest.mark.parametrize("min_count", [1, 2])
def test_kenlm_gives_the_same_logarithms(kenlm, tmp_path, zipf_lines, order, min_count):
    lines = [line.split() for line in zipf_lines(300)]
    seen, unseen = lines[:200], [*lines[200:], ["never", "w0", "w1", "never", "never"]]
    model = fitted(seen, order, min_count=min_count)
    model.to_arpa(tmp_path / "model.arpa")
    other = kenlm.Model(str(tmp_path / "model.arpa"))
    assert other.order == order
    for line in unseen:
        text = " ".join(line)
        ours = logs(model, [line], rare=True)
        theirs = [found[0] for found in other.full_scores(text)]
        assert np.allclose(ours, theirs, rtol=0, atol=1e-4)
        assert other.score(text) == pytest.approx(ours.sum(), abs=1e-4)
        # Without <s> and </s>.
        theirs = [found[0] for found in other.full_scores(text, bos=False, eos=False)]
        n = len(model.vocabulary_)
        for t, word in enumerate(line):
            place = model.vocabulary_.ids_of([word])[0]
            p = model.distribution(line[max(0, t - order) : t])[place if place >= 0 else n]
            assert np.log10(p) == pytest.approx(theirs[t], abs=1e-4)


def test_kenlm_reads_streams(kenlm, tmp_path, zipf_lines):
    words = [word for line in zipf_lines(200) for word in line.split()]
    model = fitted(words[:900], 3)
    model.to_arpa(tmp_path / "model.arpa")
    other = kenlm.Model(str(tmp_path / "model.arpa"))
    theirs = [found[0] for found in other.full_scores(" ".join(words), bos=False, eos=False)]
    assert np.allclose(logs(model, words, rare=True), theirs, rtol=0, atol=1e-4)


def test_kenlm_reads_the_same_from_a_file_by_hand(kenlm, written):
    path = written(SRILM)
    model, other = KneserNey.from_arpa(path), kenlm.Model(str(path))
    for line in (["a", "b"], ["b", "a"], ["x", "a", "b"], ["a", "x", "b", "b"]):
        assert logs(model, [line], rare=True).sum() == pytest.approx(other.score(" ".join(line)))


def test_kenlm_on_brown(kenlm, tmp_path, data_folder, monkeypatch):
    monkeypatch.setenv("EIGENTEXT_DATA", str(data_folder))
    lines = [list(line) for line in et.load_dataset("brown")]
    model = fitted(lines[:20_000], 3)
    model.to_arpa(tmp_path / "brown.arpa")
    other = kenlm.Model(str(tmp_path / "brown.arpa"))
    unseen = lines[50_000:50_500]
    again = KneserNey.from_arpa(tmp_path / "brown.arpa")
    for one in (model, again):
        ours, n = logs(one, unseen, rare=True), 0
        for line in unseen:
            own = ours[n : n + len(line) + 1].sum()
            assert own == pytest.approx(other.score(" ".join(line)), abs=1e-4)
            n += len(line) + 1
