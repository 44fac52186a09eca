"""dlib's networks: ours against dlib's own run of the same files (FACEBENCH_DLIB_MODELS), on the
same pixels, outputs compared first. dlib_peer.cc is compiled against the installed dlib, which
multiplies by the system's BLAS."""

import ctypes
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import harness
import numpy as np
from harness import Comparison, Contestant

SOURCE = Path(__file__).with_name("dlib_peer.cc")
CROPS = 32
HEIGHT, WIDTH = 480, 640
THRESHOLD = -1.2  # there is no face in the picture: what comes nearest to one
GOAL = 1.3


def model_file(name):
    return os.fsencode(Path(os.environ["FACEBENCH_DLIB_MODELS"]) / name)


def library():
    """The peer, compiled once for each state of its source."""
    state = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]
    built = SOURCE.parents[2] / "build" / "bench" / f"dlib_peer_{state}.so"
    if not built.exists():
        built.parent.mkdir(parents=True, exist_ok=True)
        flags = ["-std=c++17", "-O3", "-march=native", "-shared", "-fPIC", "-DDLIB_NO_GUI_SUPPORT"]
        libraries = ["-ldlib", "-llapack", "-lblas", "-lpthread"]
        subprocess.run(["g++", *flags, SOURCE, "-o", built, *libraries], check=True)
    peer = ctypes.CDLL(str(built))
    for load in (peer.load_face_network, peer.load_detector):
        load.restype, load.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    peer.detect.restype = ctypes.c_long
    return peer


def refuse_reference_blas():
    maps = Path("/proc/self/maps").read_text().splitlines()
    blas = next(line.split()[-1] for line in maps if "/libblas" in line)
    if not hasattr(ctypes.CDLL(blas), "openblas_get_config"):
        sys.exit(
            f"dlib multiplies by {blas}, which is not OpenBLAS: some ten times as slow. Install "
            "libopenblas0-pthread, or name the folder of its libblas.so.3 in LD_LIBRARY_PATH"
        )
    print(f"dlib multiplies by {blas}")


def on_cores(threads):
    """dlib starts a thread for each core that it sees."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def address(array):
    return ctypes.c_void_p(array.ctypes.data)


def crops():
    return np.random.default_rng(0).integers(0, 256, (CROPS, 150, 150, 3), np.uint8)


def picture():
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(float)
    v = np.hypot((x - WIDTH * 0.4) * 1.3, y - HEIGHT * 0.45)
    waves = (90 * np.sin(v / 6), 80 * np.cos(v / 9 + x / 40), 70 * np.sin(y / 8))
    return (128 + np.stack(waves, -1)).astype(np.uint8)


def our_network(threads):
    on_cores(threads)
    from facebench import embedding

    return embedding.load_embedder("dlib"), crops(), threads


def our_embeddings(state):
    from facebench import embedding

    model, pixels, threads = state
    return embedding.extract(model, pixels, threads=threads, progress=False).values


def dlibs_network(threads):
    on_cores(threads)
    peer = library()
    network = peer.load_face_network(model_file("dlib_face_recognition_resnet_model_v1.dat"))
    return peer, ctypes.c_void_p(network), crops()


def dlibs_embeddings(state):
    peer, network, pixels = state
    values = np.empty((len(pixels), 128), np.float32)
    peer.embed(network, address(pixels), ctypes.c_long(len(pixels)), address(values))
    return values


def same_embeddings(mine, theirs):
    assert np.abs(mine - theirs).max() < 1e-5


def our_detector(threads):
    on_cores(threads)
    from facebench import detection

    return detection.make_detector("dlib_cnn", upsample=0, threshold=THRESHOLD), picture()


def our_faces(state):
    detector, image = state
    faces = detector.detect(image)
    return np.array([[f.score, *(f.box - [0, 0, 1, 1])] for f in faces])


def dlibs_detector(threads):
    on_cores(threads)
    peer = library()
    network = peer.load_detector(model_file("mmod_human_face_detector.dat"))
    return peer, ctypes.c_void_p(network), picture()


def dlibs_faces(state):
    peer, network, image = state
    faces = np.empty((1000, 5))
    sides = (ctypes.c_long(HEIGHT), ctypes.c_long(WIDTH), ctypes.c_double(THRESHOLD))
    count = peer.detect(network, address(image), *sides, address(faces), ctypes.c_long(len(faces)))
    return faces[:count]


def same_faces(mine, theirs):
    assert len(mine) > 0 and (mine[:, 1:] == theirs[:, 1:]).all()
    assert np.abs(mine[:, 0] - theirs[:, 0]).max() < 1e-3


def embed(settings):
    what = Comparison("dlib's face network", "crops", CROPS, same_embeddings, goal=GOAL)
    mine = Contestant("facebench", our_network, our_embeddings)
    return harness.compare(
        what, mine, [Contestant("dlib", dlibs_network, dlibs_embeddings)], settings
    )


def detect(settings):
    what = Comparison("dlib's CNN detector", f"pictures of {WIDTH}x{HEIGHT}", 1, same_faces, GOAL)
    mine = Contestant("facebench", our_detector, our_faces)
    return harness.compare(what, mine, [Contestant("dlib", dlibs_detector, dlibs_faces)], settings)


if __name__ == "__main__":
    library()  # compiled before anything is timed
    refuse_reference_blas()
    harness.main({"embed": embed, "detect": detect})
