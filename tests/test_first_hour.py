"""The notebook of the first hour runs, and its cells show what they should."""

import os
from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient", reason="pip install nbclient ipykernel")
pytest.importorskip("ipykernel")
nbformat = pytest.importorskip("nbformat")

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "examples" / "first-hour.ipynb"
PROGRESS = """
import time
import eigentext as et
from eigentext.engine import phase

with phase("count", 20, "tokens") as advance:
    for _ in range(20):
        time.sleep(0.1)
        advance(1)
"""
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


def executed(notebook, folder: Path):
    """Run the cells in a kernel whose folder is empty."""
    resources = {"metadata": {"path": str(folder)}}
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources=resources
    )
    return client.execute(env=os.environ | {"HOME": str(folder), "IPYTHONDIR": str(folder)})


def outputs(cell) -> list[dict[str, str]]:
    assert not any(one.output_type == "error" for one in cell.outputs)
    return [one.get("data", {}) for one in cell.outputs]


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """The cells with code, by their first words."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    done = executed(notebook, tmp_path_factory.mktemp("notebook"))
    return {cell.source: cell for cell in done.cells if cell.cell_type == "code"}


def html(cells, start: str) -> str:
    (cell,) = [cell for source, cell in cells.items() if source.startswith(start)]
    return outputs(cell)[-1]["text/html"]


@pytest.mark.parametrize(
    ("start", "shown"),
    [
        ("words = et.Eigenwords", "(not fitted)"),
        ("words.fit", "nearest words"),
        ("et.WordClusters", "Largest clusters"),
        ("topics = et.TopicModel", "top words"),
        ("topics.top_words", "top words"),
        ("trees = ", "states of each label"),
        ("parser.parse(", "<svg"),
        ("parsed = ", "Brackets, in percent"),
        ("page = words.explore", "http://127.0.0.1:"),
    ],
)
def test_the_cells_show_what_they_should(cells, start, shown):
    assert shown in html(cells, start)


def test_every_cell_runs_and_writes_nothing_to_standard_error(cells):
    for source, cell in cells.items():
        outputs(cell)
        assert not any(one.get("name") == "stderr" for one in cell.outputs), source


def test_neighbors_are_printed(cells):
    cell = next(cell for source, cell in cells.items() if source.startswith("words.most"))
    assert "('matrices', 0." in outputs(cell)[-1]["text/plain"]


def test_the_notebook_is_kept_without_outputs():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") for cell in notebook.cells)


def test_a_kernel_shows_progress_by_itself_unless_told_otherwise(tmp_path):
    new = nbformat.v4.new_code_cell
    silent = f"import eigentext as et; et.progress(False)\n{PROGRESS}"
    again = f"et.progress(None)\n{PROGRESS}"
    notebook = nbformat.v4.new_notebook(cells=[new(PROGRESS), new(silent), new(again)])
    first, second, third = executed(notebook, tmp_path).cells
    (shown,) = outputs(first)
    assert "s in all: count 2." in shown["text/plain"]
    assert outputs(second) == []
    assert len(outputs(third)) == 1
