"""How raw text becomes the tokens of a model: the rule that a model learns, on unseen sentences.

A policy is learned from the tokens of the training part of a corpus. On the sentences of the test
part it is given two things:

- the gold tokens with blanks between them, as people write text that is split already. *same* is
  the share of sentences whose tokens come back as they were;
- raw text. These corpora come without their original text, so a few fixed rules write
  it: signs and clitics are attached, brackets and quotes become plain ones. *right* is the share of
  sentences that are split like the gold tokens, and F1 is that of tokens, as spans of characters.
  *blanks* is the same for splitting at blanks alone.
"""

import re
import time
from collections import Counter
from collections.abc import Callable
from itertools import accumulate, chain
from typing import Any, cast

import eigentext as et
from _record import Table, fact, record, score
from eigentext.corpus.policy import TokenPolicy

CORPORA = {
    "Penn sample": ("penn-sample", {}),
    "CoNLL-2000": ("conll2000", {}),
    "CoNLL-2002, Spanish": ("conll2002-es", {}),
    "CoNLL-2002, Dutch": ("conll2002-nl", {}),
    "GUM": ("gum", {}),
}
PLAIN = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
PLAIN |= {"``": '"', "''": '"', "`": "'"}
AFTER = re.compile(r"[.,;:?!%)\]}…»”]+|\.\.\.|n't|'(?:s|re|ve|ll|d|m)", re.I)  # joined to the left
BEFORE = re.compile(r"[(\[{$#¿¡«“]+")  # joined to the right


def sentences(name: str, split: str, options: dict[str, Any]) -> list[list[str]]:
    """The tokens of the sentences of a part of a corpus."""
    found: Any = et.load_dataset(cast(Any, name), split=cast(Any, split), **options)
    if isinstance(found[0], et.Tree):
        return [et.normalize_tree(tree).leaves() for tree in found]
    return [[token[0] for token in one] for one in found]


def written(tokens: list[str]) -> tuple[list[str], str]:
    """The tokens as people write them, and the raw text."""
    plain = [PLAIN.get(token, token.replace("\\/", "/").replace("\\*", "*")) for token in tokens]
    text, is_open, joins = "", False, True  # whether a quotation has begun; no blank comes next
    for token, given in zip(plain, tokens):
        is_quote = token == '"'
        closes = is_quote and (given == "''" or (given == '"' and is_open))
        text += token if joins or closes or AFTER.fullmatch(token) else f" {token}"
        joins = bool(BEFORE.fullmatch(token)) or (is_quote and not closes)
        is_open ^= is_quote
    return plain, text


def spans(tokens: list[str]) -> set[tuple[int, int]]:
    """Where tokens begin and end, in characters without blanks."""
    ends = list(accumulate(map(len, tokens)))
    return set(zip([0, *ends], ends))


def plainly(tokens: list[str]) -> list[str]:
    """Tokens as people write them, so that tokenizers with other signs can be compared."""
    return written(tokens)[0]


def judged(split: Callable[[str], list[str]], gold: list[tuple[list[str], str]]) -> list[float]:
    """The share of sentences that are split right, and the F1 of tokens, in percent."""
    n_right = 0
    sums: Counter[str] = Counter()
    for plain, text in gold:
        found, wanted = spans(plainly(split(text))), spans(plain)
        n_right += found == wanted
        sums.update(both=len(found & wanted), found=len(found), wanted=len(wanted))
    f1 = 200 * sums["both"] / (sums["found"] + sums["wanted"])
    return [100 * n_right / len(gold), f1]


def main() -> None:
    columns = (
        *map(fact, ("sentences",)),
        *(score(x, digits=2) for x in ("same", "right", "F1", "blanks F1")),
        "tokens/s",
    )
    table = Table("policies", "Tokens of unseen sentences, %", columns, ("corpus",))
    for title, (name, options) in CORPORA.items():
        counts = Counter(chain.from_iterable(sentences(name, "train", options)))
        policy = TokenPolicy.of(counts)
        test = sentences(name, "test", options)
        start = time.perf_counter()
        back = [policy.split(" ".join(one)) for one in test]
        speed = sum(map(len, test)) / (time.perf_counter() - start)
        same = 100 * sum(a == b for a, b in zip(back, test)) / len(test)
        gold = [written(one) for one in test]
        right, f1 = judged(policy.split, gold)
        table.row(title, len(test), same, right, f1, judged(str.split, gold)[1], speed)
    record("policies", "Raw text and tokens", [table], about=__doc__.split("\n\n")[1])


if __name__ == "__main__":
    main()
