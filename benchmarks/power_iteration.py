"""Tensor power iteration beside that of a matrix with the same factors.

Run it with ``.venv/bin/python benchmarks/power_iteration.py``, a few seconds. According to
[Boyd-Graber] the error of the matrix falls linearly, like (lambda_2 / lambda_1)^t, and that of the
tensor quadratically. Both have the same 20 orthonormal vectors, weights 1, 0.9, 0.81, ... and five
random starts. The error is the tangent of the angle to the vector where the iteration ends: the
first vector for the matrix, any vector for the tensor. ``docs/_results.py`` draws
docs/power-iteration.svg from the kept run.
"""

import numpy as np

from _record import Table, fact, record, score
from eigentext.factor.tensor import SymmetricTensor

K, RATIO, STARTS, STEPS = 20, 0.9, 5, 60
FLOOR = 1e-15


def tangents(step, V: np.ndarray, x: np.ndarray, goal: int | None) -> list[float]:
    """The tangent at each step of the angle to vector `goal`, or to the one where it ends."""
    coordinates = [V @ x]
    for _ in range(STEPS):
        x = step(x)
        x /= np.linalg.norm(x)
        coordinates.append(V @ x)
    goal = int(np.abs(coordinates[-1]).argmax()) if goal is None else goal
    errors = [float(np.linalg.norm(np.delete(c, goal)) / abs(c[goal])) for c in coordinates]
    return errors[: 1 + next((t for t, e in enumerate(errors) if e < FLOOR), STEPS)]


def runs() -> dict[str, list[list[float]]]:
    rng = np.random.default_rng(0)
    V = np.linalg.qr(rng.standard_normal((K, K)))[0]
    weights = RATIO ** np.arange(K)
    M = (V.T * weights) @ V
    T = SymmetricTensor(np.einsum("r,ri,rj,rk->ijk", weights, V, V, V, optimize=True))
    starts = rng.standard_normal((STARTS, K))
    return {
        "tensor": [tangents(lambda x: T(x[None])[0], V, x, None) for x in starts],
        "matrix": [tangents(lambda x: M @ x, V, x, 0) for x in starts],
    }


def main() -> None:
    found = runs()
    orders = Table("orders", "Order of convergence", (score("order", tolerance=0.02),))
    curves = {"silent": True, "hidden": True}
    steps = Table("errors", "Errors by step", (fact("errors"),), ("system", "start"), **curves)
    for name, errors in found.items():
        orders.row(name, float(np.median([slope(start) for start in errors])))
        for number, start in enumerate(errors):
            steps.row(name, number, " ".join(f"{error:.2e}" for error in start))
    record(
        "power_iteration",
        "Tensor power iteration",
        [orders, steps],
        about=f"{K} orthonormal vectors with weights 1, {RATIO}, {RATIO}², …; {STARTS} random "
        "starts. The order is the p in error(t + 1) ~ error(t)^p, the median over the starts.",
    )


def slope(errors: list[float]) -> float:
    """The p in log e_(t+1) = p log e_t + c, over errors between 0.5 and rounding."""
    logs = np.log([error for error in errors if 1e-14 < error < 0.5])
    return float(np.polyfit(logs[:-1], logs[1:], 1)[0]) if len(logs) > 2 else np.nan


if __name__ == "__main__":
    main()
