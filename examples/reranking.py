"""Kernels and reranking: choosing among trees
===========================================

A base model proposes a list of trees for each sentence; a reranker chooses, by what the candidates
have in common with trees that were right before: all their subtrees at once, by a kernel. The
mathematics is on the page about kernels.
"""

import random

import eigentext as et

# %%
# Kernels
# -------
# K(a, b) counts the subtrees that two trees share; ``decay`` makes large ones count less.

a = "(S (NP (DT the) (NN dog)) (VP (VB barks)))"
b = "(S (NP (DT the) (NN cat)) (VP (VB barks)))"
print("all alike:", et.TreeKernel()(a, b), " with decay:", et.TreeKernel(decay=0.4)(a, b))
c = "(S (NP (NN dogs)) (VP (VB bark)))"
names = [" ".join(et.Tree.parse(one).leaves()) for one in (a, b, c)]
ax = et.plots.table(et.TreeKernel(0.4).normalized().gram([a, b, c]), names, names)

# %%
# Sentences that rules cannot tell apart
# --------------------------------------
# *of* goes with nouns and *into* with verbs, but both are prepositions to the grammar.

WORDS = {
    "DT": ["the", "a"],
    "NN": ["cat", "dog", "farmer", "child", "river", "garden"],
    "VB": ["saw", "found", "followed", "carried"],
    "of": ["of", "beside"],
    "into": ["into", "through"],
}


def tree(rng):
    """A sentence with an object and a phrase, which belongs to the object or to the verb."""

    def phrase():
        return f"(NP (DT {rng.choice(WORDS['DT'])}) (NN {rng.choice(WORDS['NN'])}))"

    verb = f"(VB {rng.choice(WORDS['VB'])})"
    if rng.random() < 0.5:
        where = f"(PP (IN {rng.choice(WORDS['of'])}) {phrase()})"
        return et.Tree.parse(f"(S {phrase()} (VP {verb} (NP {phrase()} {where})))")
    where = f"(PP (IN {rng.choice(WORDS['into'])}) {phrase()})"
    return et.Tree.parse(f"(S {phrase()} (VP {verb} {phrase()} {where}))")


rng = random.Random(0)
train, test = ([tree(rng) for _ in range(n)] for n in (300, 100))

# %%
# Learning to choose
# ------------------
# ``fit_base`` makes lists of candidates for each fifth of the trees by a model of the others, so
# that the reranker meets the mistakes that the base model makes on new sentences.

reranker = et.Reranker(decay=[0.3, 0.5]).fit_base(et.PCFG, train)
lists = reranker.base_.k_best_many([one.leaves() for one in test], 10)
print(reranker.evaluate(lists, test))

# %%
# Each pass over the lists corrects mistakes; after one without any, nothing changes any more.

ax = reranker.perceptron_.plot()

# %%
# A sentence
# ----------

for words in ("the dog saw a cat of the farmer", "the dog saw a cat through the garden"):
    first = reranker.base_.k_best(words, 1)[0][0]
    (best,) = reranker.apply(reranker.base_, [words])
    print("base    ", first)
    print("reranked", best)
