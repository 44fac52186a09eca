"""Faces at the border of a picture: how well the modes see them, and what a run says about them."""

import json

import numpy as np
import pytest

pytest.importorskip("torch")
import border_faces
import facebench
from facebench import Error, crops, datasets, detection, images

try:
    detection.default_mtcnn_weights()
    WEIGHTS = True
except Error:
    WEIGHTS = False


@pytest.mark.skipif(not WEIGHTS, reason="mtcnn.safetensors was not built")
@pytest.mark.parametrize(
    ("people", "sizes", "cuts"),
    [
        (2, (0.2, 0.5, 0.9, 1.3, 1.5), (0.0, 0.2)),
        pytest.param(8, border_faces.SIZES, border_faces.CUTS, marks=pytest.mark.slow),
    ],
)
def test_the_default_sees_faces_at_every_border(people, sizes, cuts):
    """Median error below 5 % of the eyes' distance, at every size and border."""
    errors = {}
    for index in range(people):
        for case in border_faces.cases(border_faces.synthetic(index), sizes, cuts):
            # Few people make one or two frames with the face in the middle, too few for a median.
            keys = (case.size, case.border, *([(case.size, case.border)] if people > 4 else []))
            error = border_faces.error(case, "facenet")
            for key in keys:
                errors.setdefault(key, []).append(error)
    assert set(sizes) <= set(errors)
    assert {"middle", "side", "corner"} <= set(errors)
    medians = {key: float(np.median(values)) for key, values in errors.items()}
    assert max(medians.values()) < 0.05, medians


def given(path, rows):
    """A detector that says, name by name, boxes and landmarks."""
    text = detection.face_csv_header()
    for name, box, points in rows:
        text += detection.face_csv_record(name, detection.Face(box, 1.0, points))
    path.write_text(text)
    return detection.make_detector("given", file=str(path))


def test_faces_outside_of_their_images_are_counted_and_named(tmp_path):
    inside = [[20, 20], [40, 20], [30, 30], [22, 40], [38, 40]]
    above = [[20, -1], *inside[1:]]
    on_the_edge = [[20, -0.5], *inside[1:]]
    cases = {
        "inside": ([10, 10, 50, 50], inside),
        "a_fifth": ([-8, 10, 32, 50], inside),
        "left": ([-9, 10, 31, 50], inside),
        "below": ([10, 33, 50, 73], inside),
        "eye": ([10, 10, 50, 50], above),
        "edge": ([10, 10, 50, 50], on_the_edge),
        "both": ([40, -30, 80, 10], above),
    }
    for name in cases:
        images.write(tmp_path / "faces" / name / f"{name}.png", np.zeros((64, 64, 3), np.uint8))
    faces = datasets.read_image_folder(tmp_path / "faces")
    rows = [(f"{name}/{name}.png", *case) for name, case in cases.items()]
    summary = datasets.pack_dataset(
        faces,
        tmp_path / "pack.h5",
        detector=given(tmp_path / "faces.csv", rows),
        crop=crops.CropOptions(name="paper"),
    )
    outside = summary.outside
    names = [f"{name}/{name}.png" for name in ("below", "both", "eye", "left")]
    assert (outside.faces, outside.boxes, outside.landmarks) == (7, 3, 2)
    assert outside.names == names
    assert datasets.Pack(tmp_path / "pack.h5").manifest["outside"] == {
        "boxes": 3,
        "landmarks": 2,
        "names": names,
    }
    assert outside.warning == (
        "4 of 7 faces reach beyond their image: 3 boxes by more than a fifth of their side, 2 with "
        "landmarks outside. See whether they were found in the right place (facebench detect "
        "--draw): below/below.png, both/both.png, eye/eye.png and 1 more."
    )


@pytest.mark.skipif(not WEIGHTS, reason="mtcnn.safetensors was not built")
def test_a_face_that_fills_the_frame_is_found_by_the_second_look():
    frames = [
        case
        for case in border_faces.cases(border_faces.synthetic(0), (1.5,), (0.2,))
        if not detection.detect(case.image, second_look=False)
    ]
    assert frames, "the case tests nothing"
    for case in frames:
        (face,) = detection.detect(case.image)
        assert border_faces.error(case, "facenet") < 0.15
        assert (face.box[2:] - face.box[:2] > len(case.image)).any()
        assert detection.detect(case.image, max_face=0.4 * len(case.image)) == []
        assert detection.detect(case.image, mode="matlab", second_look=True)
    # Where a face is found nothing changes.
    seen = border_faces.synthetic(0)
    assert detection.detect(seen) == detection.detect(seen, second_look=False)


@pytest.mark.parametrize(("outside", "warned"), [(0, False), (1, True)])
def test_a_run_says_how_many_faces_lie_outside(outside, warned, tmp_path):
    few = datasets.SyntheticOptions(people=40, images=2, size=64, pairs_per_fold=4)
    datasets.write_synthetic_dataset(few, tmp_path / "faces")
    root = tmp_path / "faces" / "images"
    names = sorted(str(path.relative_to(root)) for path in root.glob("*/*.jpg"))
    points = [[20, 20], [40, 20], [30, 30], [22, 40], [38, 40]]
    # More than one in a hundred of the 80.
    rows = [
        (name, [-20, 10, 40, 50] if i < outside else [10, 10, 50, 50], points)
        for i, name in enumerate(names)
    ]
    given(tmp_path / "faces.csv", rows)

    def colours(batch):
        return batch[:, ::16, ::16].reshape(len(batch), -1)

    result = facebench.run(
        "lfw",
        model=colours,
        root=tmp_path / "faces",
        detector="given",
        detector_options={"file": str(tmp_path / "faces.csv")},
        crop="paper",
        replicates=20,
        out=tmp_path / "run",
    )
    said = [note for note in result.notes if "beyond their image" in note]
    assert bool(said) == warned
    content = json.loads((tmp_path / "run" / "run.json").read_text())["content"]
    assert ("outside" in content["preparation"]) == warned
    report = (tmp_path / "run" / "report.md").read_text()
    assert ("beyond their image" in report) == warned
    assert ("beyond their image" in repr(result)) == warned
    if warned:
        assert said[0].startswith("1 of 80 faces") and names[0] in said[0]
        assert content["preparation"]["outside"]["names"] == names[:1]
