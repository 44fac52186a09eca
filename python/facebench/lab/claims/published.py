"""Published tables: what papers printed, with what each number measures and its known errors."""

import os

from facebench import _eval
from facebench.core._arguments import did_you_mean, with_keys
from facebench.core._fields import Fields


class PublishedTable(Fields):
    """One table of a paper, as printed.

    ``id``, ``place``, ``title``, ``notes``; ``columns``: dicts with id, title, unit and what they
    measure; ``rows``: dicts with name, conditions, printed text and values; ``errata``.
    """

    def __init__(self, publication, fields):
        super().__init__(fields)
        self.publication = publication

    def __getitem__(self, key):
        """The value of (row, column id): a number, the text of a text column, None for a dash."""
        row, column = key
        columns = [c["id"] for c in self.columns]
        names = [r["name"] for r in self.rows]
        for name, known in ((column, columns), (row, names)):
            if name not in known:
                raise KeyError(f"{name!r}; there are: {', '.join(known)}")
        values_of_row, i = self.rows[names.index(row)], columns.index(column)
        if self.columns[i]["unit"] == "text":
            return values_of_row["printed"][i] or None
        return values_of_row["values"][i]

    def __len__(self):
        return len(self.rows)

    def __repr__(self):
        return (
            f"PublishedTable({self.publication} {self.place}: {self.title}; "
            f"{len(self.rows)} rows, {len(self.columns)} columns)"
        )

    def _repr_html_(self):
        from html import escape

        head = "".join(f"<th>{escape(c['title'])}, {escape(c['unit'])}</th>" for c in self.columns)
        body = "".join(
            f"<tr><th>{escape(r['name'])}</th>"
            + "".join(f"<td>{escape(text) or '–'}</td>" for text in r["printed"])
            + "</tr>"
            for r in self.rows
        )
        notes = "".join(f"<p>{escape(e['kind'])}: {escape(e['note'])}</p>" for e in self.errata)
        return f"<table><tr><th></th>{head}</tr>{body}</table>{notes}"


class Publication(Fields):
    """The tables of one paper: ``id``, ``title``, ``citation``, ``notes``, ``tables``."""

    def __init__(self, fields):
        super().__init__(with_keys(fields, "id title tables", "fields"))
        self.tables = [PublishedTable(self.id, t) for t in fields["tables"]]

    def __getitem__(self, table):
        for t in self.tables:
            if t.id == table:
                return t
        raise KeyError(f"{table!r}; there are: {', '.join(t.id for t in self.tables)}")

    def __repr__(self):
        return f"Publication({self.id}: {self.title}; {len(self.tables)} tables)"


def list_published():
    """Every paper whose tables are built in: name, title, citation, tables.

    >>> from facebench.lab.claims import list_published
    >>> "wang-guo-2019" in [p["name"] for p in list_published()]
    True
    """
    result = []
    for name in _eval.publication_names():
        p = load_published(name)
        result.append(
            {
                "name": p.id,
                "doc": p.title,
                "citation": p.citation,
                "tables": [f"{t.place}: {t.title}" for t in p.tables],
            }
        )
    return result


def load_published(name_or_path):
    """The tables of a paper by name, or of your own ``.toml`` file.

    >>> from facebench.lab.claims import load_published
    >>> load_published("wang-guo-2019")["table-16"]["WebFace", "subjects"]
    10182.0
    """
    return Publication(_eval.load_publication(os.fspath(name_or_path)))


def find_published(publication="wang-guo-2019", **wanted):
    """Printed values, as dicts with what they measure, their conditions and their errata.

    ``wanted``: ``table``, ``row`` or ``column`` of the paper (``row`` is its name there); what the
    value measures (``protocol``, ``track``, ``metric``); or conditions (``network``, ``loss``,
    ``training_set``, ``framework``, ...). Conditions that a value does not state do not fit.

    >>> from facebench.lab.claims import find_published
    >>> [v["printed"] for v in find_published(protocol="lfw", network="resnet50", table="table-3")]
    ['98.2']
    """
    places = ("table", "row", "column")
    measures = ("protocol", "track", "metric")
    conditions = [c["name"] for c in _eval.list_conditions()]
    known = [*places, *measures, *conditions]
    for name in wanted:
        if name not in known:
            raise ValueError(f"unknown filter {name!r}{did_you_mean(name, known)}")

    def of(value, name):
        if name in places:
            return value[name]
        return ((value["measures"] or {}) if name in measures else value["conditions"]).get(name)

    values = _eval.published_values(os.fspath(publication))
    return [v for v in values if all(of(v, name) == w for name, w in wanted.items())]


def training_sets():
    """The training sets of Wang & Guo's table 16 without the people of the test sets: dicts of
    ``name`` and ``cells`` (people, images, images a person) as printed.

    >>> from facebench.lab.claims import training_sets
    >>> training_sets()[0]
    {'name': 'MS-Celeb-1M', 'cells': ['84,936', '3,838,654', '45']}
    """
    table = load_published("wang-guo-2019")["table-16"]
    ids = [column["id"] for column in table.columns]
    at = [ids.index(column) for column in ("subjects", "images", "images_per_subject")]
    return [{"name": row["name"], "cells": [row["printed"][k] for k in at]} for row in table.rows]
