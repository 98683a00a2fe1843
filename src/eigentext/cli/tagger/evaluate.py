"""`eigentext tagger evaluate`: how good are a tagger's tags?"""

from collections import Counter
from itertools import chain

from eigentext.cli._bundles import EncodingOption, SkipBadFlag, WorkerOptions
from eigentext.cli._console import plural, print_json, print_plain, print_warning, printer
from eigentext.cli._files import inputs
from eigentext.cli._options import with_options
from eigentext.cli._work import work
from eigentext.cli.tagger._shared import (
    ColumnsOption,
    KnownColumns,
    ModelArgument,
    TaggedArgument,
    load_tagger,
    read_tagged,
)

_SHOWN = 10  # how many labels that the model does not know to print; --json has all


@with_options()
def evaluate(
    model: ModelArgument,
    files: TaggedArgument,
    run: WorkerOptions,
    columns: ColumnsOption = None,
    encoding: EncodingOption = "utf-8",
    skip_bad: SkipBadFlag = False,
) -> None:
    """Tag the words of tagged sentences and score the result, in percent.

    Chunks (B-NP, I-NP, O) are scored by conlleval's rules, other tags one by one. A warning names
    the labels that the model has not learned, and so never gives.
    """
    from eigentext.corpus.conll import read_head
    from eigentext.corpus.encodings import checked_encoding
    from eigentext.corpus.readers import expand_paths
    from eigentext.corpus.schemes import in_scheme, scheme_of

    encoding = checked_encoding(encoding)
    with inputs(files) as (paths,), work(run) as phases:
        tagger = load_tagger(model)
        known = KnownColumns(tagger, columns, labelled=True, with_label=True)
        all_paths = expand_paths(paths)
        found = known.of(read_head(all_paths[0], encoding))
        read = read_tagged(all_paths, found, encoding=encoding, skip_bad=skip_bad)
        sentences = [one.tokens for one in read]
        result = tagger.evaluate(sentences)
    tags = ([token[-1] for token in sentence] for sentence in sentences)
    labels = Counter(chain.from_iterable(in_scheme(tags, scheme_of(tagger.tags_))))
    unseen = {label: n for label, n in labels.most_common() if label not in tagger.tags_}
    if run.json:
        facts = {"model": str(model), **result.to_dict(), "n_sentences": len(sentences)}
        print_json({**facts, **phases.speed("token"), "unseen_labels": unseen})
        return
    if unseen:
        shown = [f"{label} ({plural(n, 'token')})" for label, n in unseen.items()]
        more = ", …" if len(shown) > _SHOWN else ""
        print_warning(f"labels that {model} has not learned: {', '.join(shown[:_SHOWN])}{more}")
    print_plain(str(result))
    if not run.quiet:
        printer.print(phases.speed_in_words("token"), style="dim")
