"""Energy of what is timed, on counters that are made here."""

import pytest
from facebench.lab.studies import cells
from facebench.lab.timing import tables
from facebench.lab.timing.energy import EnergyMeter, joules_an_image, rapl_packages


def powercap(folder, **counters):
    """A folder as Linux shows it: packages, a part of one, and another kind of counter."""
    for name, (value, most) in {"intel-rapl:0:0": (5, 10), "dtpm": (1, 2), **counters}.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "energy_uj").write_text(f"{value}\n")
        (folder / name / "max_energy_range_uj").write_text(f"{most}\n")
    return folder


def test_packages_are_summed_up_and_their_parts_are_not(tmp_path):
    names = ("intel-rapl:0", "intel-rapl:1")
    place = powercap(tmp_path, **dict.fromkeys(names, (10_000_000, 2**32)))
    meter = EnergyMeter(powercap=place)
    powercap(place, **dict(zip(names, [(13_500_000, 2**32), (10_250_000, 2**32)], strict=True)))
    assert meter.stop() == {"processors": pytest.approx(3.75), "card": None}


def test_a_counter_that_began_anew(tmp_path):
    place = powercap(tmp_path, **{"intel-rapl:0": (9_000_000, 9_999_999)})
    meter = EnergyMeter(powercap=place)
    powercap(place, **{"intel-rapl:0": (500_000, 9_999_999)})
    assert meter.stop()["processors"] == pytest.approx(1.5)


@pytest.mark.parametrize("broken", ["absent", "empty", "not a number", "a folder"])
def test_what_cannot_be_read_is_not_known(tmp_path, broken):
    place = powercap(tmp_path, **{"intel-rapl:0": (1, 2)})
    counter = place / "intel-rapl:0/energy_uj"
    counter.unlink()
    if broken == "a folder":
        counter.mkdir()
    elif broken != "absent":
        counter.write_text("" if broken == "empty" else "x")
    assert rapl_packages(place) == []
    assert EnergyMeter(powercap=place).stop() == {"processors": None, "card": None}


def test_a_counter_that_goes_away_is_not_known(tmp_path):
    place = powercap(tmp_path, **{"intel-rapl:0": (1, 2), "intel-rapl:1": (1, 2)})
    meter = EnergyMeter(powercap=place)
    (place / "intel-rapl:1/energy_uj").unlink()
    assert meter.stop()["processors"] is None


@pytest.mark.parametrize(
    ("device", "asked", "joules"), [("cuda", 0, 2.5), ("cuda:3", 3, 2.5), ("cpu", None, None)]
)
def test_a_card_is_asked_by_its_number(tmp_path, device, asked, joules):
    calls, answers = [], iter([1000, 3500])

    def card(index):
        calls.append(index)
        return next(answers)

    assert EnergyMeter(device, tmp_path, card).stop()["card"] == joules
    assert calls == ([] if asked is None else [asked, asked])
    assert EnergyMeter(device, tmp_path, lambda index: None).stop()["card"] is None


def test_joules_an_image_are_of_all_rounds():
    uses = [{"processors": 6.0, "card": 1.0}, {"processors": 4.0, "card": None}]
    assert joules_an_image(uses, 4) == {"processors": 2.5, "card": None}
    assert joules_an_image([], 0) == {"processors": None, "card": None}


def test_a_study_says_what_is_not_known():
    row = {"engine": "facebench", "status": "ok", "seconds": {"mean": 1}, "memory": None,
           "device_memory": None, "joules_an_image": {"processors": None, "card": 3.0}}  # fmt: skip
    assert tables.has_energy(row)

    def of(device):
        result = {"options": {"device": device}, "rows": [row]}
        return cells._of_steps(result, {"engine": "facebench"}, "joules_an_image")

    assert of("cuda:0") == (3.0, "")
    assert of("cpu") == (None, "this machine does not say what its processors took")
