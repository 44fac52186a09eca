"""What depends on kernels is tested with every instruction set: scripts/test.sh runs the C++ suites
with the label `kernels` (all but those that tests/CMakeLists.txt lists) and the Python tests
with the mark `kernels` once more for each set below the processor's own."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The sources that choose kernels by instruction set, and the test files that compare what these
# give.
CHOOSE = {
    "backends/matrix_sums.cc": ["test_backends"],
    "detection/dlib.cc": ["test_dlib_cnn"],
    "detection/mtcnn.cc": ["test_detection", "test_mtcnn_goldens"],
    "embedding/pixel_input.cc": ["test_embedding", "test_content_cache"],
    "images/area_sampler.cc": ["test_images", "test_detection"],
    "metrics/kernel_choice.cc": ["test_all_pairs", "test_identification"],
    "nn/kernel_choice.cc": ["test_embedding", "test_own_network", "test_precision", "test_shards"],
    "timing/limits.cc": [],  # they give a speed
}
# Those that tell which set it is.
TELL = {
    "core/isa.cc",
    "io/manifest.cc",
    "metrics/all_pairs.cc",
    "nn/inference_network.cc",
    "nn/inference_precision.cc",
    "timing/machine.cc",
}


def test_the_tests_of_every_kernel_run_again_with_each_instruction_set():
    asking = {
        f"{path.parent.name}/{path.name}"
        for path in (ROOT / "cpp").rglob("*.cc")
        if "active_isa()" in path.read_text()
    }
    assert asking - TELL == set(CHOOSE)
    marked = {
        path.stem
        for path in Path(__file__).parents[1].rglob("test_*.py")
        if re.search(r"^(@|pytestmark = )pytest\.mark\.kernels$", path.read_text(), re.MULTILINE)
    }
    assert {name for names in CHOOSE.values() for name in names} == marked
