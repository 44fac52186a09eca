#!/usr/bin/env python3
"""Writes the tables of docs/recipes.md from the built-in recipes. With --check it writes nothing
and fails where the page is old.

Needs the full package: `PYTHONPATH=build/python python scripts/recipe_page.py`.
"""

import generated_page
from facebench import nn, training
from generated_page import table

PAGE = generated_page.ROOT / "docs/recipes.md"


def size(height, width):
    return f"{height} x {width}" if height else "the data's"


def schedule(values):
    s, length = values["schedule"], values["training"]
    unit = s["unit"]
    text = {
        "constant": "constant",
        "step": f"x {s['gamma']:g} every {s['step']:g} {unit}",
        "multistep": f"x {s['gamma']:g} at {', '.join(f'{m:g}' for m in s['milestones'])} {unit}",
        "polynomial": f"(1 - t)^{s['power']:g}",
        "exponential": f"x {s['gamma']:g} each of the {unit}",
        "cosine": "half a cosine",
    }[s["policy"]]
    total = (
        f"{length['iterations']:,} iterations"
        if length["iterations"]
        else f"{length['epochs']} epochs"
    )
    return f"{values['optimizer']['lr']:g}, {text}; {total}"


def recipes():
    rows = []
    for name in training.recipe_names():
        values = training.load_recipe(name).to_dict()
        image, network, length = values["input"], values["network"], values["training"]
        colors = values["augmentation"]["color"]
        rows.append(
            [
                f"`{name}`",
                f"`{network['name']}`",
                values["loss"]["name"],
                length["batch"],
                size(image["image_height"], image["image_width"]),
                size(network["height"], network["width"]),
                schedule(values),
                f"{values['optimizer']['weight_decay']:g}",
                f"`{length['initializer']}`",
                f"`{values['augmentation']['view']}`"
                + ("" if colors == "none" else f", colours `{colors}`"),
                f"`{image['view']}`, {image['color']}",
                length["last_batch"],
            ]
        )
    heads = ["name", "network", "loss", "batch", "images", "input", "learning rate", "decay",
             "initial weights", "training sees", "embedding sees", "last batch"]  # fmt: skip
    return table(heads, rows)


def notes():
    by_note = {}
    for name in training.recipe_names():
        for note in training.load_recipe(name).notes:
            by_note.setdefault(note, []).append(f"`{name}`")
    return [f"- {', '.join(names)}: {note}" for note, names in by_note.items()]


def views():
    return table(
        ["`view`", "what", "after"],
        [[f"`{v['name']}`", v["doc"], v["source"]] for v in training.training_views()],
    )


def initializers():
    return table(
        ["`initializer`", "what", "after"],
        [[f"`{i['name']}`", i["doc"], i["source"]] for i in nn.initializers()],
    )


def policies():
    return table(
        ["`policy`", "what", "learning rate"],
        [[f"`{p['name']}`", p["doc"], f"`{p['formula']}`"] for p in training.schedule_policies()],
    )


PARTS = [recipes, notes, views, initializers, policies]


def generated():
    """The page with everything between its marks made anew."""
    return generated_page.page_with(PAGE, {part.__name__: part() for part in PARTS})


if __name__ == "__main__":
    generated_page.main(__doc__, generated)
