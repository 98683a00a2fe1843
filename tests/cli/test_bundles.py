"""Options that commands share: sizes of memory."""

import pytest
import typer

from eigentext.cli._bundles import MemoryOption, StorageOptions, parse_memory
from eigentext.matrices.budget import DEFAULT_MEMORY


@pytest.mark.parametrize(
    ("written", "n_bytes"),
    [
        ("2GB", 2 * 10**9),
        ("500MB", 500 * 10**6),
        ("1.5GiB", 3 * 2**29),
        ("64 m", 64 * 10**6),
        ("1TB", 10**12),
        ("30000kb", 30_000_000),
        ("20000000", 20_000_000),
        (2_000_000_000, 2_000_000_000),  # the default is a number
    ],
)
def test_memory_as_people_write_it(written, n_bytes):
    assert parse_memory(written) == n_bytes


@pytest.mark.parametrize("nonsense", ["", "GB", "-1GB", "2XB", "1.2.3GB", "nan", "٣GB", "two", "0"])
def test_memory_that_is_no_size(nonsense):
    with pytest.raises(typer.BadParameter, match=r"2GB or 500MB|the least is 10MB"):
        parse_memory(nonsense)


def test_the_help_names_the_default_of_the_library():
    (option,) = MemoryOption.__metadata__
    size, _, purpose = option.show_default.partition(" ")
    assert parse_memory(size) == DEFAULT_MEMORY
    assert purpose.startswith("for counting")


def test_the_estimator_gets_memory_only_if_the_user_gave_it(tmp_path):
    assert StorageOptions().arguments() == {"cache": True}
    assert StorageOptions(cache=tmp_path).arguments() == {"cache": tmp_path}
    given = StorageOptions(cache=tmp_path, no_cache=True, memory=10**9)
    assert given.arguments() == {"cache": False, "memory": 10**9}
