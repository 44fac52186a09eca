"""The test of a source is found by its name, of more sources with time (scripts/named_tests.py)."""

import named_tests

LEAST = 197  # may only rise


def test_no_fewer_sources_have_a_test_of_their_own_name():
    counts, lacking = named_tests.without_a_test()
    assert sum(have for have, _ in counts.values()) >= LEAST
    assert sum(all_of - have for have, all_of in counts.values()) == len(lacking)
