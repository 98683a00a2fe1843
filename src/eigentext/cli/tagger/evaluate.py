"""`eigentext tagger evaluate`: how good are a tagger's tags?"""

from collections import Counter

from eigentext.cli._console import (
    ClusterOption,
    JsonFlag,
    QuietFlag,
    ThreadsOption,
    inputs,
    print_json,
    print_warning,
    printer,
    work,
)
from eigentext.cli.tagger._shared import (
    ColumnsOption,
    ModelArgument,
    TaggedArgument,
    known_layout,
    load_tagger,
    read_tagged,
    speed,
    told_speed,
)

_SHOWN = 10  # labels that were never learned; --json has all


def evaluate(
    model: ModelArgument,
    files: TaggedArgument,
    columns: ColumnsOption = None,
    threads: ThreadsOption = None,
    cluster: ClusterOption = None,
    json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Tag the words of tagged sentences and score the result, in percent.

    Chunks (B-NP, I-NP, O) are scored by conlleval's rules, other tags one by one. Labels that the
    model never learned, and so never gives, are named.
    """
    from eigentext.corpus.readers import expand_paths

    with (
        inputs(files) as paths,
        work(quiet=quiet or json, threads=threads, cluster=cluster) as watch,
    ):
        tagger = load_tagger(model)
        layout = known_layout(tagger, columns, labelled=True, with_label=True)
        sentences = [one.tokens for one in read_tagged(expand_paths(paths), layout)]
        result = tagger.evaluate(sentences)
    labels = Counter(token[-1] for sentence in sentences for token in sentence)
    unseen = {label: n for label, n in labels.most_common() if label not in tagger.tags_}
    if json:
        about = {"model": str(model), **result.to_dict(), "n_sentences": len(sentences)}
        print_json({**about, **speed(watch), "unseen_labels": unseen})
        return
    if unseen:
        told = [f"{label} ({n:,} token{'s' if n > 1 else ''})" for label, n in unseen.items()]
        more = ", …" if len(told) > _SHOWN else ""
        print_warning(f"labels that {model} never learned: {', '.join(told[:_SHOWN])}{more}")
    printer.print(str(result), markup=False)
    if not quiet:
        printer.print(told_speed(watch), style="dim")
