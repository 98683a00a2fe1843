"""A tagger as one file: weights, symbols, and the sources it was given."""

from typing import Any

import numpy as np

from eigentext.estimators import learned_with
from eigentext.parameters import Choice, Flag, Given, Number
from eigentext.storage.facts import TEXTS, facts
from eigentext.storage.files import Arrays
from eigentext.storage.models import nested, restored
from eigentext.storage.schema import Array, Schema, Strings, damage
from eigentext.tagging.choices import ARGUMENTS
from eigentext.tagging.features import FeatureExtractor, restore_features, saved_features
from eigentext.tagging.perceptron import Weights
from eigentext.tagging.sources import ClusterSource, WordVectorSource, given_sources
from eigentext.tagging.templates import VECTORS, parse_templates

_LARGEST = 1e9  # of weights: sums of products stay finite in single precision


def saved_tagger(self: Any) -> tuple[Arrays, dict[str, Any]]:
    """The arrays and the document of a file."""
    features, weights = self._features, self._weights
    arrays: dict[str, Any] = saved_features(features)
    arrays |= {"W": weights.W, "D": weights.D, "T": weights.T, "end": weights.end}
    used = {n: v for n, v in dict(self.parameters_).items() if n not in ARGUMENTS.values()}
    about: dict[str, Any] = {
        "parameters": used,
        "tags": self.tags_,
        "learned_tags": self._tags,
        "columns": self.columns_,
        "templates": self.templates_,
        "scheme": self._scheme,
        "converts": self._converts,
        "temperature": self.temperature_,
        "diagnostics": self.diagnostics_,
        "scales": {name: source.scale for name, source in features.sources.items()},
        "sources": {},
    }
    for name, source in features.sources.items():
        if isinstance(source, WordVectorSource):
            arrays |= {"vector.words": source.words, "vector.vectors": source.vectors}
            about["sources"][name] = {}
        else:
            parts, about["sources"][name] = nested(source.model)
            arrays |= {f"{name}.{key}": part for key, part in parts.items()}
    if features.clusters is not None:
        arrays["clusters.words"] = features.clusters.words
        arrays["clusters.paths"] = features.clusters.paths
    return arrays, about


def restored_tagger(cls: Any, arrays: dict[str, Any], about: dict[str, Any]) -> Any:
    """The tagger that :func:`saved_tagger` saved."""
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
    self = learned_with(cls, about["parameters"] | given)
    clusters, sources = given_sources(self)
    for name, source in sources.items():
        source.scale = float(about["scales"][name])
    self.tags_, self._tags = about["tags"], about["learned_tags"]
    self.columns_, self.templates_ = about["columns"], about["templates"]
    self._scheme, self._converts = about["scheme"], about["converts"]
    self.temperature_, self.diagnostics_ = about["temperature"], about["diagnostics"]
    templates, columns = parse_templates(self.templates_), tuple(self.columns_)
    self._features = FeatureExtractor(templates, columns, clusters, sources)
    restore_features(self._features, arrays)
    self._weights = Weights(*(np.array(arrays[name]) for name in Weights._fields))
    if len(self._weights.D) != self._features.n_dense:
        raise damage("D", f"has {len(self._weights.D)} rows, not {self._features.n_dense}")
    self._features.check_parts()
    if self.tags_ != sorted(set(self._shown_tags())):
        raise damage("tags", "are not those that were learned")
    if any(not T.size or np.isneginf(T).all() for T in (self._weights.T[-1], self._weights.end)):
        raise damage("T", "forbids every tagging")
    return self


def tagger_schema(about: dict[str, Any]) -> Schema:
    """What a tagger's file must hold."""
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
        "scheme": Choice(None, of=("bio", "bilou")),
        "converts": Flag(False),
        "temperature": Number(1.0, least=1e-6, most=1e6),
        "diagnostics": facts("diagnostics", needs=("n_sentences", "n_tokens", "coverage")),
        "scales": facts(
            "scales", needs=(), **dict.fromkeys(ARGUMENTS, Number(1.0, least=0, most=_LARGEST))
        ),
        "sources": models,
    }
    return Schema(arrays, about=known, sizes={"tags": len(about["learned_tags"])})


def _are_tags(value: Any) -> bool:
    return TEXTS.allows(value) and all(value) and 0 < len(value) == len(set(value))
