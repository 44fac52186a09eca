"""scripts/as_avx2.sh: a command as on a processor that has AVX2 and nothing wider."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CPUINFO = Path("/proc/cpuinfo")
FLAGS = CPUINFO.read_text().split() if CPUINFO.exists() else []
WIDE, CAN_HIDE = "avx512f" in FLAGS, "cpuid_fault" in FLAGS


def run(code):
    command = ["scripts/as_avx2.sh", sys.executable, "-X", "faulthandler", "-c", code]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.skipif(not (WIDE and CAN_HIDE), reason="nothing wider to hide, or no way")
def test_wider_instructions_are_hidden_from_all_programs():
    code = """
import torch
from facebench import core
print(core.active_isa(), torch.backends.cpu.get_cpu_capability().lower())
"""
    done = run(code)
    assert done.stdout.split() == ["avx2", "avx2"], done.stderr


@pytest.mark.skipif(not CAN_HIDE, reason="this processor cannot hide instructions")
def test_other_faults_stay_the_programs_own():
    done = run("import ctypes; ctypes.string_at(0)")
    assert "Fatal Python error: Segmentation fault" in done.stderr
    assert done.returncode < 0


@pytest.mark.skipif(CAN_HIDE or not FLAGS, reason="this processor can hide instructions")
def test_a_processor_that_cannot_says_so():
    done = run("print(1)")
    assert (done.returncode, done.stdout) == (1, "")
    assert "cannot hide instructions" in done.stderr
