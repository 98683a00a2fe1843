"""A tagger as one file: weights, symbols, and the sources it was given."""

from typing import Any

import numpy as np

from eigentext.storage.files import Arrays
from eigentext.storage.models import nested, restored
from eigentext.tagging.choices import ARGUMENTS, check_parameters
from eigentext.tagging.features import Features, restore_features, saved_features
from eigentext.tagging.perceptron import Weights
from eigentext.tagging.sources import Clusters, WordVectors, given_sources
from eigentext.tagging.templates import parse_templates


def saved_tagger(self: Any) -> tuple[Arrays, dict[str, Any]]:
    """The arrays and the document of a file."""
    features, weights = self._features, self._weights
    arrays: dict[str, Any] = saved_features(features)
    arrays |= {"W": weights.W, "D": weights.D, "T": weights.T, "end": weights.end}
    parameters = {n: v for n, v in self.get_params().items() if n not in ARGUMENTS.values()}
    if not isinstance(self.features, (str, list, tuple)):
        parameters["features"] = self.templates_  # an iterator is used up
    about: dict[str, Any] = {
        "parameters": parameters,
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
        if isinstance(source, WordVectors):
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
        given["clusters"] = Clusters(arrays["clusters.words"], arrays["clusters.paths"])
    for name, info in about["sources"].items():
        parts = {
            key.removeprefix(f"{name}."): part
            for key, part in arrays.items()
            if key.startswith(f"{name}.")
        }
        given[ARGUMENTS[name]] = (
            WordVectors(parts["words"], parts["vectors"])
            if name == "vector"
            else restored(parts, info)
        )
    self = cls(**about["parameters"], **given)
    check_parameters(self)
    clusters, sources = given_sources(self)
    for name, source in sources.items():
        source.scale = float(about["scales"][name])
    self.tags_, self._tags = about["tags"], about["learned_tags"]
    self.columns_, self.templates_ = about["columns"], about["templates"]
    self._scheme, self._converts = about["scheme"], about["converts"]
    self.temperature_, self.diagnostics_ = about["temperature"], about["diagnostics"]
    templates, columns = parse_templates(self.templates_), tuple(self.columns_)
    self._features = Features(templates, columns, clusters, sources)
    restore_features(self._features, arrays)
    self._weights = Weights(*(np.array(arrays[name]) for name in Weights._fields))
    _check_shapes(self._weights, self._features, len(self._tags))
    if self.tags_ != sorted(set(self._shown_tags())):
        raise ValueError(f"tags {self.tags_} that were not learned")
    return self


def _check_shapes(weights: Weights, features: Features, m: int) -> None:
    """Kernels trust these."""
    shapes = ((len(features.keys), m), (features.n_dense, m), (m + 1, m), (m,))
    found = tuple(part.shape for part in weights)
    if found != shapes or len(features.parts) != len(features.keys):
        raise ValueError(f"weights of shapes {found}, not {shapes}")
    features.check_parts()
    if any(part.dtype != np.float32 for part in weights):
        raise ValueError("weights that are not in single precision")
