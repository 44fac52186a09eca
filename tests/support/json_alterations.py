"""Values in a JSON document, and the document with one of them changed."""

import copy


def places(value, at=()):
    """(place, value) of a value and of all in it."""
    yield at, value
    if isinstance(value, dict | list):
        for key, member in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(member, (*at, key))


def another(value):
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return value[:-1] + ("0" if value[-1:] != "0" else "1")
    if isinstance(value, dict):
        return value | {"more": 1}
    return [*value, 1] if isinstance(value, list) else 0


def changed(document, at, value):
    """A copy of the document with a value at a place; KeyError removes it."""
    document = holder = copy.deepcopy(document)
    for key in at[:-1]:
        holder = holder[key]
    if value is KeyError:
        del holder[at[-1]]
    else:
        holder[at[-1]] = value
    return document
