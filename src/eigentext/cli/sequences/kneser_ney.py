"""`eigentext kneser-ney fit`: smoothed n-grams from text."""

from eigentext.cli._bundles import FitOptions, OutputOption
from eigentext.cli._options import Parameters, with_options
from eigentext.cli._text import TextUnitOptions, fit_text
from eigentext.cli.sequences._shared import report_fit
from eigentext.sequences import parameters as tables


@with_options(tables.KneserNey)
def fit(
    output: OutputOption, parameters: Parameters, text: TextUnitOptions, run: FitOptions
) -> None:
    """Learn a language model of n-grams from text and write it as one model file."""
    from eigentext import KneserNey

    model = KneserNey(**parameters)
    done = fit_text(model, text, output, run)
    ngrams, order = model.diagnostics_["ngrams"], model.parameters_.order
    facts = {"order": order, "ngrams": ngrams, "discounts": model.diagnostics_["discounts"]}
    report_fit(done, model, facts, f"{sum(ngrams):,} n-grams of up to {order}")
