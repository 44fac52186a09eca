"""Energy while something is timed: of the processors by RAPL, of a card by NVML."""

import ctypes
import functools
from collections.abc import Callable
from pathlib import Path

from facebench.core import Error
from facebench.core._files import read_text

POWERCAP = Path("/sys/class/powercap")


def rapl_packages(powercap: Path = POWERCAP) -> list[Path]:
    """The packages of processors whose energy this process may read: counters of microjoules.

    >>> from facebench.lab.timing.energy import rapl_packages
    >>> rapl_packages(Path("no such folder"))
    []
    """
    packages = sorted(powercap.glob("intel-rapl:[0-9]*"))
    return [p for p in packages if p.name.count(":") == 1 and _number(p / "energy_uj") is not None]


def _number(path: Path) -> int | None:
    try:
        return int(read_text(path))
    except (Error, ValueError):
        return None


@functools.cache
def _nvml():
    """NVIDIA's management library; None where there is none."""
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
        return library if library.nvmlInit_v2() == 0 else None
    except (OSError, AttributeError):
        return None


def card_millijoules(index: int) -> int | None:
    """What a card has taken since its driver was loaded (Volta and later); None where unknown."""
    library = _nvml()
    if library is None:
        return None
    handle, taken = ctypes.c_void_p(), ctypes.c_ulonglong()
    if library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle)):
        return None
    if library.nvmlDeviceGetTotalEnergyConsumption(handle, ctypes.byref(taken)):
        return None
    return taken.value


class EnergyMeter:
    """Joules from construction to `stop`, of all programs on the machine: nothing says which of
    them took it. ``device``: a card (cuda, cuda:N) is measured too.

    >>> from facebench.lab.timing.energy import EnergyMeter
    >>> sorted(EnergyMeter().stop())
    ['card', 'processors']
    """

    def __init__(self, device: str = "cpu", powercap: Path = POWERCAP,
                 card: Callable[[int], int | None] = card_millijoules):  # fmt: skip
        self._packages = rapl_packages(powercap)
        self._index = int(device.partition(":")[2] or 0) if device.startswith("cuda") else None
        self._card = card
        self._before = self._now()

    def _now(self):
        counters = [_number(p / "energy_uj") for p in self._packages]
        return counters, None if self._index is None else self._card(self._index)

    def stop(self) -> dict:
        """{"processors", "card"}: joules; None where the system does not say."""
        (before, card_before), (after, card_after) = self._before, self._now()
        joules: float | None = 0.0 if self._packages else None
        for package, start, end in zip(self._packages, before, after, strict=True):
            if start is None or end is None or joules is None:
                joules = None
                continue
            if end < start:  # the counter began anew, once
                end += (_number(package / "max_energy_range_uj") or 0) + 1
            joules += (end - start) / 1e6
        known = card_before is not None and card_after is not None
        return {"processors": joules,
                "card": (card_after - card_before) / 1e3 if known else None}  # fmt: skip


def joules_an_image(uses: list[dict], images: int) -> dict:
    """The sum of what `EnergyMeter.stop` said of some rounds, by their images.

    >>> from facebench.lab.timing.energy import joules_an_image
    >>> joules_an_image([{"processors": 6.0, "card": None}, {"processors": 4.0, "card": None}], 5)
    {'processors': 2.0, 'card': None}
    """
    found = {}
    for of in ("processors", "card"):
        values = [use[of] for use in uses]
        found[of] = None if None in values or not images else sum(values) / images
    return found
