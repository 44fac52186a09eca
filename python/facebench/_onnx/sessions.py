"""Sessions of ONNX Runtime on one device: the one place that opens them."""

import contextlib
import ctypes
import io
from pathlib import Path

from facebench.core import cuda_devices, parse_device

CUDA = "CUDAExecutionProvider"


def has_cuda() -> bool:
    """Whether an onnxruntime is installed that was built for cards."""
    try:
        import onnxruntime
    except ImportError:
        return False
    return CUDA in onnxruntime.get_available_providers()


def named_providers(names) -> list[str]:
    """Providers as onnxruntime calls them: "tensorrt" is TensorrtExecutionProvider. ValueError for
    one that the onnxruntime at hand does not have."""
    import onnxruntime

    there = onnxruntime.get_available_providers()
    short = {name.removesuffix("ExecutionProvider").lower(): name for name in there}
    texts = names.split(",") if isinstance(names, str) else names
    if (
        not isinstance(texts, list | tuple)
        or not texts
        or not all(isinstance(text, str) for text in texts)
    ):
        raise TypeError('providers: expected names, as ["tensorrt", "cuda"]')
    found = []
    for text in (text.strip() for text in texts):
        name = short.get(text.lower(), text)
        if name not in there:
            raise ValueError(
                f"provider '{text[:60]}' is not in onnxruntime {onnxruntime.__version__}, which "
                f"has {', '.join(there)}. Others come with other packages: onnxruntime-gpu "
                "(CUDA, TensorRT), onnxruntime-openvino"
            )
        found.append(name)
    if len(set(found)) < len(found):
        raise ValueError(f"providers: one is named twice: {', '.join(found)}")
    return found


def quiet_options():
    """Options of a session on one thread that prints nothing: onnxruntime's log has names of the
    file as they are, and what failed stands in its exception."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return options


def card_of(device: str) -> int | None:
    """The number of the card that a device means; None: the processor."""
    if device == "auto":
        return 0 if cuda_devices()["devices"] else None
    return parse_device(device)


def session(
    source, options, card: int | None = None, tf32: bool = False, providers: list[str] | None = None
):
    """An ``InferenceSession`` of a file, or of its bytes, on the processor, on the card of that
    number, or by providers in their order. On a card it multiplies float32, or what ``tf32`` leaves
    of it, with the kernels that cuDNN's heuristics name: it searches for none. RuntimeError where
    onnxruntime would go on without the card or the first provider. No other place opens one."""
    import onnxruntime

    wanted: list = providers or ["CPUExecutionProvider"]
    if card is not None:
        _load_cuda_libraries(onnxruntime)
        exact = {"use_tf32": int(tf32), "cudnn_conv_algo_search": "HEURISTIC"}
        wanted = [(CUDA, {"device_id": card, **exact})]
    inference = onnxruntime.InferenceSession(
        source if isinstance(source, bytes) else str(source),
        options,
        providers=wanted,
        enable_fallback=False,
    )
    first = inference.get_providers()[0]
    if card is not None and first != CUDA:
        raise RuntimeError(
            f"its CUDA provider does not start: {_why_not(onnxruntime)}. Install the CUDA and "
            "cuDNN that it was built for: pip install onnxruntime-gpu[cuda,cudnn]"
        )
    if providers and first != providers[0]:
        raise RuntimeError(
            f"{providers[0]} does not start, {first} would take its place; "
            "install the libraries that it needs, or leave it out"
        )
    return inference


def _load_cuda_libraries(onnxruntime):
    """Its own way to find them in Python packages; before 1.21 it had none, and takes torch's."""
    if not hasattr(onnxruntime, "preload_dlls"):
        import torch  # noqa: F401

        return
    with contextlib.redirect_stdout(io.StringIO()):  # it prints what it does not find
        onnxruntime.preload_dlls()


def _why_not(onnxruntime) -> str:
    """onnxruntime only logs why; loading the provider once more tells it."""
    library = Path(onnxruntime.__file__).parent / "capi" / "libonnxruntime_providers_cuda.so"
    try:
        ctypes.CDLL(str(library))
    except OSError as e:
        return str(e)
    return "its log says why"
