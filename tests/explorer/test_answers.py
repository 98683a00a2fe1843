import json

from eigentext.errors import ParameterError
from eigentext.explorer.answers import answered, to_json
from eigentext.explorer.models import Explored


class _Odd(Explored):
    light = ("mistake", "memory", "bug", "nan")

    def mistake(self, arguments):
        raise ParameterError("give another number")

    def memory(self, arguments):
        raise MemoryError

    def bug(self, arguments):
        raise ZeroDivisionError("secret")

    def nan(self, arguments):
        return {"value": float("nan")}


def test_every_error_is_an_answer(capsys):
    models = [_Odd(None, "odd")]
    answers = {name: answered(models, 0, name, {}) for name in ("mistake", "memory", "bug", "nan")}
    assert {name: status for name, (status, _) in answers.items()} == {
        "mistake": 400, "memory": 503, "bug": 500, "nan": 500,
    }  # fmt: skip
    assert json.loads(answers["mistake"][1]) == {"error": "give another number"}
    assert b"secret" not in answers["bug"][1]  # only the terminal shows it
    assert "secret" in capsys.readouterr().err
    assert answered(models, 0, "about", {})[0] == 404  # a method that is not a query


def test_any_string_is_json():
    words = ["naïve", "\ud800", '"</script>', "\u2028"]
    assert json.loads(to_json(words)) == words
