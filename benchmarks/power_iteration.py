"""Tensor power iteration beside that of a matrix with the same factors: docs/power-iteration.svg.

Run it with ``.venv/bin/python benchmarks/power_iteration.py``, a few seconds. Seed 004 has it that
a matrix's error falls linearly, like (lambda_2 / lambda_1)^t, and a tensor's quadratically. Both
have the same 20 orthonormal vectors, weights 1, 0.9, 0.81, ... and five random starts. The error is
the tangent of the angle to the vector where the iteration ends: the first of the matrix, any of the
tensor.
"""

from pathlib import Path

import numpy as np

from eigentext.factor.tensor import SymmetricTensor

K, RATIO, STARTS, STEPS = 20, 0.9, 5, 60
FLOOR = 1e-15
PLOT = Path(__file__).parents[1] / "docs" / "power-iteration.svg"


def tangents(step, V: np.ndarray, x: np.ndarray, goal: int | None) -> list[float]:
    """Of the angle to the vector `goal`, or to the one where it ends, until rounding."""
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
    for name, errors in found.items():
        for start in errors:
            shown = "  ".join(f"{error:.0e}" for error in start[:12])
            print(f"{name}: {shown}{' ...' if len(start) > 12 else ''}")
        orders = [slope(start) for start in errors]
        print(f"{name}: error_(t+1) ~ error_t^p with p = {np.median(orders):.2f}")
    plot(found)


def slope(errors: list[float]) -> float:
    """The p in log e_(t+1) = p log e_t + c, over the errors between 0.5 and rounding."""
    logs = np.log([error for error in errors if 1e-14 < error < 0.5])
    return float(np.polyfit(logs[:-1], logs[1:], 1)[0]) if len(logs) > 2 else np.nan


def plot(found: dict[str, list[list[float]]]) -> None:
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "eigentext"  # the same file every time
    figure, axes = plt.subplots(figsize=(6, 4))
    for (name, errors), color in zip(found.items(), ("tab:blue", "tab:orange")):
        for number, start in enumerate(errors):
            label = f"{name}, {STARTS} starts" if number == 0 else None
            axes.semilogy(np.maximum(start, FLOOR), "o-", color=color, ms=3, lw=1, label=label)
    guide = RATIO ** np.arange(STEPS + 1)
    axes.semilogy(guide, "--", color="gray", label=f"(λ₂/λ₁)ᵗ = {RATIO}ᵗ")
    axes.set_xlabel("step t")
    axes.set_ylabel("tangent of the angle to the vector")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(PLOT, metadata={"Date": None})


if __name__ == "__main__":
    main()
