"""`eigentext topics apart`: documents that are not like the others."""

import json

import eigentext as et


def test_groups_are_printed_with_the_names_of_documents(cli, tmp_path):
    text = [f"a{n} b{n} c{n} d{n} e{n} and tea{n % 3}" for n in range(30)]
    path = tmp_path / "texts.txt"
    path.write_text("\n".join([*text, *text[:1]]) + "\n")
    model = et.TopicModel(2, min_df=1, stop_words=None).fit(et.TextCorpus(path))
    model.save(tmp_path / "model")
    shown = cli("topics", "apart", tmp_path / "model", path, "--quiet")
    assert (shown.status, shown.err) == (0, "")
    assert shown.out.startswith("2 documents are one another's copies")
    assert "line 1, line 31" in shown.out
    told = json.loads(cli("topics", "apart", tmp_path / "model", path, "--json").out)
    assert told["groups"][0]["documents"] == ["line 1", "line 31"]


def test_a_missing_file(cli, topics, tmp_path):
    shown = cli("topics", "apart", topics, tmp_path / "none.txt")
    assert shown.status == 2
    assert "none.txt" in shown.err
