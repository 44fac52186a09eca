"""inspect.signature knows every compiled function, and says what its docstring says."""

import inspect

import pytest
from facebench import _eval


def modules():
    full = pytest.importorskip("facebench._full")
    return [_eval, full]


def test_every_compiled_function_has_a_signature():
    functions = {
        name: value
        for module in modules()
        for name, value in vars(module).items()
        if inspect.isbuiltin(value)
    }
    assert len(functions) > 250
    for name, function in functions.items():
        parameters = inspect.signature(function).parameters
        assert function.__doc__.startswith(f"{function.__name__}("), name  # the types stay
        line = function.__doc__.partition("\n")[0]
        for parameter in parameters:
            assert parameter in line, (name, parameter)


def test_defaults_are_values_where_they_are_literals():
    assert str(inspect.signature(_eval.cmc)) == "(searches, ties='pessimistic', weights=None)"
    assert str(inspect.signature(_eval.accuracy_statistic)) == "(comparisons, convention='exact')"
    assert inspect.signature(_eval.all_pairs_shard).parameters["shard"].kind.name == "KEYWORD_ONLY"
    assert inspect.signature(_eval.all_pairs).parameters["options"].default is ...
