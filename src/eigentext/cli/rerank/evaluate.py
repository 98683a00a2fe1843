"""`eigentext rerank evaluate`: how much better is the reranked choice?"""

from eigentext.cli._bundles import RunOptions
from eigentext.cli._console import print_json, print_plain
from eigentext.cli._files import inputs
from eigentext.cli._options import with_options
from eigentext.cli._trees import FormatOptions
from eigentext.cli._work import work
from eigentext.cli.rerank._shared import (
    CandidatesArgument,
    GoldOption,
    ModelArgument,
    check_kind,
    load_reranker,
    read_examples,
)


@with_options()
def evaluate(
    model: ModelArgument,
    files: CandidatesArgument,
    gold: GoldOption,
    reading: FormatOptions,
    run: RunOptions,
) -> None:
    """Score the base model's first choices, the reranked ones and the best possible, in percent.

    Trees are scored by labeled brackets, with EVALB's rules. Sequences are scored by chunks if
    their tags are chunk tags (B-NP, I-NP, O), otherwise by tags.
    """
    with inputs(files, gold) as (lists, structures), work(run):
        reranker = load_reranker(model)
        examples = read_examples(lists, structures, reading)
        check_kind(reranker, model, examples.candidates, files)
        report = reranker.evaluate(*examples)
    if run.json:
        print_json({"model": str(model), **report.to_dict()})
    else:
        print_plain(str(report))
