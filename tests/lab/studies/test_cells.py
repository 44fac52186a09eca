"""Cells of a study."""

from types import SimpleNamespace

import pytest
from facebench import studies
from facebench.lab.studies import cells
from facebench.lab.studies import texts as said
from facebench.lab.studies.conditions import timed_differences

pytest.importorskip("torch")


def test_a_rehearsal_says_what_it_ran():
    study = studies.load_study("wang-guo-2019").rehearsed()
    (table,) = study.only("figure-2-vgg16").tables
    assert [row["name"] for row in table.rows[::4]] == [
        f"batch 2, for {batch}, pytorch" for batch in (16, 32, 64, 128, 256, 512)]  # fmt: skip
    assert any("options.iterations 2" in note and "batch 2" in note for note in table.notes)
    (table,) = study.only("figure-2-memory").tables
    row = table.rows[0]
    assert row["printed"] == "VGG-16, any framework, GTX 1080Ti"
    assert row["name"] == row["printed"] + ", batch 2, for 128"
    printed = {"value": 128.0, "text": "128"}
    assert cells._not_tried(row, printed) == "not tried: batch 2, for 128 was run"
    # And where all is run, of the batch that its column is about alone.
    (table,) = studies.load_study("wang-guo-2019").only("figure-2-memory").tables
    row = table.rows[0]
    assert cells._not_tried(row, printed) == ""
    assert cells._not_tried(row, printed | {"value": 64.0}) == "not tried: batch 128 was run"
    # Its own batch is what ran, and rows that a rehearsal does not shrink keep their names.
    (table,) = study.only("figure-3").tables
    assert table.rows[0]["name"] == "VGG-16, PyTorch, batch 8, for 64"
    (table,) = study.only("table-3").tables
    assert table.rows[0]["name"] == "AlexNet-v2" and "network small4" in table.notes[-1]


STEP = {
    "kind": "step",
    "options": {"device": "cpu"},
    "machine": {"gpu": {"devices": []}},
    "rows": [
        {"engine": "pytorch", "status": "ok", "batch": 16, "busy": True,
         "seconds": {"mean": 2.0, "mean_interval": [1.0, 4.0]}, "images_per_second": 8.0,
         "images_per_second_interval": [4.0, 16.0], "processors": {"others": 0.87},
         "memory": {"peak": 700}, "device_memory": None},
        {"engine": "keras-tensorflow", "status": "ok", "images_per_second": 4.0,
         "images_per_second_interval": [2.0, 5.0], "busy": False},
    ],
}  # fmt: skip


def test_times_keep_their_interval_and_the_word_on_load():
    row = {"name": "VGG-16", "network": "vgg16", "engine": "pytorch", "batch": 16,
           "over": "keras-tensorflow"}  # fmt: skip
    job = SimpleNamespace(kind="step", request={"device": "cpu"})

    def interval(name):
        return cells._interval_of(STEP, job, row, name)

    assert interval("seconds") == ([1.0, 4.0], "iterations")
    assert interval("images_per_second") == ([4.0, 16.0], "iterations")
    assert interval("gain") == ([4 / 5 - 1, 16 / 2 - 1], "iterations")
    assert interval("memory")[0] is None
    assert cells._load([STEP], row) == ["others used 87 % of the processors"]
    assert cells._load([STEP], row | {"engine": "keras-tensorflow"}) == []
    column = {"kind": "result", "name": "seconds", "title": "a step, s"}
    cell = {"value": 2.0, "interval": [1.0, 4.0], "interval_over": "iterations", "timed": True,
            "printed": None, "warnings": cells._load([STEP], row)}  # fmt: skip
    below = said.shown(column, cell).below
    assert "1 – 4 over iterations" in below and "others used 87 % of the processors" in below
    # Printed of other batches, devices and frameworks.
    stated = {"network": "vgg16", "framework": "caffe", "batch_size": "32", "device": "Titan Xp"}
    assert timed_differences(stated, row, job, STEP) == [
        "framework is pytorch, not caffe",
        "batch_size is 16, not 32",
        "device is cpu, not Titan Xp",
    ]
