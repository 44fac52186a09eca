"""What was found, without how it is drawn."""

from facebench.core._above import from_above
from facebench.core._fields import Fields


class Finding(Fields):
    """A result with a text, which notebooks show too, and a page; `facebench.reports.drawn` says
    for each kind what stands in both."""

    def __repr__(self):
        return from_above("text_of")(self)

    def _repr_markdown_(self):
        return repr(self)

    def write_html(self, path):
        """Write the report as a page."""
        from_above("write_page")(self, path)

    def with_page(self, out):
        """Itself; where ``out`` is given its page is written there."""
        if out is not None:
            self.write_html(out)
        return self

    def _by_name(self, kind, name):
        """The one of that name among dicts with names."""
        for one in self._fields[kind]:
            if one["name"] == name:
                return one
        raise KeyError(f"{name!r}; there are: {', '.join(o['name'] for o in self._fields[kind])}")
