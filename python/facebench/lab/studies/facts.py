"""What is known of a row without training: settings of its recipe, counts, versions."""

from importlib.metadata import PackageNotFoundError, version

# Frameworks as distributions; what has none cannot be installed beside Python today.
_DISTRIBUTIONS = {"pytorch": "torch", "tensorflow": "tensorflow", "keras": "keras", "jax": "jax"}
_CLASSES = 10_575  # people of WebFace, by which the paper counts


def fact(row: dict, name: str, of: str = "") -> tuple[object, str]:
    """(value, text) of one: None and a reason where there is none.

    ``of``: which of the row's ``recipes`` where it has several.
    """
    if name in ("version", "cudnn", "cuda"):
        return None, _version(row.get("framework", ""), name)
    from facebench.lab.studies.work import load_recipe

    recipes = row.get("recipes", {})
    known = recipes.get(of) if of else row.get("recipe") or next(iter(recipes.values()), None)
    if known is None:
        return None, "–"
    recipe = load_recipe({"recipe": known, "settings": row.get("settings", {}), "seed": 0})
    settings = recipe.to_dict()
    if name in _FACTS:
        value = _FACTS[name](settings)
    else:
        value = _graph(settings, _CLASSES).count_parameters(name)
    return (value, "") if isinstance(value, (int, float)) else (None, value)


def _version(framework, name):
    distribution = _DISTRIBUTIONS.get(framework)
    if distribution is None:
        return "needs Caffe 1.0, which cannot be installed any more"
    try:
        installed = version(distribution)
    except PackageNotFoundError:
        return f"needs {distribution}: pip install {distribution}"
    if name == "version":
        return installed
    if framework != "pytorch":
        return f"as {distribution} {installed} was built with"
    import torch

    number = torch.backends.cudnn.version() if name == "cudnn" else torch.version.cuda
    return str(number or "none: a build without")


def _graph(recipe, classes=0):
    from facebench import nn

    options = {k: v for k, v in recipe["network"].items() if v is not None and k != "name"}
    return nn.build_graph(recipe["network"]["name"], **options | {"classes": classes})


def _size(height, width):
    return f"{height} x {width}" if height else "the network's"


def _network_size(recipe):
    return _size(*_graph(recipe).input_shape[1:])


def _image_size(recipe):
    sizes = recipe["input"]
    height, width = sizes["image_height"], sizes["image_width"]
    return _size(height, width) if height else _network_size(recipe)


def learning_rate(recipe) -> str:
    """The schedule as table 2 of Wang & Guo writes it; ipe is the iterations of an epoch."""
    rate, schedule = recipe["optimizer"]["lr"], recipe["schedule"]
    ipe = " * ipe" if schedule["unit"] == "epochs" else ""
    length = recipe["training"]["iterations"] or recipe["training"]["epochs"]
    return {
        "step": f"{rate:g} * {schedule['gamma']:g}^floor(iter / ({schedule['step']:g}{ipe}))",
        "multistep": f"{rate:g} * {schedule['gamma']:g}^floor(iter / "
        f"{_numbers(schedule['milestones'])})",
        "polynomial": f"{rate:g} * (1 - iter / ({length}{ipe}))^{schedule['power']:g}",
    }.get(schedule["policy"], f"{rate:g}, {schedule['policy']}")


def _numbers(values):
    return "[" + ", ".join(f"{v:g}" for v in values) + "]"


def _scaling(preparation):
    return (
        f"channels {preparation['color']}; mean {_numbers(preparation['mean'])}, deviation "
        f"{_numbers(preparation['std'])} of pixels 0..255"
    )


def _preprocessing(recipe):
    augmentation = recipe["augmentation"]
    steps = [augmentation["view"].replace("_", " "), f"flip {augmentation['flip']:g}"]
    if augmentation["shift"]:
        steps.append(f"shift {augmentation['shift']}")
    if augmentation["color"] != "none":
        steps.append(f"colours {augmentation['color']}")
    return "; ".join([*steps, _scaling(recipe["input"])])


_FACTS = {
    "batch": lambda r: r["training"]["batch"],
    "image": _image_size,
    "input": _network_size,
    "learning_rate": learning_rate,
    "length": lambda r: r["training"]["iterations"] or r["training"]["epochs"],
    "weight_decay": lambda r: f"{r['optimizer']['weight_decay']:.0e}".replace("e-0", "e-"),
    "training": _preprocessing,
    "evaluation": lambda r: (
        f"{r['input']['view'].replace('_', ' ')}; {_scaling(r['input'])}; flip {r['input']['flip']}"
    ),
    "convolution_init": lambda r: r["training"]["initializer"].replace("_", " "),
    "linear_init": lambda r: r["loss"].get("init", "the network's").replace("_", " "),
}
