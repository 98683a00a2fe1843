"""Learning grammars: one file for each method (``protocol.py`` lists them), and what they share.

``training.py`` has the two steps of EM, ``shard.py`` the passes over trees, and ``validation.py``
the scores on validation trees.
"""
