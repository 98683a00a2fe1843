"""The best paths through a trellis of scores, which models of sequences use to decode."""

from eigentext.trellis.k_best import check_k, first_order_paths, k_best_paths, second_order_paths
from eigentext.trellis.tagging import ScoredTagging

__all__ = ["ScoredTagging", "check_k", "first_order_paths", "k_best_paths", "second_order_paths"]
