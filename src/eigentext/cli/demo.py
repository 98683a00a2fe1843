"""`eigentext demo`: a tour of vectors, topics and a grammar, in a minute and offline."""

import shlex
import sys
import time
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.markup import escape

from eigentext.cli._bundles import RunOptions
from eigentext.cli._console import can_print, print_json, print_plain, printer
from eigentext.cli._files import check_model_path, check_not_read
from eigentext.cli._options import with_options
from eigentext.cli._progress import peak_memory
from eigentext.cli._work import work

if TYPE_CHECKING:
    import numpy as np

    from eigentext import Eigenwords, LatentPCFG, TextCorpus, TopicModel, Tree

_DIM = 100
_WINDOW = 3
_WIDTH = 100  # characters of a printed line
_WORDS = (
    "matrix",
    "sparse",
    "gradient",
    "error",
    "euclidean",
    "polynomial",
    "median",
    "distribution",
    "filter",
    "row",
    "float64",
    "classifier",
)
_ADDRESS = "http://127.0.0.1:8765"  # the explorer's default
_TOPICS = 16
_LINES = 500  # fewer documents are too few for topics
_TREES = 1000
_STATES = 4
_SENTENCES = (
    "the farmer saw the cat of the child",
    "the farmer saw the cat through the door",
)


@dataclass
class _Tour:
    """What was learned, and what it took."""

    words: "Eigenwords"
    neighbors: dict[str, list[str]]
    topics: "TopicModel | None"  # None if the text is too short
    grammar: "LatentPCFG"
    exact: dict[str, float]  # the share of new sentences with a correct tree, for each grammar
    files: list[Path]
    phases: dict[str, float]
    seconds: float

    @property
    def command(self) -> str:
        """Return the command that opens the models in a browser."""
        return shlex.join(["eigentext", "explore", *map(str, self.files)])


@with_options()
def demo(
    run: RunOptions,
    file: Annotated[
        Path | None,
        typer.Argument(
            help="Your text, with one document on each line. By default, text that is installed."
        ),
    ] = None,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Where to write the vectors. Topics and grammar are written beside them.",
        ),
    ] = Path("eigentext-demo.safetensors"),
    dim: Annotated[
        int | None,
        typer.Option(
            "--dim",
            min=1,
            help="Dimension of the vectors.",
            show_default="100; less for a short text",
        ),
    ] = None,
    explore: Annotated[
        bool,
        typer.Option(
            "--explore/--no-explore",
            help="Then open the models in the explorer, if this is a terminal.",
        ),
    ] = False,
) -> None:
    """Learn vectors, topics and a small grammar, and print what was learned.

    The text is FILE, or the documentation of NumPy, SciPy and scikit-learn. The grammar is learned
    from trees that are drawn at random.
    """
    tour = _tour(file, output, dim, run)
    if run.json:
        print_json(_as_json(tour))
    elif not run.quiet:
        _print_story(tour, file)
    if explore and _is_terminal():
        from eigentext.cli.main import app

        app(["explore", *map(str, tour.files)], prog_name="eigentext", standalone_mode=False)


def _is_terminal() -> bool:
    return sys.stdout.isatty()


def _tour(file: Path | None, output: Path, dim: int | None, run: RunOptions) -> _Tour:
    from eigentext import CooccurrenceMoments, Eigenwords, engine

    started = time.perf_counter()
    paths = {name: _beside(output, name) for name in ("", "topics", "grammar")}
    for path in paths.values():
        check_model_path(path)
    with work(run) as phases:
        texts = _texts(file)
        corpus = _corpus(texts, tokenizer="simple")
        for path in paths.values():
            check_not_read(path, corpus.files)
        moments = CooccurrenceMoments.from_corpus(corpus, window=_WINDOW)
        min_count, n_words = _frequent_words(moments.vocabulary.counts)
        dim = dim or max(1, min(_DIM, n_words // 4))
        model = Eigenwords(dim, window=_WINDOW, min_count=min_count, keep_moments="whole")
        model.fit_moments(moments)
        topics = _learn_topics(texts)
        grammar, exact = _learn_grammar()
        learned = {"": model, "topics": topics, "grammar": grammar}
        files = [path for name, path in paths.items() if learned[name] is not None]
        with engine.phase("save"):
            for name, path in paths.items():
                if learned[name] is not None:
                    learned[name].save(path)
    seconds = time.perf_counter() - started
    words = [word for word in _WORDS if not file and word in model] or _some_words(model)
    neighbors = {word: [near for near, _ in model.most_similar(word, 6)] for word in words}
    return _Tour(model, neighbors, topics, grammar, exact, files, phases.times(), seconds)


def _beside(output: Path, name: str) -> Path:
    return output.with_name(f"{output.stem}-{name}{output.suffix}") if name else output


def _texts(file: Path | None) -> Path | list[str]:
    if file is not None:
        return file
    from eigentext import engine
    from eigentext.corpus.prose import docstring_prose

    with engine.phase("gather text"):
        return docstring_prose()


def _corpus(texts: Path | list[str], tokenizer: Literal["simple", "words"]) -> "TextCorpus":
    from eigentext import TextCorpus

    kind: Any = {"kind": "texts"} if isinstance(texts, list) else {}
    return TextCorpus(texts, tokenizer=tokenizer, lowercase=True, **kind)


def _learn_topics(texts: Path | list[str]) -> "TopicModel | None":
    """Learn topics; each line or paragraph is a document. Return None if there are too few."""
    from eigentext import DocumentMoments, TopicModel, engine
    from eigentext.errors import CorpusError

    with engine.phase("topics"), engine.report_to(None):  # one bar for all steps inside
        try:
            documents = DocumentMoments.from_corpus(_corpus(texts, tokenizer="words"))
            if documents.n_documents < _LINES:
                return None
            rare = max(2, documents.n_documents // 4000)
            limits: Any = {"stop_words": "english", "min_df": rare, "max_df": 0.05}
            documents = documents.restrict(**limits)
        except CorpusError:  # no words remain
            return None
        if len(documents.vocabulary) < 10 * _TOPICS or int((documents.lengths >= 3).sum()) < _LINES:
            return None
        return TopicModel(_TOPICS, alpha0=1, **limits).fit_moments(documents)


def _learn_grammar() -> tuple["LatentPCFG", dict[str, float]]:
    """Learn a latent grammar from sampled trees, and test it and a plain one on new trees."""
    from eigentext import PCFG, LatentPCFG, engine, evaluate
    from eigentext.corpus.toy_treebank import sampled_trees

    with engine.phase("grammar"), engine.report_to(None):
        trees, gold = sampled_trees(_TREES), sampled_trees(200, seed=1)
        plain = PCFG().fit(trees)
        grammar = LatentPCFG(_STATES, method="spectral+em").fit(trees)
        sentences = [tree.leaves() for tree in gold]
        exact = {
            name: evaluate.brackets(gold, model.parse_many(sentences)).exact
            for name, model in (("counted", plain), ("latent", grammar))
        }
    return grammar, exact


def _frequent_words(counts: "np.ndarray") -> tuple[int, int]:
    """Return a min_count, lower for a short text, and how many words are that frequent."""
    numbers = ((least, int((counts >= least).sum())) for least in (5, 2, 1))
    return next((least, n_words) for least, n_words in numbers if n_words >= 50 or least == 1)


def _some_words(model: "Eigenwords", n_words: int = 12) -> list[str]:
    """Return longer words of medium frequency, which people may find interesting."""
    words = model.vocabulary_.words
    longer = [word for word in words if 3 < len(word) < 25 and word.isalpha()] or words
    step = max(1, min(len(longer), 1000) // n_words)
    return list(islice(longer, step // 2, None, step))[:n_words]


def _as_json(tour: _Tour) -> dict[str, Any]:
    model = tour.words
    return {
        "model": str(tour.files[0]),
        "models": [str(file) for file in tour.files],
        "n_tokens": model.provenance_["n_tokens"],
        "n_words": len(model.vocabulary_),
        "dim": model.parameters_.n_components,
        "neighbors": tour.neighbors,
        "topics": tour.topics and tour.topics.top_words(8),
        "exact": tour.exact,
        "parses": {sentence: str(tour.grammar.parse(sentence)) for sentence in _SENTENCES},
        "explore": tour.command,
        "phases": tour.phases,
        "seconds": round(tour.seconds, 3),
        "peak_memory": peak_memory(),
    }


def _print_story(tour: _Tour, file: Path | None) -> None:
    source = str(file or "the docstrings and comments of NumPy, SciPy and scikit-learn")
    _print_words(tour, source)
    _print_topics(tour)
    _print_grammar(tour)
    printer.print("\n[bold]Time[/]")
    for name, taken in tour.phases.items():
        printer.print(f"  {name:16} {taken:6.2f} s")
    memory = f"{peak_memory() / 1e6:,.0f} MB of memory at most"
    printer.print(f"  {'all':16} {tour.seconds:6.2f} s, {memory}")
    saved = shlex.quote(str(tour.files[0]))
    others = " and ".join(
        name for name in ("topics", "grammar") if _beside(tour.files[0], name) in tour.files
    )
    printer.print(
        f"\n[bold]Saved[/] as {escape(str(tour.files[0]))}, {others} beside it. "
        "Next, you could type"
    )
    printer.print(
        f"  eigentext words neighbors {saved} {shlex.join(list(tour.neighbors)[:2])}\n"
        f"  eigentext words add {saved} MORE-TEXT\n"
        f"  eigentext words export {saved} -o vectors.txt\n"
        "  eigentext words fit YOUR-TEXT -o my-words --tokenizer simple --lowercase\n"
        f"  {tour.command}",
        markup=False,
    )
    needs = "" if find_spec("starlette") else " (after pip install 'eigentext[web]')"
    printer.print(
        f"\nThe last command{needs} shows all models in your browser, at\n  {_ADDRESS}",
        markup=False,
    )


def _print_words(tour: _Tour, source: str) -> None:
    from eigentext.cli._spectrum import spectrum_plot

    n_words, dim = tour.words.vectors_.shape
    printer.print(
        f"\n[bold]Words[/] from {escape(source)}\n"
        f"{tour.words.provenance_['n_tokens']:,} tokens, {n_words:,} words, {dim} dimensions\n"
    )
    width = max(map(len, tour.neighbors), default=0)
    for word, near in tour.neighbors.items():
        _print_line(f"  {word:{width}}  {', '.join(near)}")
    printer.print("\n[bold]Singular values[/]\n")
    values = tour.words.singular_values_
    printer.print(spectrum_plot(values, ascii_only=not can_print("█└┴─")), markup=False)


def _print_topics(tour: _Tour) -> None:
    if tour.topics is None:
        printer.print(f"\n[bold]Topics[/] need at least {_LINES} lines with several words each")
        return
    found = tour.topics.diagnostics_
    printer.print(
        f"\n[bold]Topics[/] of the same text: {found['n_documents']:,} lines or paragraphs, "
        f"{len(tour.topics.vocabulary_):,} words\n"
    )
    for share, words in zip(tour.topics.weights_, tour.topics.top_words(9)):
        _print_line(f"  {share:4.0%}  {' '.join(words)}")


def _print_grammar(tour: _Tour) -> None:
    printer.print(
        f"\n[bold]Grammar[/] from {_TREES:,} trees of a small grammar. Its words of and through "
        "have the same\ntag, IN, but of belongs to nouns and through to verbs: hidden states learn "
        "this\n"
    )
    for sentence in _SENTENCES:
        _print_line(f"  {_phrases(tour.grammar.parse(sentence))}")
    shares = "  correct trees of new sentences: {counted:.0%} by counting rules, {latent:.0%} with"
    _print_line(f"{shares} hidden states".format(**tour.exact))


def _print_line(line: str) -> None:
    print_plain(line if len(line) <= _WIDTH else f"{line[: _WIDTH - 3]}...")


def _phrases(tree: "Tree") -> str:
    """Return the brackets of a tree without the parts of speech."""
    parts = [part if isinstance(part, str) else _phrases(part) for part in tree.children]
    return parts[0] if tree.is_preterminal else f"({tree.label} {' '.join(parts)})"
