"""What a network may expect of its images: the settings that `diagnose` tries, and what they are
called on the command line."""

from dataclasses import dataclass, replace

WHOLE = "whole"  # the image as it is: crops that are aligned already, or photographs without a crop


@dataclass(frozen=True)
class Scale:
    """How pixels 0..255 become numbers: (value - mean) / std, in the order R, G, B."""

    mean: tuple[float, ...]
    std: tuple[float, ...]

    def pixels(self, color) -> dict[str, list[float]]:
        """mean and std in the order of the network's channels."""
        return {"mean": _channels(self.mean, color), "std": _channels(self.std, color)}


def _channels(numbers, color):
    if len(numbers) == 1:
        return list(numbers)
    if color == "gray":
        return [sum(numbers) / len(numbers)]
    return list(numbers[::-1] if color == "bgr" else numbers)


# Each with who publishes weights for it. 127.5 and 128 as a deviation differ by less than can be
# measured.
SCALES = (
    Scale((127.5,), (127.5,)),  # insightface, AdaFace, facenet-pytorch (128), SphereFace (128)
    Scale((0.0,), (255.0,)),  # MagFace, LightCNN
    Scale((0.0,), (1.0,)),  # ONNX files that hold their own arithmetic
    Scale((127.5,), (255.0,)),
    Scale((123.675, 116.28, 103.53), (58.395, 57.12, 57.375)),  # torchvision, foamliu
    Scale((129.1863, 104.7624, 93.5940), (1.0,)),  # VGGFace
    Scale((131.0912, 103.8827, 91.4953), (1.0,)),  # VGGFace2
    Scale((122.782, 117.001, 104.298), (256.0,)),  # dlib
)
CROPS = ("arcface112", "sphereface112x96", "dlib150", "paper", "facenet", "vggface2_tight", WHOLE)
# Height and width of a network's input, the most frequent first, for one that takes several.
SIZES = ((112, 112), (160, 160), (224, 224), (112, 96), (128, 128), (150, 150))
FLIPS = ("none", "sum", "concat")


@dataclass(frozen=True)
class Setting:
    """One way to prepare images for a network and to join its outputs."""

    crop: str
    size: tuple[int, int]  # height and width of the crop
    color: str
    scale: Scale | None  # None: the model does its own arithmetic
    flip: str = "none"

    def but(self, **values) -> "Setting":
        return replace(self, **values)

    def to_dict(self) -> dict:
        height, width = self.size
        pixels = self.scale.pixels(self.color) if self.scale else {}
        options = {"crop": self.crop, "crop_size": [width, height], "color": self.color}
        return options | pixels | {"flip": self.flip}


NAMES = {"crop": "crop", "size": "size", "color": "colour", "scale": "pixels", "flip": "flip"}
FACTORS = tuple(NAMES)


def cells(setting: Setting) -> list[str]:
    """The values of all factors, as a person reads them."""
    return [text(factor, setting) for factor in FACTORS]


def text(factor, setting) -> str:
    """The value of a factor, as a person reads it."""
    value = getattr(setting, factor)
    if factor == "size":
        return f"{value[1]}x{value[0]}"
    if factor == "scale":
        if value is None:
            return "the model's own"
        return f"mean {_numbers(value.mean)}, std {_numbers(value.std)}"
    if factor == "crop" and value == WHOLE:
        return "whole image (already aligned)"
    return str(value)


def _numbers(values):
    return ",".join(f"{v:g}" for v in values)


def command(
    setting, model, protocol, root, detector, own_arithmetic, is_ours, output=None
) -> list[str]:
    """The lines to type for a run with this setting. ``detector``: the one that was asked for, or
    None; ``is_ours``: a model file, which says itself what its pixels are; ``own_arithmetic``: a
    callable that is given bytes; ``output``: which of a file's was named, or None."""
    detection = [f"--detector {detector}"] if detector else []
    crop = ["--detector none"] if setting.crop == WHOLE else [*detection, f"--crop {setting.crop}"]
    words = [*crop, f"--crop-size {setting.size[1]}x{setting.size[0]}", f"--flip {setting.flip}"]
    pixels = [f"--set color={setting.color}"]
    if setting.scale is not None:
        numbers = setting.scale.pixels(setting.color)
        pixels += [f"--set {name}={_numbers(values)}" for name, values in numbers.items()]
    pixels += [f"--set output={output}"] if output else []
    run = f"facebench run {protocol} --root {root} --model"
    if is_ours:
        prepared = "prepared.safetensors"
        convert = ["facebench convert", model, *pixels, f"--out {prepared}"]
        return [" ".join(convert), " ".join([run, prepared, *words])]
    return [" ".join([run, model, *([] if own_arithmetic else pixels), *words])]
