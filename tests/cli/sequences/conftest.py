"""Texts with words that are rare, as language models want them."""

from pathlib import Path

import numpy as np
import pytest


def zipf(n_lines: int, seed: int, n_words: int = 400) -> str:
    """Lines of six words that fall in frequency, a noun (n0, n1, …) and a verb (v0, …) in turn."""
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, n_words + 1)
    drawn = rng.choice(n_words, size=(n_lines, 6), p=weights / weights.sum())
    return "".join(
        " ".join(f"{'nv'[place % 2]}{word}" for place, word in enumerate(line)) + "\n"
        for line in drawn
    )


@pytest.fixture(scope="session")
def seen(tmp_path_factory) -> Path:
    """500 lines, 3,000 tokens."""
    path = tmp_path_factory.mktemp("text") / "seen.txt"
    path.write_text(zipf(500, seed=0))
    return path


@pytest.fixture(scope="session")
def unseen(tmp_path_factory) -> Path:
    """200 other lines, 1,200 tokens, with words that the first text lacks."""
    path = tmp_path_factory.mktemp("text") / "unseen.txt"
    path.write_text(zipf(200, seed=1))
    return path
