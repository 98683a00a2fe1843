"""Lists of candidates for perceptrons and rerankers."""

from itertools import product

from eigentext.kernels import Candidate


def _tree(noun, verb, *, flat=False):
    if flat:
        return f"(S (DT the) (NN {noun}) (VBZ {verb}))"
    return f"(S (NP (DT the) (NN {noun})) (VP (VBZ {verb})))"


PAIRS = list(product(("dog", "cat", "fern"), ("barks", "sleeps")))
TREES = [[_tree(n, v, flat=True), _tree(n, v)] for n, v in PAIRS]
TREES_AND_LOGS = [[Candidate(t, -1.0 - k / 8) for k, t in enumerate(two)] for two in TREES]
TAGGED = [
    [([("the", "D"), (n, "V"), (v, "N")], -1.0), ([("the", "D"), (n, "N"), (v, "V")], -1.5)]
    for n, v in PAIRS
]
