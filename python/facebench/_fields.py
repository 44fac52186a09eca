"""What the compiled library states as a dict, as a Python object."""


class Fields:
    """A result whose fields, those of :meth:`to_dict`, are attributes."""

    def __init__(self, fields: dict):
        self._fields = fields

    def __getattr__(self, name):
        fields = self.__dict__.get("_fields", {})
        if name in fields:
            return fields[name]
        kind = type(self).__name__.lower()
        raise AttributeError(f"{kind} has no {name!r}; there are: {', '.join(fields)}")

    def __dir__(self):
        return [*super().__dir__(), *self._fields]

    def to_dict(self):
        """All fields as a dict."""
        return self._fields
