"""Writes the tables and plots of the results from the kept runs: ``python docs/_results.py``.

The kept runs are ``benchmarks/results/*.json`` (see ``benchmarks/_record.py``). This script writes

- ``docs/results/*.md``: all tables, with how, when and on what machine they were measured;
- the tables inside ``docs/results.md`` and other pages (`WITH_TABLES`), which stand between
  ``<!-- table … -->`` and ``<!-- end -->``. People write the rest of these pages;
- the plots ``docs/*.svg`` (see ``docs/_plots.py``).

``python docs/_results.py --pages`` leaves the plots out. tests/test_benchmarks.py checks that all
of them agree with the kept runs.
"""

import re
import sys
import textwrap
from hashlib import sha256
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent / "benchmarks"))

from _record import RESULTS, columns_of, figure, kept, table_of  # noqa: E402

PAGE = DOCS / "results.md"
WITH_TABLES = (PAGE, DOCS / "two-view-topics.md")  # pages that people write, with tables inside
FOLDER = DOCS / "results"
_SPECTRAL = [
    f"grammars_spectral_{section}"
    for section in (
        *("final_penn", "final_gum", "ladder_penn", "ladder_gum", "states_penn", "states_gum"),
        *("table1_penn", "table1_gum", "cost_gum", "tried"),
    )
]
# The runs of each page, in order.
PAGES = {
    "hmm-cost": (
        "The cost of hidden Markov models",
        ["hmm_cost", "hmm_error", "hmm_cost_before"],
    ),
    "words": ("Word vectors", ["words", "words_ours", "cost", "text_vectors"]),
    "words-memory": ("Memory of word vectors", ["words_memory"]),
    "word-choices": (
        "Choices that make good word vectors",
        ["quality_table1", "quality_table2", "quality_beyond", "words_defaults", "words_more"],
    ),
    "purposes": ("Purposes of word vectors", ["purposes"]),
    "rare-words": ("Rare words and morphology", ["rare_words", "rare_words_tried"]),
    "engine": (
        "Text, factors, threads and the explorer",
        [
            *("encode", "svd", "power_iteration", "neighbors", "out_of_core", "distributed"),
            *("distributed_scaling", "explorer", "demo", "first_call", "first_call_shipped"),
            "latency",
        ],
    ),
    "sequences": (
        "Sequences",
        ["hmm", "hmm_error", "hmm_tried", "bigram", "kneser_ney", "sequences_more"],
    ),
    "unsupervised-tags": ("Tags without labels", ["unsupervised_tags"]),
    "class-models": (
        "Class models",
        ["class_bigram_clusters", "class_bigram_brown", "class_bigram_text8"],
    ),
    "refinement": (
        "Taggers with hidden states",
        [
            *("refinement_penn", "refinement_gum", "refinement_conll", "refinement_brown"),
            *("refinement_chunks", "refinement_chosen"),
        ],
    ),
    "ngrams": ("N-grams at scale and in service", ["ngrams_service"]),
    "automata": ("Weighted automata", ["automata"]),
    "topics": (
        "Topics",
        [
            *("topics_synthetic", "topics", "topics_anchors", "topics_ranking", "topics_tried"),
            *("topics_choice", "topics_background"),
            *("topics_views_fields", "topics_views_embeddings"),
            *("topics_transform", "topics_pyldavis"),
        ],
    ),
    "topics-users": ("Topics, judged as users judge them", ["topics_users"]),
    "parsers": (
        "Parsers",
        [
            *("parsers_cv_text", "parsers_best_penn", "parsers_best_gum", "parsers_cv_states"),
            *("grammars", "peers_parsing", "grammars_cost", "grammars_size", "parse_phases"),
            *("backoff", "grammars_tried"),
        ],
    ),
    "spectral-parsers": (
        "Parsers by spectral and pivot learning",
        [
            *("parsers_cv_features", "parsers_cv_features_gum", "parsers_time_penn"),
            *_SPECTRAL,
            *("grammars_rank", "grammars_recovery"),
        ],
    ),
    "calibration": (
        "Calibration",
        ["calibration_spans", "calibration_tags", "calibration_words"],
    ),
    "kernels": (
        "Kernels and reranking",
        [
            *("kernels", "peers_kernels", "reranking_test", "reranking_dev", "reranking_tried"),
            *("reranking_cv", "reranking_trees_tried"),
        ],
    ),
    "tagging": (
        "Tagging",
        [
            "tagging",
            "tagging_curve",
            "tagging_tried",
            "state_vectors_dev",
            "conll2002",
            "policies",
            "two_view",
        ],
    ),
}
# Runs that are kept for comparison only.
UNSHOWN: set[str] = {"fuzz", "fuzz_readers", "walk"}
_BLOCK = re.compile(r"(<!-- table (.*?)\s-->\n).*?(<!-- end -->)", re.S)


def pages() -> dict[Path, str]:
    """All generated pages, and the written pages with their tables made again."""
    found = {FOLDER / f"{name}.md": _page(name, *about) for name, about in PAGES.items()}
    found[FOLDER / "topics-blind.md"] = blind_page(kept("topics_users"))
    return found | {page: filled(page.read_text(encoding="utf-8")) for page in WITH_TABLES}


def filled(text: str) -> str:
    """The page with its tables made again.

    A comment names the table: ``run/table``. It may name the rows and the columns that are shown:
    ``| rows: label / label; … | columns: name; …``.
    """

    def made(match: re.Match[str]) -> str:
        return f"{match[1]}\n{_chosen(' '.join(match[2].split()))}\n\n{match[3]}"

    return _BLOCK.sub(made, text)


def _chosen(wish: str) -> str:
    where, *rest = (part.strip() for part in wish.split("|"))
    name, _, table_name = where.partition("/")
    table = table_of(kept(name), table_name)
    options = dict(part.split(":", 1) for part in rest)
    given = {key: [x.strip() for x in value.split(";")] for key, value in options.items()}
    if unknown := given.keys() - {"rows", "columns"}:
        raise ValueError(f"table {where}: unknown option {unknown.pop()!r}")
    n, rows = len(table["labels"]), table["rows"]
    if "rows" in given:
        labels = [" / ".join(map(str, row[:n])) for row in rows]
        if missing := set(given["rows"]) - set(labels):
            raise ValueError(f"table {where} has no row {missing.pop()!r}")
        rows = [row for row, label in zip(rows, labels, strict=True) if label in given["rows"]]
    names = [column["name"] for column in table["columns"]]
    return markdown(table | {"rows": rows}, given.get("columns", names))


def markdown(table: dict[str, Any], names: list[str]) -> str:
    """A table with these columns; columns without a figure are left out."""
    n, columns = len(table["labels"]), columns_of(table)
    places = [[column.name for column in columns].index(name) for name in names]
    shown = [k for k in places if any(row[n + k] is not None for row in table["rows"])]
    lines = [[*table["labels"], *(columns[k].name for k in shown)]]
    for row in table["rows"]:
        cells = (figure(row[n + k], columns[k].digits) for k in shown)
        lines.append([*map(str, row[:n]), *cells])
    text = [f"| {' | '.join(cell.replace('|', ' and ') for cell in line)} |" for line in lines]
    return "\n".join([text[0], "|---" * n + "|---:" * len(shown) + "|", *text[1:]])


def _page(name: str, title: str, runs: list[str]) -> str:
    head = [
        f"# {title}: all tables",
        _prose(
            "`python docs/_results.py` writes this page from `benchmarks/results/*.json`. "
            "The conclusions are in [results](../results.md). Times vary by 20 to 30% between "
            "runs, so compare times within one table."
        ),
    ]
    return "\n\n".join([*head, *(_section(kept(run)) for run in runs)]) + "\n"


def _section(run: dict[str, Any]) -> str:
    parts = [f"## {run['title']}", _origin(run)]
    if run["about"]:
        parts.append(_prose(run["about"]))
    for table in run["tables"]:
        if not table.get("hidden"):
            if len(run["tables"]) > 1 or table["title"] != run["title"]:
                parts.append(_prose(f"**{table['title']}**"))
            if "about" in table:
                parts.append(_prose(table["about"]))
            parts.append(markdown(table, [column["name"] for column in table["columns"]]))
    if run["notes"]:
        parts.append("\n".join(_prose(f"- {note}", "  ") for note in run["notes"]))
    return "\n\n".join(parts)


def _origin(run: dict[str, Any]) -> str:
    """Where the figures come from, in a line or two."""
    command = f"`{run['command']}`" if run["command"] else "No script is kept"
    machine, versions = run["machine"], run["versions"]
    where = "another machine"
    if machine:
        where = f"{machine['cores']} cores, {machine['cpu']}, {machine['memory']:g} GiB"
    with_ = ", ".join(f"{name} {version}" for name, version in (versions or {}).items())
    return _prose(f"{command}; {run['date']}; {where}; {with_ or 'versions not noted'}.")


def blind_page(run: dict[str, Any]) -> str:
    """Ten topics of each system side by side, without its name; the key is at the end.

    The order of the systems is that of a digest, so nobody chose it.
    """
    rows = table_of(run, "blind")["rows"]
    parts, key = [_BLIND], ["## Key"]
    for data in dict.fromkeys(row[0] for row in rows):
        systems = {row[1] for row in rows if row[0] == data}
        order = sorted(systems, key=lambda name: sha256(f"{data}/{name}".encode()).digest())
        letters = dict(zip(order, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
        parts.append(f"## {data}")
        for system, letter in letters.items():
            lines = [f"{int(row[2]) + 1}. {row[3]}" for row in rows if row[:2] == [data, system]]
            parts += [f"### {data}, system {letter}", "\n".join(lines)]
        named = ", ".join(f"{letter} {system}" for system, letter in letters.items())
        key.append(_prose(f"{data}: {named}."))
    return "\n\n".join([*parts, *key]) + "\n"


_BLIND = """# Topics, blind

`python docs/_results.py` writes this page from `benchmarks/results/topics_users.json`, which
`benchmarks/topics_users.py` made. It shows ten topics of each system, for you to judge without
knowing whose they are. The rule was fixed before anyone saw them: of the run with 20 topics and
random seed 0, the ten largest (by the share of words, or of documents where a system has no other),
with ten words each as the system ranks them. The key is at the end of the page. The scores of the
same runs are in [the table](topics-users.md)."""


def _prose(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def main() -> None:
    """Write everything."""
    FOLDER.mkdir(exist_ok=True)
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
    if "--pages" not in sys.argv:
        import _plots

        _plots.draw_all(DOCS)


def unlisted() -> set[str]:
    """Kept runs that are on no page."""
    listed = {run for _, runs in PAGES.values() for run in runs}
    return {path.stem for path in RESULTS.glob("*.json")} - listed - UNSHOWN


if __name__ == "__main__":
    main()
