"""`eigentext rerank trees`: from candidates of a parser and gold trees to a reranker."""

from typing import TYPE_CHECKING

from eigentext.cli._bundles import FitOptions, OutputOption
from eigentext.cli._fitting import Fitting, fitting, validation_facts
from eigentext.cli._options import Parameters, with_options
from eigentext.cli._sources import PlainTextOptions, load_sources
from eigentext.cli._trees import FormatOptions
from eigentext.cli.rerank._shared import CandidatesArgument, GoldOption, read_examples
from eigentext.cli.rerank.learn import ValidationOptions
from eigentext.errors import ParameterError
from eigentext.reranking import parameters as tables

if TYPE_CHECKING:
    from eigentext import TreeReranker
    from eigentext.reranking.report import Report


@with_options(tables.TreeReranker)
def trees(
    files: CandidatesArgument,
    gold: GoldOption,
    output: OutputOption,
    validation: ValidationOptions,
    plain_text: PlainTextOptions,
    parameters: Parameters,
    reading: FormatOptions,
    run: FitOptions,
) -> None:
    """Learn to choose among the trees of a parser, by features of their brackets.

    The candidates come from `grammar nbest --candidates`, with a grammar that has not seen these
    sentences. Cut the treebank into parts, and let a grammar of all other parts write the
    candidates of each part. Without --validation, a fifth of the inputs is held out to choose the
    penalty on.
    """
    from eigentext import TreeReranker
    from eigentext.corpus.readers import expand_paths

    other, other_gold = validation.validation or [], validation.validation_gold or []
    if bool(other) != bool(other_gold):
        raise ParameterError("--validation and --validation-gold go together; give both or none")
    with fitting(output, run, files, gold, other, other_gold) as done:
        done.check_not_read(expand_paths([path for paths in done.paths for path in paths]))
        examples = read_examples(*done.paths[:2], reading=reading)
        held_out = read_examples(*done.paths[2:], reading=reading) if other else None
        model = TreeReranker(**parameters | load_sources(plain_text.given()))
        model.fit(*examples, validation=held_out)
        scores = model.evaluate(*held_out) if held_out else None
        done.save(model)
    _report(done, model, scores)


def _report(done: Fitting, model: "TreeReranker", scores: "Report | None") -> None:
    """Print what was learned, and what it took."""
    found = model.diagnostics_
    details = []
    if "penalty" in found:
        details.append(f"chosen          penalty {found['penalty']:g}")
    if "n_mistakes" in found:
        details.append(f"mistakes        {', '.join(map(str, found['n_mistakes']))} in the epochs")
    if scores is not None:
        details += str(scores).splitlines()
    done.report(
        {**found, **validation_facts(found["validation"], scores)},
        f"{found['n_features']:,} features of {found['n_brackets']:,} brackets from "
        f"{found['n_inputs']:,} inputs",
        details,
        phases=True,
    )
