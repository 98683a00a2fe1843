"""`eigentext rerank evaluate`: how much better is the reranked choice?"""

from eigentext.cli._console import JsonFlag, QuietFlag, ThreadsOption, print_json, printer, work
from eigentext.cli.rerank._shared import (
    CandidatesArgument,
    GoldOption,
    ModelArgument,
    all_inputs,
    check_kind,
    load_reranker,
    read_examples,
)


def evaluate(
    model: ModelArgument,
    files: CandidatesArgument,
    gold: GoldOption,
    threads: ThreadsOption = None,
    json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Score the base model's first choices, the reranked ones and the best there are, in percent.

    Trees are scored by labelled brackets, with EVALB's rules; sequences by chunks if their tags are
    of such (B-NP, I-NP, O), else by tags.
    """
    with (
        all_inputs(files, gold) as paths,
        work(quiet=quiet or json, threads=threads),
    ):
        reranker = load_reranker(model)
        examples = read_examples(*paths)
        check_kind(reranker, model, examples.candidates, files)
        report = reranker.evaluate(*examples)
    if json:
        print_json({"model": str(model), **report.to_dict()})
    else:
        printer.print(str(report), markup=False)
