"""One contract for every estimator. A new one needs a case in `cases/`, and no test of its own."""

import contextlib
import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import eigentext as et
from contract.case import all_cases
from eigentext import engine
from eigentext.errors import EigentextError, ParameterError
from eigentext.parameters import Count, Number, Seed, Table, UnusedParameterWarning

CASES = all_cases()
BY_NAME = {case.name: case for case in CASES}
every = pytest.mark.parametrize("case", CASES, ids=str)
TESTS = Path(__file__).parents[1]

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # small data has its warnings


@pytest.fixture(scope="module")
def models():
    """A model for each case, fitted once, for tests that change nothing of it."""
    made = {}

    def fitted(case):
        if case.name not in made:
            made[case.name] = case.fitted(), None
            made[case.name] = made[case.name][0], case.answers(made[case.name][0])
        return made[case.name]

    return fitted


def _saved(case, model, folder: Path) -> bytes:
    if not case.saves:
        return b""
    path = folder / "model"
    model.save(path)
    return path.read_bytes()


def _table(case) -> Table:
    return type(case.make())._table


def test_every_public_estimator_is_listed():
    listed = {type(case.make()).__name__ for case in CASES}
    fitted = {
        n for n in et.__all__ if isinstance(getattr(et, n), type) and hasattr(getattr(et, n), "fit")
    }
    assert fitted <= listed, f"no case for {sorted(fitted - listed)}"
    assert {"CCA", "Interpolation", "CharacterRidge"} <= listed


# Parameters.


@every
def test_clones_have_the_same_parameters_and_nothing_learned(case, models):
    model, _ = models(case)
    twin = clone(model)
    assert repr(twin.get_params()) == repr(model.get_params())
    assert set(vars(twin)) == set(_table(case)) | {
        n for n in vars(twin) if n.startswith("_sklearn")
    }
    assert twin.set_params(**twin.get_params(deep=False)) is twin
    with pytest.raises(ValueError, match="nonsense"):
        twin.set_params(nonsense=1)


@every
def test_invalid_parameters_are_refused_in_one_wording(case, models):
    model, answers = models(case)
    data = case.data()
    for name, kind in _table(case).items():
        for value in kind.refused():
            given = clone(model).set_params(**{name: value})
            with pytest.raises(ParameterError, match=rf"^{name}\b.* must be .*, not "):
                case.learn(given, data)
    assert case.answers(model) == answers


@every
def test_parameters_without_effect_are_told(case):
    """Warned of before the work begins, so that data which is refused will do."""
    model, table = case.make(), _table(case)
    for name, kind in table.items():
        others = {other for other, uses in kind.only.items() if getattr(model, other) not in uses}
        if not others or kind.another() is None:
            continue
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with contextlib.suppress(EigentextError, TypeError, ValueError):
                case.learn(clone(model).set_params(**{name: kind.another()}), case.bad())
        told = [str(w.message) for w in caught if w.category is UnusedParameterWarning]
        assert any(name in message for message in told), f"{name} is ignored in silence"


@every
def test_numbers_of_numpy_are_numbers(case, models):
    model, answers = models(case)
    typed = {}
    for name, kind in _table(case).items():
        value = getattr(model, name)
        if isinstance(kind, (Count, Seed)) and isinstance(value, int):
            typed[name] = np.int32(value)
        elif isinstance(kind, Number) and isinstance(value, float):
            typed[name] = np.float64(value)
    assert case.answers(case.learn(clone(model).set_params(**typed), case.data())) == answers


@every
def test_without_a_seed_every_fit_draws_one(case):
    if "random_state" not in _table(case):
        return
    drawn = [case.learn(case.make().set_params(random_state=None), case.data()) for _ in range(2)]
    seeds = [model.parameters_.random_state for model in drawn]
    assert all(isinstance(seed, int) for seed in seeds)
    assert seeds[0] != seeds[1]
    again = case.learn(case.make().set_params(random_state=seeds[1]), case.data())
    assert case.answers(again) == case.answers(drawn[1])


# Fits.


@every
def test_fit_returns_itself_and_can_be_repeated(case, models, tmp_path):
    model = case.make()
    assert case.learn(model, case.data()) is model
    first, file = case.answers(model), _saved(case, model, tmp_path)
    assert first == models(case)[1]
    case.learn(model, case.data())
    assert case.answers(model) == first
    assert _saved(case, model, tmp_path) == file


@every
def test_a_refit_is_a_fresh_fit(case, tmp_path):
    model = case.learn(case.fitted(), case.other())
    fresh = case.learn(case.make(), case.other())
    assert set(vars(model)) == set(vars(fresh))
    assert case.answers(model) == case.answers(fresh)
    assert _saved(case, model, tmp_path) == _saved(case, fresh, tmp_path)


@every
def test_a_failed_fit_leaves_the_old_model(case):
    model = case.fitted()
    answers, before = case.answers(model), dict(vars(model))
    with pytest.raises((EigentextError, TypeError, ValueError)):
        case.learn(model, case.bad())
    if case.listed:
        with pytest.raises(KeyboardInterrupt):
            case.learn(model, (_interrupted(case.data()[0]), *case.data()[1:]))
    assert {n: id(v) for n, v in vars(model).items()} == {n: id(v) for n, v in before.items()}
    assert case.answers(model) == answers


def _interrupted(items):
    yield from list(items)[:-1]
    raise KeyboardInterrupt


@every
def test_parameters_set_after_a_fit_wait_for_the_next(case, tmp_path):
    model = case.fitted()
    answers, file = case.answers(model), _saved(case, model, tmp_path)
    for name in _table(case):
        setattr(model, name, _Poison(name))
    assert case.answers(model) == answers
    assert _saved(case, model, tmp_path) == file


class _Poison:
    """Whoever looks at it has asked a parameter where a fitted attribute was meant."""

    def __init__(self, name):
        object.__setattr__(self, "_name", name)

    def _touched(self, *arguments):
        raise AssertionError(f"the parameter {self._name} was used by a fitted model")

    __bool__ = __eq__ = __lt__ = __gt__ = __le__ = __ge__ = __index__ = __int__ = _touched
    __float__ = __call__ = __getitem__ = __iter__ = __len__ = __add__ = __mul__ = _touched
    __hash__ = object.__hash__

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self._touched()


@every
def test_asking_changes_nothing(case, tmp_path):
    model = case.fitted()
    file = _saved(case, model, tmp_path)
    names = set(vars(model))
    first = case.answers(model)
    assert case.answers(model) == first
    assert _saved(case, model, tmp_path) == file
    assert {name for name in vars(model) if not name.startswith("_")} <= names


@every
def test_data_may_come_in_any_form_and_is_read_once(case, models):
    _, answers = models(case)
    rest = case.data()[1:]
    forms = dict(case.forms)
    if case.listed:
        forms |= {"tuple": tuple, "generator": lambda items: _Once(items)}
    for name, form in forms.items():
        given = case.learn(case.make(), (form(case.data()[0]), *rest))
        assert case.answers(given) == answers, name


class _Once(Iterator):
    """Items that can be read one time only."""

    def __init__(self, items):
        self._items = iter(list(items))

    def __next__(self):
        return next(self._items)


@every
def test_nothing_can_be_asked_before_the_fit(case):
    for name, ask in case.asks.items():
        with pytest.raises(NotFittedError):
            ask(case.make())
        assert name
    if case.saves:
        with pytest.raises(NotFittedError):
            case.make().save(Path("nowhere"))


# Copies and files.


@every
def test_copies_answer_alike(case, models, tmp_path):
    model, answers = models(case)
    assert case.answers(pickle.loads(pickle.dumps(model))) == answers
    assert case.answers(copy.deepcopy(model)) == answers
    joblib.dump(model, tmp_path / "joblib")
    assert case.answers(joblib.load(tmp_path / "joblib")) == answers


@every
def test_files_give_the_same_model_and_the_same_file(case, models, tmp_path):
    if not case.saves:
        return
    model, answers = models(case)
    file = _saved(case, model, tmp_path)
    (tmp_path / "first").write_bytes(file)
    loaded = et.load(tmp_path / "first")
    assert type(loaded) is type(model)
    assert case.answers(loaded) == answers
    assert _saved(case, loaded, tmp_path) == file
    assert _plain(loaded.parameters_) == _plain(model.parameters_)
    assert set(vars(clone(loaded))) >= set(_table(case))


def _plain(settings):
    """The parameters that are no models themselves."""
    return {n: repr(v) for n, v in dict(settings).items() if isinstance(v, _PLAIN)}


_PLAIN = (str, int, float, list, tuple, type(None))


# Processes and threads.


@every
def test_any_number_of_threads_gives_the_same_bits(case, models):
    _, answers = models(case)
    for n_threads in (1, 3):
        with engine.use(engine.ThreadEngine(n_threads)):
            assert case.answers(case.fitted()) == answers, f"{n_threads} threads"


@every
def test_eight_threads_may_ask_at_once(case, models):
    model, answers = models(case)
    model = pickle.loads(pickle.dumps(model))  # nothing is worked out yet
    barrier = threading.Barrier(8)

    def ask(_):
        barrier.wait()
        return case.answers(model)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(8))) == [answers] * 8


def _answers_of(name, model):
    warnings.simplefilter("ignore")
    return BY_NAME[name].answers(model)


@pytest.mark.parametrize("start", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_models_answer_alike_in_other_processes(start, models):
    with multiprocessing.get_context(start).Pool(1) as pool:
        for case in CASES:
            model, answers = models(case)
            assert pool.apply(_answers_of, (case.name, model)) == answers, case.name


_FIT_ALL = """
import sys, warnings
warnings.simplefilter("ignore")
from contract.case import all_cases
for case in all_cases():
    print(case.name, sorted(case.answers(case.fitted()).items()), sep="\\t")
"""


def test_the_order_of_hashes_changes_nothing(models):
    def run(seed):
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(TESTS)}
        return subprocess.Popen(
            [sys.executable, "-c", _FIT_ALL], env=environment, stdout=subprocess.PIPE, text=True
        )

    # This process has another order again.
    expected = [f"{case.name}\t{sorted(models(case)[1].items())}" for case in CASES]
    for seed in ("0", "12345"):
        assert run(seed).communicate()[0].splitlines() == expected


# scikit-learn's tools.


@every
def test_grid_search_finds_a_value(case):
    if not hasattr(case.make(), "score"):
        assert case.grid is None
        return
    assert case.grid, "an estimator with a score needs a grid"
    first, *rest = case.data()
    found = GridSearchCV(case.make(), dict(case.grid), cv=2, error_score="raise").fit(first, *rest)
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()
    assert set(found.best_params_) == set(case.grid)
