"""A folder keeps the state of one fit, whole or not at all, and of no other."""

import json

import numpy as np
import pytest

import eigentext
from eigentext.errors import CheckpointError
from eigentext.storage import Checkpoint, checkpoint, checkpointing


def test_what_is_written_is_read(tmp_path):
    point = Checkpoint(tmp_path / "kept", {"dim": 3})
    assert point.read("svd-0") is None
    point.write("svd-0", {"Q": np.arange(3.0), "words": ["a", "b"]}, {"n": 1})
    again = Checkpoint(tmp_path / "kept", {"dim": 3})
    arrays, about = again.read("svd-0")
    assert np.array_equal(arrays["Q"], np.arange(3.0))
    assert (arrays["words"], about["n"]) == (["a", "b"], 1)
    again.drop("svd-0")
    assert again.read("svd-0") is None


def test_steps_are_numbered_alike_in_every_run(tmp_path):
    for _ in range(2):
        point = Checkpoint(tmp_path, {})
        assert [point.name(step) for step in ("svd", "em", "svd")] == ["svd-0", "em-0", "svd-1"]


def test_a_broken_state_is_worked_out_again(tmp_path):
    point = Checkpoint(tmp_path, {})
    point.write("svd-0", {"Q": np.arange(9.0)})
    point.path("svd-0").write_bytes(point.path("svd-0").read_bytes()[:-5])
    assert point.read("svd-0") is None


@pytest.mark.parametrize("name", ["../svd", "SVD", "a b", ""])
def test_names_stay_in_the_folder(tmp_path, name):
    with pytest.raises(ValueError, match="is not a valid name"):
        Checkpoint(tmp_path, {}).path(name)


def test_other_fits_versions_and_files_are_refused(tmp_path, monkeypatch):
    Checkpoint(tmp_path / "kept", {"dim": 3})
    with pytest.raises(CheckpointError, match="another fit, with dim 3, not 4"):
        Checkpoint(tmp_path / "kept", {"dim": 4})
    with pytest.raises(CheckpointError, match="another fit, with dim 3, not None"):
        Checkpoint(tmp_path / "kept", {})
    monkeypatch.setattr(eigentext, "__version__", "9.9")
    with pytest.raises(CheckpointError, match=r"with eigentext '0\.1\.0', not '9\.9'"):
        Checkpoint(tmp_path / "kept", {"dim": 3})
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("Dear Sir")
    with pytest.raises(CheckpointError, match="contains other files"):
        Checkpoint(tmp_path / "mine", {})
    with pytest.raises(CheckpointError, match="cannot save checkpoints there"):
        Checkpoint(tmp_path / "mine" / "letter.txt", {})


def test_done_is_cleared_and_undone_stays(tmp_path):
    folder = tmp_path / "kept"
    with pytest.raises(KeyboardInterrupt), checkpointing(folder) as point:
        assert checkpoint() is point
        point.write("em-0", {"x": np.ones(2)})
        raise KeyboardInterrupt
    assert checkpoint() is None
    assert json.loads((folder / "checkpoint.json").read_text())["eigentext"]
    (folder / "letter.txt").write_text("Dear Sir")
    with checkpointing(folder) as point:
        assert point.read("em-0") is not None
    assert [path.name for path in folder.iterdir()] == ["letter.txt"]
    with checkpointing(None) as point:
        assert point is None
