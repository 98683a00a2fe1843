"""The SVD: the matrices of Cohen et al. (2013), LAPACK as the oracle, and laws of its factors."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import subspace_angles
from scipy.sparse.linalg import aslinearoperator

from eigentext import engine
from eigentext.errors import EigentextError, ParameterError
from eigentext.factor import svd
from eigentext.factor.basis import Basis
from eigentext.factor.svd import _householder_qr, largest_pairs, thin_qr
from eigentext.matrices.products import with_transpose
from eigentext.storage import checkpointing
from eigentext.storage.maps import is_mapped

SOLVERS = ["exact", "randomized", "krylov"]


def decaying(n=400, d=300, *, seed=0, rate=0.8, dtype=np.float64):
    """A matrix with singular values 1, rate, rate**2, …"""
    rng = np.random.default_rng(seed)
    U, _ = np.linalg.qr(rng.standard_normal((n, min(n, d))))
    V, _ = np.linalg.qr(rng.standard_normal((d, min(n, d))))
    return ((U * rate ** np.arange(min(n, d))) @ V.T).astype(dtype)


def counts_like(n=1500, d=1200, seed=0):
    rng = np.random.default_rng(seed)
    rates = 30 / np.outer(np.arange(1, n + 1) ** 0.7, np.arange(1, d + 1) ** 0.7)
    return sp.csr_array(np.sqrt(rng.poisson(rates)))


def test_singular_values_of_matrices_of_known_rank():
    rank2 = np.array([[1, 1, 2], [1, 2, 2], [1, 1, 2]])
    rank3 = np.array([[1, 1, 2], [1, 2, 2], [1, 1, 3]])
    assert np.allclose(svd(rank2, 3)[1], [4.53, 0.7, 0], atol=0.005)
    assert np.allclose(svd(rank3, 3)[1], [5, 0.98, 0.2], atol=0.005)


@pytest.mark.parametrize("method", SOLVERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_solvers_agree_with_lapack(method, dtype, seed):
    A = decaying(seed=seed, dtype=dtype)
    U, s, Vt = svd(A, 20, method=method, random_state=seed)
    exact_U, exact_s, _ = np.linalg.svd(A.astype(np.float64), full_matrices=False)
    tolerance = 1e-5 if dtype == np.float32 else 1e-9
    assert U.dtype == s.dtype == Vt.dtype == dtype
    assert np.allclose(s, exact_s[:20], atol=tolerance)
    assert subspace_angles(U.astype(np.float64), exact_U[:, :20]).max() < 1e3 * tolerance
    assert np.allclose(U.T @ U, np.eye(20), atol=tolerance)
    assert np.allclose(Vt @ Vt.T, np.eye(20), atol=tolerance)
    assert np.allclose((U * s) @ Vt @ Vt.T, A @ Vt.T, atol=10 * tolerance)


@pytest.mark.parametrize("method", SOLVERS)
def test_dense_sparse_and_operator_are_one_matrix(method):
    A = decaying(200, 250)
    A[np.abs(A) < 1e-3] = 0
    reference = svd(A, 10, method=method)
    for form in (sp.csr_matrix(A), sp.csc_array(A), sp.coo_array(A), aslinearoperator(A)):
        for one, other in zip(svd(form, 10, method=method), reference):
            assert np.allclose(one, other, atol=1e-10)


@pytest.mark.parametrize("method", SOLVERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_same_bits_on_any_number_of_threads(method, dtype):
    A = counts_like().astype(dtype)
    results = []
    for threads in (1, 2, 5):
        with engine.use(engine.ThreadEngine(threads)):
            results.append(svd(A, 30, method=method))
    for other in results[1:]:
        for one, two in zip(results[0], other):
            assert np.array_equal(one, two)


def test_krylov_is_nearer_to_the_exact_subspace_than_power_iteration():
    A = counts_like()
    exact = np.linalg.svd(A.toarray(), full_matrices=False)[0][:, :30]

    def angle(**options):
        return np.sin(subspace_angles(svd(A, 30, **options)[0], exact)).max()

    assert angle(method="krylov", n_iter=4) < angle(method="randomized", n_iter=2)
    # More work, nearer answer.
    assert angle(method="krylov", n_iter=12) < angle(method="krylov", n_iter=4)
    assert angle(method="randomized", n_iter=8) < angle(method="randomized", n_iter=2)


@pytest.mark.parametrize("method", SOLVERS)
def test_signs_are_decided_by_u(method):
    U, _, _ = svd(decaying(), 15, method=method)
    assert (U[np.abs(U).argmax(axis=0), np.arange(15)] > 0).all()


@pytest.mark.parametrize("method", SOLVERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rank_deficient_matrices(method, dtype):
    rng = np.random.default_rng(0)
    A = (rng.standard_normal((400, 5)) @ rng.standard_normal((5, 300))).astype(dtype)
    U, s, Vt = svd(sp.csr_array(A), 40, method=method)
    assert (s[5:] < s[0] * 1e3 * np.finfo(dtype).eps).all()
    assert np.allclose((U * s) @ Vt, A, atol=10 * s[0] * np.finfo(dtype).eps)
    assert np.allclose(U.T @ U, np.eye(40), atol=1e-5)
    assert np.allclose(Vt @ Vt.T, np.eye(40), atol=1e-5)


@pytest.mark.parametrize("method", SOLVERS)
def test_zero_matrix(method):
    U, s, Vt = svd(sp.csr_array((200, 150)), 8, method=method)
    assert (s == 0).all()
    assert np.isfinite(U).all()
    assert np.isfinite(Vt).all()


def test_auto_finds_the_exact_answer_where_it_is_cheap():
    A = counts_like(500, 400)
    assert np.allclose(svd(A, 399)[1], np.linalg.svd(A.toarray(), compute_uv=False)[:399])
    tall = sp.random(30_000, 60, 0.05, format="csr", random_state=0)
    expected = np.linalg.svd(tall.toarray(), compute_uv=False)[:50]
    assert np.allclose(svd(tall, 50)[1], expected, rtol=1e-3)


def test_integers_are_worked_on_in_float64():
    A = np.arange(12).reshape(3, 4)
    U, s, Vt = svd(A, 2)
    assert U.dtype == np.float64
    assert np.allclose((U * s) @ Vt, A)


def test_lists_are_a_matrix():
    U, s, Vt = svd([[1, 2], [3, 4]], 1)
    expected = svd(np.array([[1.0, 2.0], [3.0, 4.0]]), 1)
    assert all(map(np.array_equal, (U, s, Vt), expected))


@pytest.mark.parametrize(
    ("A", "reason"),
    [
        (3, "A must have rows and columns"),
        ([1, 2], "A must have rows and columns"),
        ([[1, 2], [3]], "A must be an array of numbers"),
        ([["a"]], "A must be real numbers, not <U1"),
        ([[1j]], "A must be real numbers, not complex128"),
        (np.empty((0, 3)), "A must have some rows and columns"),
        ([[1.0, np.nan]], "A has numbers that are not finite"),
        (sp.csr_array([[1.0, np.inf]]), "A has numbers that are not finite"),
    ],
)
def test_what_is_no_matrix_is_refused(A, reason):
    with pytest.raises(ParameterError, match=reason):
        svd(A, 1)


@pytest.mark.parametrize("method", ["auto", "exact", "randomized", "krylov"])
@pytest.mark.parametrize(
    "bad",
    [
        *({"rank": rank} for rank in (2.5, True, None, "1", -1)),
        *({"n_oversamples": n} for n in (1.5, -1, True)),
        *({"n_iter": n} for n in (1.5, -1, True)),
        *({"memory": n} for n in (1e9, -1, "1GB")),
        *({"random_state": seed} for seed in (-1, 1.5, "x", True)),
    ],
)
def test_arguments_that_are_none_are_refused(method, bad):
    with pytest.raises(ParameterError, match=rf"^{next(iter(bad))} must be .*, not "):
        svd(np.eye(40), **{"rank": 1, "method": method, **bad})


def test_bad_input():
    A = np.eye(4)
    for rank in (0, 5):
        with pytest.raises(ParameterError, match="from 1 to 4"):
            svd(A, rank)
    with pytest.raises(ParameterError, match="krylov"):
        svd(A, 2, method="lanczos")
    with pytest.raises(ParameterError, match="does not fit"):
        svd(A, 2, method="krylov")


def test_thin_qr_gives_a_basis_whatever_the_condition():
    rng = np.random.default_rng(0)
    for smallest in (1, 1e-3, 1e-6, 0):
        scales = np.geomspace(1, max(smallest, 1e-300), 20) * (smallest > 0 or np.arange(20) < 3)
        Y = (rng.standard_normal((500, 20)) * scales).astype(np.float32)
        Q, R = thin_qr(Y.copy())
        assert np.allclose(Q.T @ Q, np.eye(20), atol=1e-5)
        assert np.allclose(Q @ R, Y, atol=1e-5)


def test_a_matrix_on_which_lapack_gives_up(monkeypatch):
    """It happens, with finite numbers; no small example is known, so the failure is made."""

    def give_up(*_, **__):
        raise np.linalg.LinAlgError("SVD did not converge")

    A = np.random.default_rng(0).normal(size=(7, 5))
    expected = svd(A, 3)
    monkeypatch.setattr(np.linalg, "svd", give_up)
    for found, known in zip(svd(A, 3), expected):
        assert np.allclose(found, known, atol=1e-12)


# On disk.


def sparse(n, d, dtype=np.float32):
    A = counts_like(n, d).astype(dtype)
    return with_transpose(A, A.T.tocsr())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("shape", [(2500, 2500), (2100, 3000), (3000, 2100)])
def test_on_disk_the_bits_are_those_in_memory(shape, right, dtype):
    A = sparse(*shape, dtype)
    in_memory = svd(A, 20, method="krylov", right=right)
    on_disk = svd(A, 20, method="krylov", right=right, memory=1)
    assert is_mapped(on_disk[0])
    assert is_mapped(on_disk[2]) == right or not right
    for mine, theirs in zip(on_disk, in_memory):
        assert mine.dtype == dtype
        assert mine.shape == theirs.shape
        assert np.array_equal(mine, theirs)


@pytest.mark.parametrize("right", [False, True])
def test_a_compact_basis_finds_the_same_subspace(right):
    A = counts_like().astype(np.float32)
    exact_U, exact_s, _ = np.linalg.svd(A.toarray().astype(np.float64), full_matrices=False)
    plain, found = (
        svd(A, 40, method="krylov", right=right, compact=compact) for compact in (False, True)
    )
    assert np.allclose(found[1], exact_s[:40], rtol=2e-3)
    assert np.allclose(found[1], plain[1], rtol=1e-4)
    lost = [1 - np.linalg.norm(exact_U[:, :30].T @ U) ** 2 / 30 for U, _, _ in (plain, found)]
    assert lost[1] < lost[0] + 1e-5
    assert np.allclose(found[0].T @ found[0], np.eye(40), atol=1e-4)
    assert found[2].shape == ((40 if right else 0), A.shape[1])


@pytest.mark.parametrize("right", [False, True])
def test_a_compact_basis_has_the_same_bits_on_disk_and_on_any_number_of_threads(right):
    A = counts_like().astype(np.float32)
    options = {"method": "krylov", "right": right, "compact": True}
    expected = svd(A, 40, **options)
    for memory in (None, 1):
        for n_threads in (1, 3):
            with engine.use(engine.ThreadEngine(n_threads)):
                found = svd(A, 40, memory=memory, **options)
            assert all(map(np.array_equal, found, expected))


def test_double_precision_is_never_compact():
    A = counts_like()
    options = {"method": "krylov", "right": False}
    assert np.array_equal(svd(A, 9, compact=True, **options)[0], svd(A, 9, **options)[0])


def test_on_disk_small_singular_values_are_found_as_in_memory():
    # Beside the square of the largest, that of the last is lost in rounding: the other way out.
    rng = np.random.default_rng(0)
    n = 2300
    A = sp.csr_array(sp.diags_array(10.0 ** -np.linspace(0, 4, n))).astype(np.float32)
    A = A + sp.random_array((n, n), density=1e-3, rng=rng, dtype=np.float32) * 1e-7
    A = with_transpose(A.tocsr(), A.T.tocsr())
    in_memory, on_disk = (svd(A, 300, method="krylov", memory=memory) for memory in (None, 1))
    assert all(np.array_equal(mine, theirs) for mine, theirs in zip(on_disk, in_memory))


def test_on_disk_an_exhausted_krylov_space_is_filled_up_as_in_memory():
    low = np.random.default_rng(0).standard_normal((2200, 40)).astype(np.float32)
    A = sp.csr_array(low @ low.T)
    A = with_transpose(A, A)
    in_memory, on_disk = (svd(A, 35, method="krylov", memory=memory) for memory in (None, 1))
    assert all(np.array_equal(mine, theirs) for mine, theirs in zip(on_disk, in_memory))
    assert np.allclose(on_disk[0].T @ on_disk[0], np.eye(35), atol=1e-4)


@pytest.mark.parametrize("on_disk", [False, True])
def test_householder_qr_by_blocks_of_rows(on_disk):
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((5000, 6))
    Y[:, 5] = Y[:, 4] * (1 + 1e-15)  # no Cholesky factor of this can be trusted
    tall = Basis(5000, 6, np.float64, on_disk=on_disk)
    tall.append(Y[:, :4])
    tall.append(np.ascontiguousarray(Y[:, 4:]))
    Q, R = _householder_qr(tall)
    assert is_mapped(Q) == on_disk
    assert np.allclose(Q.T @ Q, np.eye(6), atol=1e-12)
    assert np.allclose(Q @ R, Y, atol=1e-12)
    assert np.array_equal(_householder_qr(tall, 4)[0], Q[:, 4:])


# Checkpoints.


class Stopped(Exception):  # noqa: N818 - nothing is wrong
    pass


def stopping(A, after, products):
    """A matrix that counts its products and raises an error after some of them."""

    def counted(times):
        def product(X):
            products.append(X.shape)
            if len(products) > after:
                raise Stopped
            return times(X)

        return product

    return type(A)(A.shape, A.dtype, counted(A.times), counted(A.transposed_times))


@pytest.mark.parametrize("memory", [None, 1])
@pytest.mark.parametrize("method", ["krylov", "randomized"])
def test_a_stopped_decomposition_goes_on_with_the_same_bits(tmp_path, method, memory):
    A = sparse(2100, 2100)
    undisturbed = svd(A, 20, method=method)
    all_products = []
    svd(stopping(A, 10**6, all_products), 20, method=method, memory=memory)
    folder = tmp_path / "state"
    with pytest.raises(Stopped), checkpointing(folder):
        svd(stopping(A, 8, []), 20, method=method, memory=memory)
    kept = sorted(path.name for path in folder.glob("*.state"))
    assert kept
    products = []
    with checkpointing(folder):
        again = svd(stopping(A, 10**6, products), 20, method=method, memory=memory)
    for mine, theirs in zip(again, undisturbed):
        assert np.array_equal(mine, theirs)
    # The start is worked out again, and two products a block from where it was stopped.
    assert len(products) == len(all_products) - 6
    assert not folder.exists()


def test_the_state_of_another_matrix_is_not_used(tmp_path):
    folder = tmp_path / "state"
    with pytest.raises(Stopped), checkpointing(folder):
        svd(stopping(sparse(2100, 2100), 8, []), 20, method="krylov")
    other = sparse(2100, 2200)
    with checkpointing(folder):
        found = svd(other, 20, method="krylov")
    assert np.array_equal(found[0], svd(other, 20, method="krylov")[0])


def test_a_full_disk_leaves_the_blocks_before_it_good(tmp_path, monkeypatch):
    A = sparse(2100, 2100)
    undisturbed = svd(A, 20, method="krylov")
    folder = tmp_path / "state"
    with checkpointing(folder) as point:
        write = type(point).write

        def full(self, name, *rest):
            if name.endswith("003"):
                raise EigentextError(f"{self.path(name)}: cannot be written (No space left)")
            write(self, name, *rest)

        monkeypatch.setattr(type(point), "write", full)
        with pytest.raises(EigentextError, match="No space left"):
            svd(A, 20, method="krylov")
        monkeypatch.undo()
        assert len(list(folder.glob("*.state"))) == 2
        point._times.clear()  # as in the next process
        assert np.array_equal(svd(A, 20, method="krylov")[0], undisturbed[0])


def test_largest_pairs_if_lapack_fails_on_a_part(monkeypatch):
    H = np.diag([3.0, -1.0, 2.0, 2.0, 0.0]) + 0.1

    def failing(*args, **kwargs):
        raise np.linalg.LinAlgError("Internal Error.")

    for n in (1, 3, 5):
        values, U = largest_pairs(H, n)
        assert np.allclose(H @ U, U * values)
        monkeypatch.setattr(sys.modules["eigentext.factor.svd"], "eigh", failing)
        again, V = largest_pairs(H, n)
        assert np.allclose(values, again)
        assert np.allclose(H @ V, V * again)
        monkeypatch.undo()
