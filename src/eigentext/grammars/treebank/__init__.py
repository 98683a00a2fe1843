"""Treebanks: trees in normal form, words, heads, and features of inside and outside trees."""

from eigentext.grammars.treebank.normal_form import Binarization, Treebank

__all__ = ["Binarization", "Treebank"]
