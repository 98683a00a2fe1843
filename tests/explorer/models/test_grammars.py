import pytest

import eigentext as et
from eigentext.explorer.models import explored

SENTENCE = "the dog sees the cat near the river with the teacher"


@pytest.mark.parametrize("name", ["pcfg", "latent"])
def test_the_first_tree_is_the_parse_and_the_others_the_k_best(server, numbers, model_files, name):
    model = et.load(model_files[name])
    answer = server.post(f"/api/{numbers[name]}/parse", text=SENTENCE, k=4).json()
    assert answer["tokens"] == SENTENCE.split()
    assert answer["fallback"] is None
    trees = [one["brackets"] for one in answer["trees"]]
    parse = str(model.parse(SENTENCE))
    best = [str(one.tree) for one in model.k_best(SENTENCE, 4)]
    assert trees == [parse, *(one for one in best if one != parse)][:4]
    for one in answer["trees"]:
        assert one["log_probability"] == pytest.approx(model.log_probability(one["brackets"]))


def test_nodes_have_their_marginals(server, numbers, model_files):
    model = et.load(model_files["latent"])
    answer = server.post(f"/api/{numbers['latent']}/parse", text=SENTENCE).json()
    mu = {(one.label, one.start, one.end): one.probability for one in model.marginals(SENTENCE)}
    nodes = [answer["trees"][0]["tree"]]
    while nodes:
        node = nodes.pop()
        if "children" in node:
            known = mu[node["label"], *node["span"]]
            assert node["probability"] == pytest.approx(known)
            nodes += node["children"]


@pytest.mark.parametrize("name", ["pcfg", "latent"])
def test_marginals_are_the_models(server, numbers, model_files, name):
    answer = server.post(f"/api/{numbers[name]}/marginals", text=SENTENCE).json()
    spans = et.load(model_files[name]).marginals(SENTENCE)
    expected = [one for one in spans if one.probability >= 0.001]
    assert [tuple(one.values()) for one in answer["spans"]] == [
        (*one[:3], pytest.approx(one.probability)) for one in expected
    ]


def test_marginals_of_a_spectral_grammar_are_not_cut_off():
    """Its scores are above 1 and below 0; what is shown are probabilities."""
    trees = [
        "(S (NP (D the) (N dog)) (VP (V sees) (NP (D the) (N cat))))",
        "(S (NP (D the) (N cat)) (VP (V sees) (NP (NP (D a) (N dog)) (PP (P by) (NP (N rain))))))",
        "(S (NP (N rain)) (VP (V sees) (NP (D a) (N cat)) (PP (P by) (NP (N dog)))))",
    ]
    model = et.LatentPCFG(4, nodes_per_state=1, smoothing=0.0, beta=0.1).fit(trees)
    words = "the cat sees a dog by the rain by rain"
    shown = explored(model, "spectral").marginals({"text": words})["spans"]
    known = {one[:3]: one.probability for one in model.marginals(words)}
    for one in shown:
        assert one["probability"] == known[one["label"], one["start"], one["end"]] <= 1


def test_a_node_has_a_distribution_over_its_states(server, numbers):
    fields = {"text": SENTENCE, "start": 0, "end": 2, "label": "NP"}
    answer = server.post(f"/api/{numbers['latent']}/states", **fields)
    assert answer.status_code == 200, answer.text
    states = answer.json()["states"]
    assert len(states) == 2
    assert sum(states) == pytest.approx(1, abs=1e-5)
    assert min(states) >= 0
    missing = server.post(f"/api/{numbers['latent']}/states", **{**fields, "label": "VP"})
    assert missing.status_code == 404
    wrong = server.post(f"/api/{numbers['latent']}/states", **{**fields, "end": 99})
    assert wrong.status_code == 400


def test_a_pcfg_has_no_states(server, numbers):
    fields = {"text": SENTENCE, "start": 0, "end": 2, "label": "NP"}
    assert server.post(f"/api/{numbers['pcfg']}/states", **fields).status_code == 404


def test_states_are_the_models(server, numbers, model_files):
    model = et.load(model_files["latent"])
    for node in model.state_posteriors(model.parse(SENTENCE)):
        fields = {"start": node.start, "end": node.end, "label": node.chain[0]}
        answer = server.post(f"/api/{numbers['latent']}/states", text=SENTENCE, **fields).json()
        assert answer["symbol"] == node.label
        assert answer["states"] == pytest.approx(node.states.tolist(), abs=1e-6)
        assert answer["states_are"] == "probabilities"


def test_queries_about_one_sentence_share_one_analysis(model_files, monkeypatch):
    model, asked = et.load(model_files["latent"]), []
    analyze = model.analyze

    def counted(words, k=1):
        asked.append((words, k))
        return analyze(words, k)

    monkeypatch.setattr(model, "analyze", counted)
    one = explored(model, "latent")
    for query in ("marginals", "parse", "states"):
        one.ask(query, {"text": SENTENCE, "label": "NP", "start": 0, "end": 2})
    assert asked == [(SENTENCE.split(), 1)]
    one.ask("parse", {"text": SENTENCE, "k": 3})  # more trees need a new analysis
    one.ask("marginals", {"text": SENTENCE})
    assert asked[1:] == [(SENTENCE.split(), 3)]


def test_typed_punctuation_becomes_tokens(server, numbers):
    answer = server.post(f"/api/{numbers['pcfg']}/parse", text="The dog sees the cat.").json()
    assert answer["tokens"][-2:] == ["cat", "."]
    assert answer["fallback"]
    assert len(answer["trees"]) == 1


@pytest.mark.parametrize("query", ["parse", "marginals", "states"])
def test_long_sentences_and_long_lists_are_refused(server, numbers, query):
    path = f"/api/{numbers['latent']}/{query}"
    answer = server.post(path, text="dog " * 201, start=0, end=1, label="NP")
    assert answer.status_code == 400
    assert "200" in answer.json()["error"]
    if query == "parse":
        assert server.post(path, text="the dog", k=51).status_code == 400
