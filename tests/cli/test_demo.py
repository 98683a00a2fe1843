"""`eigentext demo`: neighbours, spectrum, times and next steps, from any text at once."""

import json
import random
import re
import shlex
import sys
from itertools import product

import pytest

import eigentext as et
from eigentext.cli.demo import _WORDS

STEPS = "Next, you could type\n"
PARTS = ("", "-topics", "-grammar")


def next_steps(story: str) -> list[list[str]]:
    """The commands that the story ends in, as their arguments."""
    lines = story.partition(STEPS)[2].partition("\n\n")[0].splitlines()
    commands = [shlex.split(line) for line in lines]
    assert {command[0] for command in commands} == {"eigentext"}
    return [command[1:] for command in commands]


def times(story: str) -> dict[str, float]:
    table = story.partition("\nTime\n")[2].partition("\n\n")[0]
    return {
        name.strip(): float(seconds)
        for name, seconds in re.findall(r"^  (\D+?) +([\d.]+) s", table, re.MULTILINE)
    }


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_installed_text(process, cli, here):
    """The slow one, about 15 s: most of it goes into reading the packages."""
    result = process("demo", cwd=here, env={"PYTHONIOENCODING": "ascii"})
    assert result.status == 0, result.err
    story = result.out
    assert max(map(len, story.partition(STEPS)[0].splitlines())) <= 100
    assert story.isascii()  # and so is the spectrum
    assert re.search(r"^[\d.]+ \|#", story, re.MULTILINE)

    model = et.load(here / "eigentext-demo.safetensors")
    assert len(_WORDS) == 12
    for word in _WORDS:
        near = ", ".join(other for other, _ in model.most_similar(word, 6))
        assert f"  {word:12}  {near}\n" in story
    assert {"matrices", "sparse"} & {other for other, _ in model.most_similar("matrix", 3)}
    assert "float32" in [other for other, _ in model.most_similar("float64", 3)]

    taken = times(story)
    assert set(taken) > {"gather text", "read and encode", "count", "factor", "save", "all"}
    whole = taken.pop("all")
    assert sum(taken.values()) < whole + 0.1
    assert "gather text: " in result.err

    topics = et.load(here / "eigentext-demo-topics.safetensors")
    for share, words in zip(topics.weights_, topics.top_words(9)):
        assert f"  {share:4.0%}  {' '.join(words)}\n" in story
    assert any({"filter", "signal"} <= set(words) for words in topics.top_words(9))

    grammar = et.load(here / "eigentext-demo-grammar.safetensors")
    assert str(grammar.parse("a dog saw the cat of a child")).count("(NP (NP") == 1
    assert str(grammar.parse("a dog saw the cat into a door")).count("(NP (NP") == 0
    assert "(NP (NP the cat) (PP of (NP the child)))" in story

    neighbors, add, export, fit, explore = next_steps(story)
    assert explore == ["explore", *(f"eigentext-demo{part}.safetensors" for part in PARTS)]
    assert re.search(r"http://[\w.]+:\d+$", story.rstrip())
    answered = cli(*neighbors)
    assert answered.status == 0
    assert "matrices" in answered.out
    assert cli(*export).status == 0
    assert (here / "vectors.txt").read_text().startswith(f"{len(model.vocabulary_)} 100\n")
    # Text as people write it joins the model: signs are parted and capitals lowered as before.
    (here / "MORE-TEXT").write_text("A Matrix, sparse; and THE blorp.\n" * 9)
    assert cli(*add, "--quiet").status == 0
    grown = et.load(here / "eigentext-demo.safetensors")
    assert "blorp" in grown
    assert "Matrix," not in grown
    (here / "YOUR-TEXT").write_text("A matrix, sparse; and the blorp.\n" * 9)
    assert cli(*fit, "--dim", 2, "--quiet").status == 0


def test_a_text_of_ones_own(cli, text, here):
    output = here / "my [bold] model"
    result = cli("demo", text, "-o", output.name)
    assert result.status == 0
    model = et.load(output)
    assert model.provenance_["n_tokens"] == 4_000
    assert f"Words from {text}\n4,000 tokens, 23 words, 5 dimensions\n" in result.out
    for word in ("teacher", "village"):
        near = ", ".join(other for other, _ in model.most_similar(word, 6))
        assert re.search(rf"^  {word} +{near}$", result.out, re.MULTILINE)
    assert "█" in result.out
    assert "Topics need at least 500 lines" in result.out  # of more words than these
    assert f"Saved as {output.name}, grammar beside it. {STEPS}" in result.out
    neighbors, _, export, _, explore = next_steps(result.out)
    assert explore == ["explore", output.name, f"{output.name}-grammar"]
    assert neighbors[2] == output.name  # quoted: it has blanks
    assert cli(*neighbors).status == 0
    assert cli(*export).status == 0
    assert (here / "vectors.txt").exists()


def test_json_and_quiet(cli, text, here):
    result = cli("demo", text, "-o", "model", "--json")
    assert (result.status, result.err) == (0, "")
    told = json.loads(result.out)
    model = et.load("model")
    assert told["dim"] == model.n_components == len(model.vocabulary_) // 4
    assert told["n_tokens"] == 4_000
    assert told["n_words"] == len(model.vocabulary_)
    assert told["neighbors"]["teacher"] == [word for word, _ in model.most_similar("teacher", 6)]
    assert list(told["phases"])[:2] == ["read and encode", "count"]
    quiet = cli("demo", text, "-o", "model", "--quiet")
    assert (quiet.status, quiet.out, quiet.err) == (0, "", "")


@pytest.mark.parametrize(
    "content",
    [
        "two words",
        "to be or not to be",
        "a a a a",
        "猫 は 猫 です 。",
        "! ? ! ?",
        f"{'w' * 300} {'v' * 300} {'w' * 300}",
    ],
)
def test_a_tiny_text(cli, here, content):
    (here / "tiny.txt").write_text(content)
    result = cli("demo", "tiny.txt", "-o", "model")
    assert result.status == 0, result.err
    words = et.load("model").vocabulary_
    assert set(words) == set(content.split())  # no word is too rare for a short text
    shown = result.out.partition(STEPS)[0]
    assert max(map(len, shown.splitlines())) <= 100
    neighbors = next_steps(result.out)[0]
    assert set(neighbors[3:]) <= set(words)
    assert cli(*neighbors).status == 0


def test_rare_words_count_when_there_are_few(cli, here, zipf_lines):
    for n_lines, min_count in ((6, 1), (100, 2), (2000, 5)):
        (here / "text.txt").write_text("\n".join(zipf_lines(n_lines, n_words=200)))
        assert cli("demo", "text.txt", "-o", "model", "--dim", 3, "--quiet").status == 0
        assert et.load("model").min_count == min_count
        assert et.load("model").n_components == 3


def test_mistakes(cli, here):
    assert "no such file" in cli("demo", "missing.txt").mistake
    (here / "one.txt").write_text("alone")
    assert "one token" in cli("demo", "one.txt", "--quiet").mistake
    (here / "text.txt").write_text("a b c d e f g h\n")
    assert "--dim" in cli("demo", "text.txt", "--dim", 50, "--quiet").mistake
    assert sorted(path.name for path in here.iterdir()) == ["one.txt", "text.txt"]


def test_topics_of_ones_own_lines(cli, here):
    rng = random.Random(0)
    words = [
        [f"{''.join(a)}{b}{c}n" for b in "bdfgk" for c in "aeiou"] for a in product("bdfg", "aeiu")
    ]
    lines = [" ".join(rng.choices(rng.choice(words), k=20)) for _ in range(1600)]
    (here / "text.txt").write_text("\n".join(lines))
    told = json.loads(cli("demo", "text.txt", "-o", "model", "--dim", 4, "--json").out)
    assert told["models"] == [f"model{part}" for part in PARTS]
    assert told["explore"] == shlex.join(["eigentext", "explore", *told["models"]])
    for topic in told["topics"]:
        assert len({word[:2] for word in topic}) == 1
    assert told["topics"] == et.load("model-topics").top_words(8)
    assert told["exact"]["counted"] < 0.8 < 0.99 < told["exact"]["latent"]


def test_it_ends_by_itself_where_nobody_looks(cli, here):
    """Asked to explore, but not in a terminal: it says how."""
    (here / "text.txt").write_text("to be or not to be")
    result = cli("demo", "text.txt", "-o", "model", "--explore")
    assert result.status == 0
    assert next_steps(result.out)[-1] == ["explore", "model", "model-grammar"]


def test_in_a_terminal_it_explores(cli, here, monkeypatch):
    from eigentext.cli import demo, main
    from eigentext.cli._bundles import RunOptions

    (here / "text.txt").write_text("to be or not to be")
    asked = []
    monkeypatch.setattr(
        sys.modules[main.__module__], "app", lambda arguments, **_: asked.append(arguments)
    )
    monkeypatch.setattr(demo, "_is_terminal", lambda: True)
    for explore in (True, False):
        demo.demo.__wrapped__(
            RunOptions(quiet=True), here / "text.txt", here / "model", explore=explore
        )
    assert asked == [["explore", str(here / "model"), str(here / "model-grammar")]]
