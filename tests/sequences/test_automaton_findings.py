"""What automata say about themselves: each figure is told when it should be, and only then."""

import pytest

from eigentext import WeightedAutomaton
from eigentext.parameters import Settings
from eigentext.sequences._automaton_findings import findings_of

GOOD = {"rank": 100, "never_seen": 0, "negative_mass": 0.01}


def said(diagnostics, **settings):
    return list(findings_of(diagnostics, Settings(WeightedAutomaton(**settings).get_params())))


def test_nothing_to_say():
    assert said(GOOD) == []
    assert said({}) == []  # given weights


@pytest.mark.parametrize(
    ("found", "settings", "level", "part"),
    [
        ({"never_seen": 3}, {}, "warning", "3 strings of the basis never occur"),
        ({"rank": 7}, {}, "note", "7 of 100 states are used"),
        ({"rank": 7, "tried": []}, {}, "note", "predicted best with 7 of 100 states"),
        ({"negative_mass": 0.25}, {}, "warning", "25% of the probability"),
        ({"negative_mass": 0.25}, {"repair": "none"}, "warning", "25% is negative"),
        ({"negative_mass": 0.01}, {"repair": "none"}, "note", "1% is negative"),
    ],
)
def test_each_alone(found, settings, level, part):
    [finding] = said(GOOD | found, **settings)
    assert finding.severity == level
    assert part in finding.sentence
    assert finding.remedy or "tried" in found


def test_all_together():
    found = {"rank": 7, "never_seen": 3, "negative_mass": 0.25}
    assert [one.severity for one in said(found)] == ["warning", "note", "warning"]
    plain = said(found, repair="none")  # it has all directions, whatever their noise
    assert len(plain) == 2
