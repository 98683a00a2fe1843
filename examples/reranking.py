"""Kernels and reranking: choosing among trees
===========================================

A base model proposes a list of trees for each sentence, and a reranker chooses one. It compares
the candidates with trees that were right before, by all of their subtrees, with a kernel. The
mathematics is on the page *Kernels and reranking*.
"""

import random

import eigentext as et

# %%
# Kernels
# -------
# K(a, b) counts the subtrees that two trees share. ``decay`` makes large subtrees count less.

a = "(S (NP (DT the) (NN dog)) (VP (VB barks)))"
b = "(S (NP (DT the) (NN cat)) (VP (VB barks)))"
print("decay 1:", et.TreeKernel()(a, b), " decay 0.4:", et.TreeKernel(decay=0.4)(a, b))
c = "(S (NP (NN dogs)) (VP (VB bark)))"
names = [" ".join(et.Tree.parse(one).leaves()) for one in (a, b, c)]
ax = et.plots.table(et.TreeKernel(0.4).normalized().gram([a, b, c]), names, names)

# %%
# Sentences that rules cannot distinguish
# ---------------------------------------
# *of* goes with nouns and *into* with verbs, but the grammar calls both prepositions.

WORDS = {
    "DT": ["the", "a"],
    "NN": ["cat", "dog", "farmer", "child", "river", "garden"],
    "VB": ["saw", "found", "followed", "carried"],
    "of": ["of", "beside"],
    "into": ["into", "through"],
}


def tree(rng):
    """Draw a sentence with a phrase that belongs to the object or to the verb."""

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
# ``fit_base`` makes the lists of candidates of each part of the trees by a model of the other
# parts. So the reranker sees the mistakes that the base model makes on new sentences.

reranker = et.Reranker(decay=[0.3, 0.5]).fit_base(et.PCFG, train)
lists = reranker.base_.k_best_many([one.leaves() for one in test], 10)
print(reranker.evaluate(lists, test))

# %%
# Each pass over the lists corrects mistakes. After a pass without mistakes nothing changes.

ax = reranker.perceptron_.plot()

# %%
# A sentence
# ----------

for words in ("the dog saw a cat of the farmer", "the dog saw a cat through the garden"):
    first = reranker.base_.k_best(words, 1)[0][0]
    (best,) = reranker.apply(reranker.base_, [words])
    print("base    ", first)
    print("reranked", best)
