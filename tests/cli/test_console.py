"""Printing: characters that a stream does not have, and numbers with their nouns."""

import io

from eigentext.cli._console import can_print, finite, plural


def test_can_print():
    ascii_only = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    assert can_print("plain", ascii_only)
    assert not can_print("█", ascii_only)
    assert can_print("█", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))


def test_json_has_no_infinity():
    assert [finite(x) for x in (1.5, None, float("inf"), float("nan"))] == [1.5, None, None, None]


def test_numbers_with_their_nouns():
    assert [plural(n, "token") for n in (0, 1, 2000)] == ["0 tokens", "1 token", "2,000 tokens"]
