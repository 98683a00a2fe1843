"""One family of errors: caught as ours, as Python's own, and read as a sentence."""

import pickle

import pytest

import eigentext
from eigentext import errors
from eigentext.errors import EigentextError

FAMILY = [
    error
    for error in vars(errors).values()
    if isinstance(error, type) and issubclass(error, EigentextError)
]


def test_the_family_is_complete():
    assert {error.__name__ for error in FAMILY} >= {
        "EigentextError",
        "CorpusError",
        "MomentsError",
        "ParameterError",
        "ModelFileError",
        "UnknownWordError",
    }
    assert eigentext.EigentextError is EigentextError


@pytest.mark.parametrize("error", FAMILY)
def test_the_message_is_the_sentence_itself(error):
    # A KeyError would print it in quotes.
    assert str(error('it\'s a "sentence"; correct it')) == 'it\'s a "sentence"; correct it'
    assert str(error()) == ""
    assert str(error(ValueError("inner"))) == "inner"


@pytest.mark.parametrize("error", FAMILY)
def test_the_remedy_is_for_the_user_to_read(error):
    assert error.__doc__
    with pytest.raises(EigentextError):
        raise error("x")


@pytest.mark.parametrize(
    ("name", "python"),
    [
        ("CorpusError", ValueError),
        ("MomentsError", ValueError),
        ("ParameterError", ValueError),
        ("ModelFileError", ValueError),
        ("UnknownWordError", KeyError),
    ],
)
def test_ordinary_code_catches_it_in_the_ordinary_way(name, python):
    with pytest.raises(python):
        raise getattr(errors, name)("x")


@pytest.mark.parametrize("error", FAMILY)
def test_errors_travel_between_processes(error):
    copy = pickle.loads(pickle.dumps(error("said")))
    assert type(copy) is error
    assert str(copy) == "said"
