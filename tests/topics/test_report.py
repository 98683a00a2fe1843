"""The page about topics: valid, safe, linked, and with the right documents."""

from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import eigentext as et
from eigentext.corpus import documents as corpus_documents
from eigentext.corpus import encode
from eigentext.errors import CorpusError, EigentextError, ParameterError
from eigentext.topics import typical
from eigentext.topics.report import report

FOOD = "ham eggs ham cheese bread butter ham eggs soup salt"
SPORT = "goal team goal match league goal team coach ball score"
LAW = "court judge law court trial judge jury law court appeal"
TEXTS = [FOOD, SPORT, LAW, FOOD + " cheese", SPORT + " match", LAW + " jury"] * 6 + [FOOD] * 5
ANY = st.text(st.characters(exclude_categories=()), max_size=30)
TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=30)


class Page(HTMLParser):
    """Reads a page, and raises an error for tags that do not match."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.open, self.ids, self.links, self.headings = [], [], [], [], []
        self.texts = {}  # the text of each element, by its path
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        attributes = dict(attributes)
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.links += [attributes["href"]] if "href" in attributes else []
        if tag != "meta":
            self.open.append(tag)
        self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        for tag in set(self.open):
            self.texts[tag][-1] += data


@pytest.fixture(scope="module")
def model():
    return et.TopicModel(3, alpha0=0).fit(TEXTS)


def articles(page):
    return page.split("<article ")[1:]


def topic_of(model, word):
    """Return the number of the topic that has the word."""
    return int(np.argmax(model.components_[:, model.vocabulary_[word]]))


def test_words_sizes_and_documents(model):
    page = report(model, TEXTS, n_words=4, n_documents=2)
    assert "<h1>3 topics</h1>" in page
    assert "Learned from 41 documents, " in page
    assert "Each document has one topic." in page
    assert len(articles(page)) == 3
    for start, text, size in (("ham", FOOD, 17 / 41), ("goal", SPORT, 12 / 41)):
        k = topic_of(model, start)
        article = articles(page)[k]
        assert article.startswith(f'id="topic-{k}"')
        assert f"{size:.1%} of the documents" in article
        p = model.components_[k, model.vocabulary_[start]]
        assert f'--w:100.00%"><span lang="" dir="auto">{start}</span> <small>{p:.2%}' in article
        assert article.count("<blockquote") == 2
        for shown in (
            text,
            f"{text} {'cheese' if start == 'ham' else 'match'}",
        ):  # once
            assert article.count(f'<blockquote lang="" dir="auto">{shown}</blockquote>') == 1
        listed = [word for word in model.top_words(4)[k] if f'">{word}</span>' in article]
        assert listed == model.top_words(4)[k]
        assert model.top_words(5)[k][4] not in article.partition("<ol")[2].partition("</ol>")[0]


def test_phrases_and_forms():
    texts = ["the hard drive is new", "old hard drive", "hard drives", "a drive and the disk"] * 9
    for genre in ("ham eggs cheese", "goal team match", "space moon orbit", "law court judge"):
        texts += [f"the {genre} of it", f"{genre} with the {genre}"] * 12
    model = et.TopicModel(5).fit(texts)
    page = report(model, texts, n_words=3)
    for phrases in model.top_phrases(texts, 5):
        for phrase in phrases:
            assert f">{phrase}</span>" in page
    assert ">hard drive</span>" in page
    for word, forms in model.top_words(3).forms.items():
        assert f'title="{", ".join(forms)}">{word}</span>' in page
    assert 'title="drive, drives">drive</span>' in page
    assert report(model, iter(texts), n_words=3) == page
    assert 'class="phrases"' not in report(model) + report(model, model._counts(texts))


def test_documents_on_the_border_name_and_link_the_other_topic():
    model = et.TopicModel(3, alpha0=1).fit(TEXTS)
    both = "ham eggs cheese goal team match " * 9
    page = report(model, [*TEXTS, both])
    food, sport, law = (topic_of(model, word) for word in ("ham", "goal", "court"))
    shares = model.transform([both])[0]
    heading = "<h3>On the border to another topic</h3>"
    for k, other in ((food, sport), (sport, food)):
        _, _, shown = articles(page)[k].partition(heading)
        said = f"{shares[k]:.0%} of document 41, and {shares[other]:.0%} is topic "
        assert f'{said}<a href="#topic-{other}">{other} ' in shown
        assert shown.count("<blockquote") == 1
        assert "ham eggs cheese goal" in shown
    assert heading not in articles(page)[law]
    assert heading not in report(model, TEXTS) + report(model, [both], n_documents=0)


def test_names_of_topics():
    model = et.TopicModel(3, anchors={"<meals>": ["ham"], "games": ["goal"]}).fit(TEXTS)
    page = report(model, TEXTS)
    Page(page)
    assert "<meals>" not in page
    for name, word in (("&lt;meals&gt;", "ham"), ("games", "goal")):
        k = topic_of(model, word)
        heading = articles(page)[k].partition("</h2>")[0]
        assert f'<b>{k}</b> <i lang="" dir="auto">{name}</i> <span' in heading
        overview = page.partition("</nav>")[0]
        assert f'<i lang="" dir="auto">{name}</i>' in overview
    assert "<i " not in articles(page)[topic_of(model, "court")].partition("</h2>")[0]


def test_topics_come_by_size_with_bars(model):
    overview = report(model).partition("<article")[0]
    places = [overview.index(f'href="#topic-{k}"') for k in range(3)]
    assert places == sorted(places)
    assert overview.count("--w:100.00%") >= 1
    assert f"--w:{model.weights_[2] / model.weights_[0]:.2%}" in overview


@pytest.mark.parametrize("documents", [None, TEXTS])
def test_a_page_that_needs_nothing_else(model, documents):
    page = report(model, documents)
    read = Page(page)
    assert not {"script", "link", "img", "iframe", "object"} & set(read.tags)
    for outside in ("http:", "https:", "url(", "@import", "src="):
        assert outside not in page
    assert len(set(read.ids)) == len(read.ids)
    assert {link.removeprefix("#") for link in read.links} <= set(read.ids)
    assert all(link.startswith("#") for link in read.links)
    assert all(f"topic-{k}" in read.ids for k in range(3))
    levels = [int(tag[1]) for tag in read.tags if tag in ("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert ("h3" in read.tags) == (documents is not None)
    for needed in ('lang="en"', "prefers-color-scheme", "width=device-width", 'charset="utf-8"'):
        assert needed in page


@given(st.lists(TEXT, min_size=1, max_size=3), ANY)
def test_nothing_in_a_text_or_a_name_becomes_html(model, pieces, title):
    plain = report(model, [FOOD], titles=["title"])
    for piece in (*pieces, "</blockquote><script>", "&lt;", "\"'>"):
        page = report(model, [f"{FOOD} {piece}"], titles=[f"x{title}"])
        page.encode()
        assert Page(page).tags == Page(plain).tags
        (quoted,) = Page(page).texts["blockquote"]
        assert letters(piece) in letters(quoted)


def letters(text):
    return "".join(c for c in text if c.isalpha() and c.isascii())


def test_nothing_in_a_word_becomes_html():
    tokens = [["<b>", "&amp;", '"', "</ol>", "\x01"] * 3, ["a", "b", "c", "d", "e"] * 3] * 9
    model = et.TopicModel(2).fit(tokens)
    read = Page(report(model, tokens))
    assert "b" in read.tags  # the tags of the page itself
    assert read.tags.count("b") == 2 * 2  # in the overview, and in the heading
    assert "&amp;" in read.texts["ol"][-1] + read.texts["ol"][-2]
    assert "\x01" not in report(model, tokens)


def test_every_form_of_documents(model, tmp_path):
    names = []
    for number, text in enumerate([FOOD, SPORT, "", LAW]):
        names.append(tmp_path / f"{number}.txt")
        names[-1].write_text(text.upper() + "\n")
    lines = tmp_path / "lines.txt"
    lines.write_text(f"{FOOD}\n\n99 1\n{SPORT}\n{LAW}\n")
    tokens = [text.split() for text in (FOOD, SPORT, LAW)]
    counts = model._counts([FOOD, SPORT, LAW])
    for documents, named, shown in (
        ([FOOD, SPORT, LAW], ("document 0", "document 1", "document 2"), FOOD),
        (tokens, ("document 0", "document 1", "document 2"), FOOD),
        (counts, ("document 0", "document 1", "document 2"), None),
        (counts.toarray(), ("document 0", "document 1", "document 2"), None),
        (encode(et.TextCorpus(tokens)), ("document 0", "document 1", "document 2"), None),
        (names, (names[0], names[1], names[3]), FOOD.upper()),
        (et.TextCorpus(lines), ("line 1", "line 4", "line 5"), FOOD),
        (et.TextCorpus([lines, lines]), (f"{lines}, line 1", f"{lines}, line 4"), FOOD),
    ):
        page = report(model, documents, n_documents=1)
        for word, name in zip(("ham", "goal", "court"), named):
            article = articles(page)[topic_of(model, word)]
            assert f"<small>100% of {name}</small>" in article
        assert ("<blockquote" in page) == (shown is not None)
        assert shown is None or shown in page


def test_titles(model):
    page = report(model, [FOOD, SPORT], titles=["A menu", "A <game>"])
    assert "100% of A menu<" in page
    assert "100% of A &lt;game&gt;<" in page
    for wrong in ([], ["one"], ["1", "2", "3"]):
        with pytest.raises(ParameterError, match=f"{len(wrong)} titles for 2 documents; give one"):
            report(model, [FOOD, SPORT], titles=wrong)


def test_batches_change_nothing(model, monkeypatch):
    texts, counts = [*TEXTS, "goal " * 12], model._counts(TEXTS)
    whole = report(model, texts), report(model, counts)
    monkeypatch.setattr(corpus_documents, "_BATCH", 200)
    monkeypatch.setattr(typical, "_ROWS", 3)
    assert (report(model, texts), report(model, counts)) == whole


def test_short_documents_are_typical_of_nothing(model):
    page = report(model, ["goal goal", "goal", "", FOOD, SPORT, LAW], n_documents=9)
    assert "goal goal<" not in page
    assert page.count("<blockquote") == 3
    page = report(model, ["goal goal", "goal", ""], n_documents=9)  # all are short
    assert "goal goal<" in page
    assert "<blockquote" not in report(model, ["", "nothing known"])


def test_long_texts_are_cut_at_a_blank(model):
    text = f"{FOOD} " * 40
    (quoted,) = Page(report(model, [text])).texts["blockquote"]
    assert quoted.endswith(" …")
    assert text.startswith(quoted.removesuffix(" …") + " ")
    assert 180 < len(quoted) <= 222
    (quoted,) = Page(report(model, [f"{'x' * 1000} {FOOD}"])).texts["blockquote"]
    assert quoted == "x" * 220 + " …"


def test_the_summary_of_the_model():
    with pytest.warns(UserWarning, match="support only"):
        short = et.TopicModel(9, refine=0).fit([[*"aabbc"], [*"ccdda"]] * 9 + [[]])
    page = report(short)
    assert "n_topics is 9, but the pairs of words in these documents support only" in page
    assert "1 of 19 documents have no word that was kept" in page
    assert "steps of EM" not in page
    lda = et.TopicModel(2, alpha0=[0.3, 1], method="anchors").fit(TEXTS)
    page = report(lda, perplexity=12.4)
    assert f"Documents mix topics: α₀ = {lda.alpha0_:g}, the best of 0.3, 1.0" in page
    assert "by anchor words and " in page
    assert "The perplexity of held-out documents is 12" in page
    assert "of the text" in page
    one = et.TopicModel(1).fit(TEXTS)
    assert "<h1>One topic</h1>" in report(one)
    assert "Nearest" not in report(one)


def test_the_page_is_written_at_once_or_not_at_all(model, tmp_path):
    path = tmp_path / "page.html"
    page = report(model, ["ham naïve " * 9], path)
    assert path.read_text(encoding="utf-8") == page
    with pytest.raises(CorpusError):
        report(model, [], path)
    assert path.read_text(encoding="utf-8") == page
    with pytest.raises(EigentextError, match="is a folder"):
        report(model, None, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]


def test_mistakes(model):
    with pytest.raises(NotFittedError):
        report(et.TopicModel(2))
    for wrong in ({"n_words": 0}, {"n_documents": -1}):
        with pytest.raises(ParameterError, match=r"n_words=.* and n_documents=.*; show 1 word"):
            report(model, TEXTS, **wrong)
    assert "<blockquote" not in report(model, TEXTS, n_documents=0)
    with pytest.raises(CorpusError, match="a matrix of 2 columns"):
        report(model, np.eye(2))
