"""A tagger as one file: its weights, its symbols, and the sources it was given."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from eigentext.corpus.origins import TAGGED
from eigentext.parameters import Choice, Flag, Given, Number
from eigentext.storage.facts import COUNT, TEXTS, facts
from eigentext.storage.files import Arrays
from eigentext.storage.models import Saved, nested, restored
from eigentext.storage.schema import Array, Schema, Strings, damage
from eigentext.tagging.choices import ARGUMENTS
from eigentext.tagging.decoding import Decoder
from eigentext.tagging.features import FeatureExtractor, restore_features, saved_features
from eigentext.tagging.sources import (
    ClusterSource,
    TokenVectorSource,
    WordVectorSource,
    given_sources,
)
from eigentext.tagging.tagset import TagSet
from eigentext.tagging.templates import VECTORS, parse_templates
from eigentext.tagging.weights import Weights

_LARGEST = 1e9  # of weights, so that sums of products stay finite in single precision


@dataclass(frozen=True)
class TaggerContent:
    """What a file keeps of a fitted tagger.

    Parameters
    ----------
    parameters
        The parameters of the fit. A file has the sources among them as arrays of their own.
    decoder
        The features, the weights, the tags and the temperature.
    templates
        The templates as strings.
    diagnostics
        What the fit says about itself.
    """

    parameters: dict[str, Any]
    decoder: Decoder
    templates: list[str]
    diagnostics: dict[str, Any]


def saved_tagger(content: TaggerContent) -> tuple[Arrays, dict[str, Any]]:
    """Return the arrays and the document of a file."""
    features, weights = content.decoder.features, content.decoder.weights
    tagset = content.decoder.tagset
    arrays: dict[str, Any] = saved_features(features)
    arrays |= {"W": weights.W, "D": weights.D, "T": weights.T, "end": weights.end}
    used = {n: v for n, v in content.parameters.items() if n not in ARGUMENTS.values()}
    about: dict[str, Any] = {
        "parameters": used,
        "tags": tagset.names,
        "learned_tags": tagset.learned,
        "columns": list(features.columns),
        "templates": content.templates,
        "scheme": tagset.scheme,
        "converts": tagset.converts,
        "temperature": content.decoder.temperature,
        "diagnostics": content.diagnostics,
        "scales": {name: source.scale for name, source in features.sources.items()},
        "sources": {},
    }
    for name, source in features.sources.items():
        if isinstance(source, WordVectorSource):
            arrays |= {"vector.words": source.words, "vector.vectors": source.vectors}
            about["sources"][name] = {}
        elif isinstance(source, TokenVectorSource):
            parts, about["sources"][name] = nested(cast(Saved, source.model))
            arrays |= {f"{name}.{key}": part for key, part in parts.items()}
    if features.clusters is not None:
        arrays["clusters.words"] = features.clusters.words
        arrays["clusters.paths"] = features.clusters.paths
    return arrays, about


def restored_tagger(arrays: dict[str, Any], about: dict[str, Any]) -> TaggerContent:
    """Return what :func:`saved_tagger` saved."""
    given = _restored_sources(arrays, about)
    clusters, sources = given_sources(**{name: given.get(name) for name in ARGUMENTS.values()})
    for name, source in sources.items():
        source.scale = float(about["scales"][name])
    templates, columns = about["templates"], tuple(about["columns"])
    features = FeatureExtractor(parse_templates(templates), columns, clusters, sources)
    restore_features(features, arrays)
    weights = Weights(*(np.array(arrays[name]) for name in Weights._fields))
    if len(weights.D) != features.n_dense:
        raise damage("D", f"has {len(weights.D)} rows, not {features.n_dense}")
    features.check_parts()
    tagset = TagSet(about["learned_tags"], about["scheme"], about["converts"])
    if about["tags"] != tagset.names:
        raise damage("tags", "are not those that were learned")
    if any(not T.size or np.isneginf(T).all() for T in (weights.T[-1], weights.end)):
        raise damage("T", "forbids every tagging")
    decoder = Decoder(features, weights, tagset, about["temperature"])
    diagnostics = dict(about["diagnostics"])
    if "dev" in diagnostics:  # the name in older files
        diagnostics["validation"] = diagnostics.pop("dev")
    return TaggerContent(about["parameters"] | given, decoder, templates, diagnostics)


def _restored_sources(arrays: dict[str, Any], about: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of the tagger that are sources."""
    given: dict[str, Any] = {}
    if "clusters.words" in arrays:
        given["clusters"] = ClusterSource(arrays["clusters.words"], arrays["clusters.paths"])
    for name, info in about["sources"].items():
        parts = {
            key.removeprefix(f"{name}."): part
            for key, part in arrays.items()
            if key.startswith(f"{name}.")
        }
        given[ARGUMENTS[name]] = (
            WordVectorSource(parts["words"], parts["vectors"])
            if name == "vector"
            else restored(parts, info)
        )
    return given


def tagger_schema(about: dict[str, Any]) -> Schema:
    """Describe what the file of a tagger must contain."""
    names = {part.name for one in parse_templates(about["templates"]) for part in one}
    arrays: dict[str, Any] = {
        "keys": Array("uint64", ("features",), least=1),
        "parts": Array("int32", ("features", "parts")),
        "W": Array("float32", ("features", "tags"), largest=_LARGEST),
        "D": Array("float32", ("dense", "tags"), largest=_LARGEST),
        "T": Array("float32", ("tags+1", "tags"), forbids=True, largest=_LARGEST),
        "end": Array("float32", ("tags",), forbids=True, largest=_LARGEST),
        "vector.words": Strings("vectors", optional=True),
        "vector.vectors": Array("float32", ("vectors", "width"), optional=True, largest=_LARGEST),
        "clusters.words": Strings("clustered", optional=True),
        "clusters.paths": Strings("clustered", optional=True),
    }
    arrays |= {f"symbols.{name}": Strings(f"symbols.{name}", unique=True) for name in names
               if name not in VECTORS}  # fmt: skip
    models = facts("documents of models", needs=(), **dict.fromkeys(ARGUMENTS, facts("a document")))
    known = {
        "parameters": facts("parameters"),
        "tags": TEXTS,
        "learned_tags": Given([], what="different tags", test=_are_tags),
        "columns": Given([], what="different columns", test=_are_tags),
        "templates": TEXTS,
        "scheme": Choice(None, of=("bio", "bilou", "iobes")),
        "converts": Flag(False),
        "temperature": Number(1.0, least=1e-6, most=1e6),
        "diagnostics": facts(
            "diagnostics",
            needs=("n_sentences", "n_tokens", "coverage"),
            n_tokens=COUNT,
            n_words=COUNT,
            n_once=COUNT,
        ),
        "scales": facts(
            "scales", needs=(), **dict.fromkeys(ARGUMENTS, Number(1.0, least=0, most=_LARGEST))
        ),
        "sources": models,
    }
    if "provenance" in about:  # older files have none
        known["provenance"] = TAGGED
    return Schema(arrays, about=known, sizes={"tags": len(about["learned_tags"])})


def _are_tags(value: Any) -> bool:
    return TEXTS.allows(value) and all(value) and 0 < len(value) == len(set(value))
