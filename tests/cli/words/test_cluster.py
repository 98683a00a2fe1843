"""`eigentext words cluster`: the same clusters as in Python, as a paths file or a model."""

import json

import pytest

import eigentext as et

NOUNS = {"cat", "dog", "horse", "sheep", "river", "mountain", "village", "teacher", "farmer"}
VERBS = {"sees", "hears", "follows", "finds", "loves", "fears"}
ADJECTIVES = {"small", "large", "quiet", "green", "old", "young"}


@pytest.fixture
def clusters(model):
    return et.WordClusters(4).fit(et.load(model))


def test_paths_and_a_summary(cli, model, tmp_path, clusters):
    paths = tmp_path / "paths"
    result = cli("words", "cluster", model, "-o", paths, "-m", "4")
    assert result.status == 0
    first, *shown, hint = result.out.splitlines()
    assert hint == "  `eigentext explore` opens clusters that are written with --format model"
    assert first.startswith(f"{paths}: 23 words in 4 clusters, which explain ")
    assert [line.split()[0] for line in shown] == [
        clusters._cluster_paths[number]
        for number in sorted(range(4), key=lambda k: -clusters.diagnostics_["sizes"][k])
    ]
    assert set(shown[1].split()[1:]) < NOUNS  # the 8 most frequent of 9
    clusters.to_tsv(tmp_path / "expected")
    assert paths.read_bytes() == (tmp_path / "expected").read_bytes()
    read = et.WordClusters.read_paths(paths)
    assert set(read.words(read["cat"])) == NOUNS
    # With one neighbour on each side, adjectives and verbs both stand between "the" and nouns.
    assert set(read.words(read["old"])) == {*ADJECTIVES, *VERBS}


@pytest.mark.parametrize("method", ["agglomerative", "kmeans"])
def test_a_model_and_json(cli, model, tmp_path, method):
    output = tmp_path / "clusters"
    options = ("--clusters", "4", "--method", method, "--format", "model", "--threads", "2")
    result = cli("words", "cluster", model, "-o", output, *options, "--json")
    told = json.loads(result.out)
    assert result.err == ""
    loaded = et.load(output)
    assert loaded.method == told["method"] == method
    assert (told["n_words"], told["n_clusters"], told["format"]) == (23, 4, "model")
    assert told["explained"] == loaded.diagnostics_["explained"]
    assert sum(loaded.diagnostics_["sizes"]) == 23
    assert "cluster" in told["phases"]
    for path, words in told["clusters"].items():
        assert words == [word for word, _ in loaded.most_frequent(path, 8)]
    assert cli("info", output).status == 0


def test_the_ending_of_a_model_file(cli, model, tmp_path):
    output = tmp_path / "clusters.safetensors"
    result = cli("words", "cluster", model, "-o", output, "-m", "4")
    assert isinstance(et.load(output), et.WordClusters)
    assert "--format model" not in result.out


def test_standard_output_holds_the_paths_alone(cli, model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    quiet = cli("words", "cluster", model, "-o", "paths", "-m", "4", "--quiet")
    assert (quiet.out, quiet.err) == ("", "")
    result = cli("words", "cluster", model, "-o", "-", "-m", "4")
    assert result.out == (tmp_path / "paths").read_text()
    assert result.err.startswith("cluster: ")
    assert [path.name for path in tmp_path.iterdir()] == ["paths"]


def test_mistakes(cli, model, text, tmp_path, clusters):
    out = ("-o", tmp_path / "paths")
    assert (
        "--clusters) is 100, but there are 23 words"
        in cli("words", "cluster", model, *out, "-q").mistake
    )
    assert "not an eigentext file" in cli("words", "cluster", text, *out).mistake
    clusters.save(tmp_path / "clusters")
    assert "not word vectors" in cli("words", "cluster", tmp_path / "clusters", *out).mistake
    stream = ("-o", "-", "--format", "model")
    assert "not a stream" in cli("words", "cluster", model, *stream).mistake
    assert "written over" in cli("words", "cluster", model, "-o", model).mistake
    nowhere = tmp_path / "missing" / "paths"
    assert "cannot be written" in cli("words", "cluster", model, "-o", nowhere).mistake
    assert not (tmp_path / "paths").exists()
