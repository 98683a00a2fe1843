"""Topics: mixtures of multinomials and LDA, by tensors, by anchor words, and refined by EM."""

from eigentext.topics.model import TopicModel

__all__ = ["TopicModel"]
