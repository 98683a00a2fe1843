"""Draws docs/walk-*.svg, how data passes through the rooms: ``python docs/_walks.py``.

Each figure is a column of steps. A step has a room, a sentence, the files that do the work, and
what they pass on. The figures have a light background, so they are legible on dark pages too.
"""

from html import escape
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent
_COLORS = {  # by layer: what comes in, statistics, linear algebra, models, results
    "corpus": "#dbeafe",
    "moments": "#dcfce7",
    "matrices": "#e5e7eb",
    "factor": "#fef3c7",
    "storage": "#e5e7eb",
}
_MODEL = "#fae8ff"
_WIDTH, _ROW, _GAP = 760, 58, 30


class Step(NamedTuple):
    """One step of a figure."""

    room: str
    sentence: str
    files: str
    gives: str  # what goes to the next step


WALKS = {
    "words": [
        Step(
            "corpus",
            "Read blocks of bytes, split them with Arrow, number the words.",
            "corpus/text.py, tokenizers.py, encoded.py, vocabulary.py",
            "tokens: one int32 array, -1 ends a line",
        ),
        Step(
            "moments",
            "Count forward pairs, shard by shard, and add the shards.",
            "moments/cooccurrence.py, pairs.py",
            "F: integer counts of words by contexts",
        ),
        Step(
            "matrices",
            "Mirror F to F + Fᵀ, in memory or on disk, within the budget.",
            "matrices/runs.py, disk.py, budget.py",
            "counts #(w, c)",
        ),
        Step(
            "words",
            "Transform and scale the counts (steps 1 and 2 of the template).",
            "words/eigenwords.py, template.py",
            "Ω, as diag(l) T diag(r)",
        ),
        Step(
            "factor",
            "Decompose Ω by a block Krylov method (step 3).",
            "factor/svd.py, basis.py; matrices/products.py",
            "U, Σ",
        ),
        Step(
            "words",
            "Scale U by Σ^β and normalize its rows (step 4).",
            "words/eigenwords.py",
            "vectors_, diagnostics_",
        ),
        Step(
            "storage",
            "Write one safetensors file with a JSON document.",
            "storage/files.py, models.py",
            "",
        ),
    ],
    "grammar": [
        Step(
            "corpus",
            "Read trees in Penn brackets and normalize them.",
            "corpus/trees.py",
            "trees",
        ),
        Step(
            "grammars",
            "Join unary chains, binarize, class rare words, describe nodes by features.",
            "grammars/treebank/reading.py, normal_form.py, lexicon.py, features.py",
            "flat arrays of nodes; features φ and ψ",
        ),
        Step(
            "grammars",
            "Learn a grammar of two states by EM. It prunes for the others.",
            "grammars/learning/em.py, training.py",
            "the pruning grammar",
        ),
        Step(
            "factor",
            "For each label, decompose the mean of φψᵀ.",
            "grammars/learning/spectral.py; factor/svd.py",
            "projections Y(t), Z(o) of every node",
        ),
        Step(
            "grammars",
            "Average Z Y Y over the nodes of each rule, and smooth.",
            "grammars/learning/spectral.py, _spectral_loops.py",
            "tensors of rules, vectors of words",
        ),
        Step(
            "grammars",
            "Parse: prune twice, compute marginals, choose the tree.",
            "grammars/chart/cascade.py, pruning.py, forest.py, decoding.py",
            "trees",
        ),
        Step(
            "storage",
            "Write one file; features of your own are kept by name.",
            "grammars/saving.py; storage/files.py",
            "",
        ),
    ],
    "topics": [
        Step(
            "corpus",
            "Split documents into words of letters.",
            "corpus/documents.py, encoded.py",
            "documents as integers",
        ),
        Step(
            "moments",
            "Collect the multiset of bags of words, and leave out stop words and rare words.",
            "moments/documents.py, multisets.py, limits.py",
            "counts of documents by words",
        ),
        Step(
            "moments",
            "Weight the documents. Pair and triple moments are only ever multiplied.",
            "moments/bags.py; topics/tensor.py",
            "A as a product; T(W, W, W)",
        ),
        Step(
            "factor",
            "Whiten A and decompose the small tensor by power iteration.",
            "factor/whiten.py, tensor.py",
            "weights w, topics μ",
        ),
        Step(
            "topics",
            "Move topics onto the simplex and refine them by sampled EM.",
            "topics/steps.py, em.py",
            "components_, weights_",
        ),
        Step(
            "topics",
            "Report, transform, perplexity; write one file.",
            "topics/model.py, report.py; storage/files.py",
            "",
        ),
    ],
    "tagger": [
        Step(
            "words",
            "First, from plain text: vectors, clusters, eigentokens (see the first figure).",
            "words/eigenwords.py, clusters.py, eigentokens.py",
            "sources: models, passed as arguments",
        ),
        Step(
            "corpus",
            "Read tagged sentences in columns and check their scheme.",
            "corpus/conll.py, schemes.py",
            "lists of (word, …, tag)",
        ),
        Step(
            "tagging",
            "Look words up in the sources; make keys of features by templates.",
            "tagging/templates.py, sources.py, features.py",
            "keys for each token; rows of dense vectors",
        ),
        Step(
            "tagging",
            "Learn weights by an averaged perceptron, or by CRFsuite.",
            "tagging/learning.py, perceptron.py, crf.py",
            "weights W, D, T",
        ),
        Step(
            "tagging",
            "Decode by Viterbi; k best paths come from the trellis.",
            "tagging/decoding.py; trellis/k_best.py",
            "tags, marginals, k best",
        ),
        Step(
            "storage",
            "Write one file, with all sources in it.",
            "tagging/saving.py; storage/files.py",
            "",
        ),
    ],
}


def figure(name: str) -> str:
    """Return the figure as SVG."""
    steps = WALKS[name]
    height = len(steps) * (_ROW + _GAP) - _GAP + 32
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" font-family="Helvetica, Arial, sans-serif" '
        'font-size="14" fill="#1f2937" role="img">',
        f"<title>How data passes through the rooms: {name}</title>",
        f'<rect width="{_WIDTH}" height="{height}" rx="10" fill="#ffffff"/>',
    ]
    for i, step in enumerate(steps):
        parts += _step(step, 16 + i * (_ROW + _GAP), is_last=i == len(steps) - 1)
    return "\n".join([*parts, "</svg>", ""])


def _step(step: Step, top: int, *, is_last: bool) -> list[str]:
    color = _COLORS.get(step.room, _MODEL)
    found = [
        f'<rect x="16" y="{top}" width="{_WIDTH - 32}" height="{_ROW}" rx="8" fill="{color}" '
        'stroke="#9ca3af"/>',
        f'<text x="32" y="{top + 35}" font-weight="bold">{escape(step.room)}</text>',
        f'<text x="132" y="{top + 24}">{escape(step.sentence)}</text>',
        f'<text x="132" y="{top + 45}" font-family="monospace" font-size="12" '
        f'fill="#4b5563">{escape(step.files)}</text>',
    ]
    if not is_last:
        y = top + _ROW
        found += [
            f'<path d="M72 {y + 3} V{y + _GAP - 8}" stroke="#4b5563" stroke-width="2"/>',
            f'<path d="M66 {y + _GAP - 10} L72 {y + _GAP - 2} L78 {y + _GAP - 10} Z" '
            'fill="#4b5563"/>',
            f'<text x="132" y="{y + 20}" font-style="italic">{escape(step.gives)}</text>',
        ]
    return found


if __name__ == "__main__":
    for walk in WALKS:
        (FOLDER / f"walk-{walk}.svg").write_text(figure(walk), encoding="utf-8")
