"""Names that load when they are used."""

import pytest

import eigentext
from eigentext.lazy import lazily


def test_a_name_comes_from_its_home():
    load = lazily("eigentext", {"EigentextError": "errors"})
    assert load("EigentextError") is eigentext.EigentextError


def test_other_names_are_missing_as_usual():
    with pytest.raises(AttributeError, match="has no attribute 'Words'"):
        _ = eigentext.words.Words
    assert not hasattr(eigentext.storage, "Words")
