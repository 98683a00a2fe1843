"""The best paths through a trellis of scores: what models of sequences decode with."""

from eigentext.trellis.k_best import check_k, first_order_paths, k_best_paths, second_order_paths

__all__ = ["check_k", "first_order_paths", "k_best_paths", "second_order_paths"]
