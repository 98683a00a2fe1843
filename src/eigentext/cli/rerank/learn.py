"""`eigentext rerank fit`: from n-best lists and gold structures to a reranker."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from eigentext.cli._bundles import FitOptions, OutputOption
from eigentext.cli._fitting import Fitting, fitting, validation_facts
from eigentext.cli._options import Bundle, Parameters, with_options
from eigentext.cli._trees import FormatOptions
from eigentext.cli.rerank._shared import (
    CandidatesArgument,
    CandidatesWithGold,
    GoldOption,
    read_examples,
)
from eigentext.errors import ParameterError
from eigentext.reranking import parameters as tables

if TYPE_CHECKING:
    from eigentext import Reranker
    from eigentext.reranking.report import Report

_KINDS = {"tree": "trees", "sequence": "tagged sequences"}


@dataclass(kw_only=True)
class ValidationOptions(Bundle):
    """Held-out lists, to choose on."""

    validation: Annotated[
        list[str] | None,
        typer.Option(
            "--validation", metavar="FILE", help="N-best lists of other inputs, to choose on."
        ),
    ] = None
    validation_gold: Annotated[
        list[str] | None,
        typer.Option(
            "--validation-gold", metavar="FILE", help="The gold structures for --validation."
        ),
    ] = None


@dataclass(kw_only=True)
class KernelOptions(Bundle):
    """What two candidates have in common."""

    kernel: Annotated[
        Literal["tree", "sequence"] | None,
        typer.Option(
            help="Compare all subtrees, or all runs of tags.", show_default="by the candidates"
        ),
    ] = None
    match: Annotated[
        Literal["exact", "capitalization", "factor"] | None,
        typer.Option(
            help="For sequences: which words count as equal; factor: those with the same part "
            "after |.",
            show_default="exact",
        ),
    ] = None
    joint: Annotated[
        bool,
        typer.Option("--joint", help="Tags match only where their words are equal by --match."),
    ] = False

    def parameters(self, examples: CandidatesWithGold, decay: list[float] | None) -> dict[str, Any]:
        """Return the parameters of a reranker that cannot choose them by its candidates."""
        from eigentext import SequenceKernel
        from eigentext.kernels.candidate import is_tree
        from eigentext.reranking.reranker import DECAYS

        found = "tree" if is_tree(examples.gold[0]) else "sequence"
        if self.kernel not in (None, found):
            raise ParameterError(f"--kernel {self.kernel} is not for {_KINDS[found]}; leave it out")
        if self.match is None:
            if self.joint:
                raise ParameterError("--joint says how words are matched; give --match too")
            return {}
        if found == "tree":
            raise ParameterError("--match is for tagged sequences, not for trees; leave it out")
        kernel = SequenceKernel(match=self.match, joint=self.joint)
        return {"kernel": kernel, "decay": decay or list(DECAYS)}


@with_options(tables.Reranker)
def fit(
    files: CandidatesArgument,
    gold: GoldOption,
    output: OutputOption,
    validation: ValidationOptions,
    kernel: KernelOptions,
    parameters: Parameters,
    reading: FormatOptions,
    run: FitOptions,
) -> None:
    """Learn to rank candidates from n-best lists, and write a reranker as one model file.

    The lists must come from a base model that has not seen these inputs. Cut the data into parts,
    and let a model of all other parts write the lists of each part. Without --validation, a fifth
    of the inputs is held out to choose decay and beta on. If the gold structure is not among the
    candidates, the most similar one takes its place.
    """
    from eigentext import Reranker
    from eigentext.corpus.readers import expand_paths

    other, other_gold = validation.validation or [], validation.validation_gold or []
    if bool(other) != bool(other_gold):
        raise ParameterError("--validation and --validation-gold go together; give both or none")
    with fitting(output, run, files, gold, other, other_gold) as done:
        done.check_not_read(expand_paths([path for paths in done.paths for path in paths]))
        examples = read_examples(*done.paths[:2], reading=reading)
        held_out = read_examples(*done.paths[2:], reading=reading) if other else None
        known = kernel.parameters(examples, parameters["decay"])
        model = Reranker(**parameters | known).fit(*examples, validation=held_out)
        scores = model.evaluate(*held_out) if held_out else None
        done.save(model)
    _report(done, model, scores)


def _report(done: Fitting, model: "Reranker", scores: "Report | None") -> None:
    """Print what was learned, and what it took."""
    found = model.diagnostics_
    details = [
        f"chosen          decay {found['decay']:g}, beta {found['beta']:.3g}, average "
        f"{found['average']}",
        f"mistakes        {', '.join(map(str, found['n_mistakes']))} in the epochs",
    ]
    if found["n_replaced"]:
        details.append(f"gold structure not among the candidates: {found['n_replaced']:,} inputs")
    if scores is not None:
        details += str(scores).splitlines()
    done.report(
        {**found, **validation_facts(found["validation"], scores)},
        f"{found['n_support']:,} of {found['n_candidates']:,} candidates kept from "
        f"{found['n_inputs']:,} inputs",
        details,
        phases=True,
    )
