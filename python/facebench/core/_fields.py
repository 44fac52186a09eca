"""Named values of results as attributes."""


class NamedValues:
    """A result whose named values, or those of its only part, are attributes as well."""

    def _named(self) -> dict:
        """The values by their names."""
        raise NotImplementedError

    def __getattr__(self, name):
        named = {} if name.startswith("_") else self._named()
        if name in named:
            return named[name]
        known = ", ".join(named)
        raise AttributeError(f"{type(self).__name__} has no {name!r}; there are: {known}")

    def __dir__(self):
        return [*super().__dir__(), *(name for name in self._named() if name.isidentifier())]


class Fields(NamedValues):
    """What the compiled library states as a dict: its fields are attributes."""

    def __init__(self, fields: dict):
        self._fields = fields

    def _named(self):
        return self._fields

    def to_dict(self):
        """All fields as a dict."""
        return self._fields
