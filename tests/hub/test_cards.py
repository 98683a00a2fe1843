"""Model cards: the YAML is what was said, and what was said is on the page."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import eigentext as et
from eigentext.errors import ParameterError

yaml = pytest.importorskip("yaml")

TEXT = ["the cat sat here", "the dog sat there", "a cat ran here", "a dog ran there"] * 5
RESULTS = {"WordSim-353": {"Spearman correlation": np.float32(0.5), "coverage": 1}}
SAID = {
    "name": "Small words",
    "license": "cc-by-4.0",
    "language": ["en", "de"],
    "datasets": ["wikipedia", "my own notes"],
    "results": RESULTS,
    "tags": "toy",
}


@pytest.fixture(scope="module")
def words():
    return et.Eigenwords(3, window=2).fit(TEXT)


def front(card):
    """The YAML, read by a library for YAML."""
    start, content, _ = card.split("---\n", 2)
    assert start == ""
    return yaml.safe_load(content)


def test_the_yaml_has_what_the_hub_reads(words):
    assert front(et.hub.card(words, **SAID)) == {
        "library_name": "eigentext",
        "license": "cc-by-4.0",
        "language": ["en", "de"],
        "pipeline_tag": "feature-extraction",
        "tags": ["eigentext", "eigenwords", "toy"],
        "datasets": ["wikipedia"],  # an identifier; the other one is only on the page
        "metrics": ["spearman-correlation", "coverage"],
        "model-index": [
            {
                "name": "Small words",
                "results": [
                    {
                        "task": {"type": "feature-extraction"},
                        "dataset": {"name": "WordSim-353", "type": "wordsim-353"},
                        "metrics": [
                            {
                                "name": "Spearman correlation",
                                "type": "spearman-correlation",
                                "value": 0.5,
                            },
                            {"name": "coverage", "type": "coverage", "value": 1.0},
                        ],
                    }
                ],
            }
        ],
    }


def test_the_page_has_parameters_data_findings_and_results(words):
    card = et.hub.card(words, description="For *examples*.", repo_id="me/words", **SAID)
    assert "\n# Small words\n" in card
    assert "For *examples*." in card
    assert 'et.hub.pull("me/words")' in card
    assert "| WordSim-353 | Spearman correlation | 0.5 |" in card
    assert "- my own notes" in card
    assert "| n\\_tokens | 80 |" in card
    assert "| n\\_components | 3 |" in card
    for finding in words.findings():
        assert f"- {finding.severity}: {finding.sentence[:40]}" in card
    assert "The license of this model is cc-by-4.0." in card


def test_what_was_not_said_is_not_made_up(words):
    card = et.hub.card(words)
    assert front(card).keys() == {"library_name", "pipeline_tag", "tags"}
    assert "No license is stated." in card
    assert "## Results" not in card


@pytest.mark.parametrize(
    ("make", "tag"),
    [
        (lambda: et.Tagger().fit([[("a", "D"), ("dog", "N")]] * 5), "tagger"),
        (lambda: et.KneserNey(2).fit([["a", "b", "c"], ["b", "c", "d"]] * 5), "kneser-ney"),
        (lambda: et.PCFG().fit(["(S (NP (N Ann)) (VP (V runs)))"] * 3), "pcfg"),
        (lambda: et.TopicModel(2).fit(["dough bread oven", "goal match team"] * 8), "topic-model"),
        (lambda: et.Eigenwords.from_vectors(["a", "b"], np.eye(2)), "eigenwords"),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_kind_of_model_has_a_card(make, tag):
    card = et.hub.card(make())
    assert front(card)["tags"] == ["eigentext", tag]
    assert "## How to use it" in card


@given(st.text(min_size=1), st.text(min_size=1))
def test_any_text_is_a_string_of_yaml_and_stays_in_its_place(name, dataset):
    model = et.Eigenwords.from_vectors(["a", "b"], np.eye(2), origin=name)
    results = {dataset: {name: 0.5}}
    card = et.hub.card(model, name=name, license=name, results=results)
    found = front(card)
    assert found["library_name"] == "eigentext"
    assert found["license"] == found["model-index"][0]["results"][0]["metrics"][0]["name"]
    assert all(line.count("\n") == 0 for line in found["tags"])
    assert "\n\n## How to use it\n\n" in card


def test_what_is_refused(words):
    for results in (0.5, {"a": 0.5}, {"a": {}}, {"a": {"b": "good"}}, {"a": {"b": float("nan")}}):
        with pytest.raises(ParameterError, match="results must be"):
            et.hub.card(words, results=results)
    with pytest.raises(ParameterError, match="tags must be a string or a list of strings"):
        et.hub.card(words, tags=[1])
    with pytest.raises(NotFittedError):
        et.hub.card(et.Eigenwords())


def test_the_library_of_the_hub_reads_the_card(words, tmp_path):
    hub = pytest.importorskip("huggingface_hub")
    path = tmp_path / "README.md"
    path.write_text(et.hub.card(words, **SAID), encoding="utf-8")
    card = hub.ModelCard.load(path)
    assert card.data.library_name == "eigentext"
    assert card.data.license == "cc-by-4.0"
    assert card.data.model_name == "Small words"
    measured = [
        (one.dataset_name, one.metric_name, one.metric_value) for one in card.data.eval_results
    ]
    assert measured == [
        ("WordSim-353", "Spearman correlation", 0.5),
        ("WordSim-353", "coverage", 1.0),
    ]
