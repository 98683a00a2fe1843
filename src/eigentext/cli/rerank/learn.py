"""`eigentext rerank fit`: from n-best lists and right structures to a reranker."""

import time
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from eigentext.cli._console import (
    CheckpointOption,
    ClusterOption,
    JsonFlag,
    OutputOption,
    QuietFlag,
    ThreadsOption,
    Watch,
    check_model_path,
    check_no_input,
    peak_memory,
    print_json,
    printer,
    save_model,
    work,
)
from eigentext.cli._options import Parameters, with_options
from eigentext.cli.rerank._shared import (
    CandidatesArgument,
    Examples,
    GoldOption,
    all_inputs,
    read_examples,
)
from eigentext.errors import ParameterError
from eigentext.reranking import parameters as tables

_KINDS = {"tree": "trees", "sequence": "tagged sequences"}


@with_options(tables.Reranker)
def fit(
    files: CandidatesArgument,
    gold: GoldOption,
    output: OutputOption,
    dev: Annotated[
        list[str] | None,
        typer.Option("--dev", metavar="FILE", help="N-best lists of other inputs, to choose on."),
    ] = None,
    dev_gold: Annotated[
        list[str] | None,
        typer.Option("--dev-gold", metavar="FILE", help="The right structures for --dev."),
    ] = None,
    kernel: Annotated[
        Literal["tree", "sequence"] | None,
        typer.Option(help="All subtrees, or all runs of tags.", show_default="by the candidates"),
    ] = None,
    match: Annotated[
        Literal["exact", "capitalization", "factor"] | None,
        typer.Option(
            help="For sequences: which words are alike; factor: those with the same part after |.",
            show_default="exact",
        ),
    ] = None,
    joint: Annotated[
        bool,
        typer.Option("--joint", help="Only words that are alike by --match match at all."),
    ] = False,
    parameters: Parameters = {},  # noqa: B006 - options take its place
    threads: ThreadsOption = None,
    cluster: ClusterOption = None,
    checkpoint: CheckpointOption = None,
    json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Learn to rank candidates from n-best lists, and write a reranker as one model file.

    The lists must come from a base model that has not seen these inputs: cut the data into parts,
    and let a model of all others write the lists of each. Without --dev, a fifth of the inputs is
    held out to choose decay and beta on. Where the right structure is not among the candidates, the
    nearest takes its place.
    """
    from eigentext import Reranker
    from eigentext.corpus.readers import expand_paths

    check_model_path(output)
    if bool(dev) != bool(dev_gold):
        raise ParameterError("--dev and --dev-gold go together; give both or none")
    started = time.perf_counter()
    report = None
    with (
        all_inputs(files, gold, dev or [], dev_gold or []) as paths,
        work(
            quiet=quiet or json,
            threads=threads,
            cluster=cluster,
            checkpoint=checkpoint,
        ) as watch,
    ):
        check_no_input(output, expand_paths([path for group in paths for path in group]))
        examples = read_examples(*paths[:2])
        held_out = read_examples(*paths[2:]) if dev else None
        known = _kernel(kernel, match, joint, examples, parameters["decay"])
        model = Reranker(**parameters | known).fit(*examples, dev=held_out)
        if held_out:
            report = model.evaluate(*held_out)
        save_model(model, output)
    seconds = time.perf_counter() - started
    _tell(model, output, report, watch, seconds, json=json, quiet=quiet)


def _kernel(
    kernel: str | None,
    match: str | None,
    joint: bool,
    examples: Examples,
    decay: list[float] | None,
) -> dict[str, Any]:
    """What the reranker needs to know of the kernel, if it would not see it for itself."""
    from eigentext import SequenceKernel
    from eigentext.kernels.candidate import is_tree
    from eigentext.reranking.reranker import DECAYS

    found = "tree" if is_tree(examples.gold[0]) else "sequence"
    if kernel not in (None, found):
        raise ParameterError(f"--kernel {kernel} is not for {_KINDS[found]}; leave it out")
    if match is None:
        if joint:
            raise ParameterError("--joint says how words are matched; give --match too")
        return {}
    if found == "tree":
        raise ParameterError("--match is for tagged sequences, not for trees; leave it out")
    return {"kernel": SequenceKernel(match=match, joint=joint), "decay": decay or list(DECAYS)}


def _tell(
    model: Any,
    output: Path,
    report: Any,
    watch: Watch,
    seconds: float,
    *,
    json: bool,
    quiet: bool,
) -> None:
    """Print what was learned, and what it took."""
    found = model.diagnostics_
    cost = {"seconds": round(seconds, 3), "phases": watch.times(), "peak_memory": peak_memory()}
    if json:
        held_out = report and report.to_dict()
        print_json({"model": str(output), **found, "dev_report": held_out, **cost})
        return
    if quiet:
        return
    printer.print(
        f"{output}: {found['n_support']:,} of {found['n_candidates']:,} candidates kept from "
        f"{found['n_inputs']:,} inputs; {seconds:.1f} s, {cost['peak_memory'] / 1e6:,.0f} MB at "
        "most",
        markup=False,
    )
    chosen = f"decay {found['decay']:g}, beta {found['beta']:.3g}, average {found['average']}"
    printer.print(f"  chosen          {chosen}")
    printer.print(f"  mistakes        {', '.join(map(str, found['n_mistakes']))} in the epochs")
    if found["n_replaced"]:
        printer.print(f"  right one not among the candidates: {found['n_replaced']:,} inputs")
    if report is not None:
        printer.print("\n".join(f"  {line}" for line in str(report).splitlines()), markup=False)
    times = ", ".join(f"{name} {time:.1f}" for name, time in cost["phases"].items())
    printer.print(f"  seconds         {times}")
