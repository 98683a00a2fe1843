"""Parsing: from the words of a sentence to its tree.

``pruning.py`` fills the chart of a coarse PCFG and keeps what is probable. ``forest.py`` has the
packed forest of what is left, and computes marginals over it, with ``wide.py`` for numbers out of
the range of doubles. ``cascade.py`` goes from coarse to fine grammars. ``decoding.py`` chooses the
tree.
"""
