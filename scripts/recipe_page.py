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
        "inverse": f"(1 + {s['gamma']:g} p)^-{s['power']:g}, p in {unit}",
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


def has_batch_norm(values):
    return any(n["op"] == "batch_norm" for n in nn.build_graph(values["network"]["name"]).nodes)


def norm_cells(values):
    """Batch norm's epsilon and what becomes of its running statistics."""
    network, length = values["network"], values["training"]
    if not has_batch_norm(values):
        return ["", ""]
    graph = nn.build_graph(network["name"], batch_norm_eps=network["batch_norm_eps"])
    norms = [n["options"] for n in graph.nodes if n["op"] == "batch_norm"]
    own = {1 - n["momentum"] for n in norms}
    decay = max(own) if length["batch_norm_decay"] is None else length["batch_norm_decay"]
    corrected = ", corrected" if length["batch_norm_average"] == "corrected" else ""
    return [f"{max(n['eps'] for n in norms):g}", f"{decay:g}{corrected}"]


def solvers():
    rows = {}
    for name in training.recipe_names():
        values = training.load_recipe(name).to_dict()
        o = values["optimizer"]
        biases = f"{o['bias_lr_mult']:g}"
        if o["residual_bias_lr_mult"] is not None:
            biases += f", residual {o['residual_bias_lr_mult']:g}"
        kinds = {"biases": "decay_biases", "batch norm": "decay_norms", "slopes": "decay_slopes"}
        spared = [kind for kind, key in kinds.items() if not o[key]]
        rule = o["momentum_rule"] if o["name"] == "sgd" else o["name"]
        row = (rule, biases, ", ".join(spared) or "none", *norm_cells(values))
        rows.setdefault(row, []).append(f"`{name}`")
    heads = ["recipes", "rule", "rate of biases", "not decayed", "batch norm's epsilon",
             "decay of its statistics"]  # fmt: skip
    return table(heads, [[", ".join(names), *row] for row, names in rows.items()])


def texts(attribute):
    by_text = {}
    for name in training.recipe_names():
        for text in getattr(training.load_recipe(name), attribute):
            by_text.setdefault(text, []).append(f"`{name}`")
    return [f"- {', '.join(names)}: {text}" for text, names in by_text.items()]


def notes():
    return texts("notes")


def not_modelled():
    return texts("not_modelled")


def views():
    return table(
        ["`view`", "what", "after"],
        [[f"`{v['name']}`", v["doc"], v["source"]] for v in training.training_views()],
    )


def initializers():
    return table(
        ["`initializer`", "what", "after"],
        [[f"`{i['name']}`", i["doc"], i["source"]] for i in nn.list_initializers()],
    )


def policies():
    return table(
        ["`policy`", "what", "learning rate"],
        [[f"`{p['name']}`", p["doc"], f"`{p['formula']}`"] for p in training.schedule_policies()],
    )


PARTS = [recipes, solvers, notes, not_modelled, views, initializers, policies]


def generated():
    """The page with everything between its marks made anew."""
    return generated_page.page_with(PAGE, {part.__name__: part() for part in PARTS})


if __name__ == "__main__":
    generated_page.main(__doc__, generated)
