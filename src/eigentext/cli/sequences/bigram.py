"""`eigentext bigram fit`: the model of Saul and Pereira from text."""

from typing import Annotated

import typer

from eigentext.cli._bundles import FitOptions, OutputOption
from eigentext.cli._options import Parameters, with_options
from eigentext.cli._text import TextUnitOptions, fit_text
from eigentext.cli.sequences._shared import report_fit
from eigentext.sequences import parameters as tables

_FACTS = ("n_iter", "perplexity", "heldout_perplexity", "heldout", "pivots")


@with_options(tables.BigramModel)
def fit(
    output: OutputOption,
    parameters: Parameters,
    text: TextUnitOptions,
    run: FitOptions,
    validation: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Other text. EM stops when it no longer fits it better."),
    ] = None,
) -> None:
    """Learn a language model of bigrams from text and write it as one model file."""
    from eigentext import BigramModel

    model = BigramModel(**parameters)
    done = fit_text(model, text, output, run, validation=validation or [])
    states, found = model.parameters_.n_states, model.diagnostics_
    facts = {name: found[name] for name in _FACTS if name in found}
    summary = f"{states} states after {model.n_iter_} steps of EM"
    if "heldout_perplexity" in facts:
        summary += f" (held-out perplexity {facts['heldout_perplexity']:.1f})"
    about = {"states": states, "method": model.parameters_.method}
    report_fit(done, model, about | facts, summary)
