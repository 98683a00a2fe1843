"""Model cards: what a model is, how it was made, how good it is, in Markdown with YAML in front.

The YAML is what the Hugging Face Hub reads: https://huggingface.co/docs/hub/model-cards. Its
strings are JSON strings, which are YAML too. So no YAML library is needed.
"""

import inspect
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import eigentext
from eigentext.errors import ParameterError
from eigentext.estimators import Findings, check_is_fitted
from eigentext.parameters import is_number
from eigentext.storage.valid_json import json_text

Results = Mapping[str, Mapping[str, float]]
# The tasks of the Hub, where one fits.
_TASKS = {
    "Eigenwords": "feature-extraction",
    "Eigentokens": "feature-extraction",
    "TextVectors": "feature-extraction",
    "Tagger": "token-classification",
    "HMMTagger": "token-classification",
    "RefinementHMM": "token-classification",
}
_USES = {
    "BigramModel": 'model.probability("dog", given="the")',
    "ClassBigram": 'model.probability("dog", given="the")',
    "Eigentokens": 'model.transform([["a", "sentence", "of", "tokens"]])',
    "Eigenwords": 'model.most_similar("word")',
    "HMM": 'model.log_probability(["a", "sentence", "of", "tokens"])',
    "WeightedAutomaton": 'model.log_probability(["a", "sentence", "of", "tokens"])',
    "HMMTagger": 'model.tag("A sentence as text.")',
    "RefinementHMM": 'model.tag("A sentence as text.")',
    "KneserNey": 'model.perplexity([["a", "sentence", "of", "tokens"]])',
    "LatentPCFG": 'print(model.parse("A sentence as text."))',
    "PCFG": 'print(model.parse("A sentence as text."))',
    "Tagger": 'model.tag(["A sentence as text."])',
    "TextVectors": 'model.transform(["one text", "another text"])',
    "TopicModel": "model.top_words(10)",
    "TwoViewTopics": "model.top_words(10)",
    "WordClusters": "model.most_frequent(0, 10)",
}
_LONGEST = 200  # characters of a value in a table
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]+")


def card(
    model: Any,
    *,
    name: str | None = None,
    description: str = "",
    license: str | None = None,
    language: str | Iterable[str] = (),
    datasets: str | Iterable[str] = (),
    results: Results | None = None,
    tags: str | Iterable[str] = (),
    repo_id: str | None = None,
) -> str:
    """The model card of a fitted model, as the text of a README.md.

    Parameters
    ----------
    model : fitted model
        Its parameters, its provenance, its diagnostics and its findings are on the card.
    name : str, optional
        The name of the model; by default the name of its class.
    description : str
        What the model is for, in your words (Markdown).
    license : str, optional
        As the Hub writes it, such as "mit" or "cc-by-4.0".
    language : str or list of str
        Codes of ISO 639, such as "en".
    datasets : str or list of str
        What the model was learned from.
    results : dict, optional
        What was measured: data sets, with names and values of measures, as in
        ``{"WordSim-353": {"Spearman correlation": 0.68}}``.
    tags : str or list of str
        More words to find the model by.
    repo_id : str, optional
        Where it will be on the Hub ("user/name"), for the example.

    Examples
    --------
    >>> import eigentext as et
    >>> words = et.Eigenwords(2, window=1).fit(["the cat sat", "the dog sat"] * 5)
    >>> et.hub.card(words, license="mit", language="en").splitlines()[:4]
    ['---', 'library_name: "eigentext"', 'license: "mit"', 'language:']
    """
    check_is_fitted(model)
    kind = type(model).__name__
    title = _plain(name or kind)
    given = {
        "language": _listed("language", language),
        "datasets": _listed("datasets", datasets),
        "tags": _listed("tags", tags),
    }
    measured = _checked_results(results)
    parts = [
        *_front(kind, title, license, given, measured),
        f"# {_markdown(title)}",
        _what(model),
        description.strip(),
        *_how_to_use(kind, repo_id),
        *_results(measured),
        *_findings(model),
        *_data(model, given["datasets"]),
        *_parameters(model),
        *_license(license),
        f"Made by [eigentext](https://pypi.org/project/eigentext/) {eigentext.__version__}.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


# The parts of a card.


def _front(
    kind: str, title: str, license: str | None, given: dict[str, list[str]], measured: Results
) -> Iterator[str]:
    """The YAML."""
    head: dict[str, Any] = {"library_name": "eigentext"}
    if license is not None:
        head["license"] = _plain(license)
    head["language"] = given["language"]
    if kind in _TASKS:
        head["pipeline_tag"] = _TASKS[kind]
    head["tags"] = list(dict.fromkeys(["eigentext", _of_class(kind), *given["tags"]]))
    head["datasets"] = [one for one in given["datasets"] if re.fullmatch(r"[\w./-]+", one)]
    head["metrics"] = list(dict.fromkeys(_slug(m) for one in measured.values() for m in one))
    lines = ["---"]
    for key, value in head.items():
        if isinstance(value, list):
            lines += [f"{key}:", *(f"- {_quoted(one)}" for one in value)] if value else []
        else:
            lines.append(f"{key}: {_quoted(value)}")
    if measured:
        lines += ["model-index:", f"- name: {_quoted(title)}", "  results:"]
        for dataset, values in measured.items():
            lines += [
                "  - task:",
                f"      type: {_quoted(_TASKS.get(kind, 'other'))}",
                "    dataset:",
                f"      name: {_quoted(dataset)}",
                f"      type: {_quoted(_slug(dataset))}",
                "    metrics:",
            ]
            for metric, value in values.items():
                lines += [
                    f"    - name: {_quoted(metric)}",
                    f"      type: {_quoted(_slug(metric))}",
                    f"      value: {json_text(value)}",
                ]
    yield "\n".join([*lines, "---"])


def _what(model: Any) -> str:
    first = (inspect.getdoc(type(model)) or "").partition("\n")[0]
    return f"`{type(model).__name__}` of eigentext. {first}"


def _how_to_use(kind: str, repo_id: str | None) -> Iterator[str]:
    yield "## How to use it"
    yield "```\npip install eigentext\n```"
    place = _plain(repo_id) if repo_id else "user/name"
    lines = [
        "import eigentext as et",
        "",
        f'model = et.hub.pull("{place}")  # or et.load("folder")',
        *([_USES[kind]] if kind in _USES else []),
    ]
    yield "\n".join(["```python", *lines, "```"])


def _results(measured: Results) -> Iterator[str]:
    if not measured:
        return
    yield "## Results"
    rows = [
        (dataset, metric, f"{value:.4g}")
        for dataset, values in measured.items()
        for metric, value in values.items()
    ]
    yield _table(("data", "measure", "value"), rows)


def _findings(model: Any) -> Iterator[str]:
    found = model.findings() if isinstance(model, Findings) else []
    if found:
        yield "## What the model says about itself"
        yield "\n".join(f"- {one.severity}: {_markdown(one.line)}" for one in found)


def _data(model: Any, datasets: list[str]) -> Iterator[str]:
    facts = dict(getattr(model, "provenance_", {}))
    if not facts and not datasets:
        return
    yield "## Data"
    if datasets:
        yield "\n".join(f"- {_markdown(one)}" for one in datasets)
    if facts:
        yield _table(("", "value"), [(name, _shown(value)) for name, value in facts.items()])


def _parameters(model: Any) -> Iterator[str]:
    used = getattr(model, "parameters_", None)
    if used is not None:
        yield "## Parameters"
        yield _table(("parameter", "value"), [(n, _shown(v)) for n, v in dict(used).items()])


def _license(license: str | None) -> Iterator[str]:
    yield "## License"
    yield (
        f"The license of this model is {_markdown(license)}."
        if license is not None
        else "No license is stated. Ask the authors before you use the model."
    )


# Values as text.


def _listed(name: str, given: str | Iterable[str]) -> list[str]:
    found = [given] if isinstance(given, str) else list(given)
    if not all(isinstance(one, str) and one.strip() for one in found):
        raise ParameterError(f"{name} must be a string or a list of strings, not {given!r:.80}")
    return [_plain(one) for one in found]


def _checked_results(results: Any) -> dict[str, dict[str, float]]:
    """The results as plain numbers."""
    wrong = ParameterError(
        "results must be data sets with names and finite values of measures, as in "
        f"{{'WordSim-353': {{'Spearman correlation': 0.68}}}}, not {results!r:.80}"
    )
    if results is None:
        return {}
    if not isinstance(results, Mapping):
        raise wrong
    for dataset, values in results.items():
        if not isinstance(dataset, str) or not isinstance(values, Mapping) or not values:
            raise wrong
        for metric, value in values.items():
            if not isinstance(metric, str) or not is_number(value) or not math.isfinite(value):
                raise wrong
    return {
        _plain(dataset): {_plain(metric): float(value) for metric, value in values.items()}
        for dataset, values in results.items()
    }


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_shown(part)}" for name, part in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_shown, value)) if value else "none"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *(tuple(map(_markdown, row)) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _plain(text: str) -> str:
    """One line without control characters."""
    return " ".join(_CONTROL.sub(" ", str(text)).split())


def _markdown(text: str) -> str:
    """Text that Markdown shows as it is, shortened."""
    text = _plain(text)
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", text)


def _quoted(text: str) -> str:
    return json_text(text, ascii_only=False)


def _slug(text: str) -> str:
    """A name in lower case, with hyphens for blanks and signs."""
    return re.sub(r"[^\w.]+", "-", text.lower()).strip("-") or "other"


def _of_class(name: str) -> str:
    """The name of a class as a tag: "LatentPCFG" is "latent-pcfg"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()
