"""How the models of sequences are learned.

Hidden Markov models: `methods` chooses among the spectral algorithm (`windows`, `spectral`), EM
(`em`), and EM from what the operators show (`recovery`). Aggregate bigram models: `bigram`.
"""
