"""``facebench list``: what there is to choose from."""

import facebench
from facebench.cli import common
from facebench.cli.lab import of_lab
from facebench.cli.options import argument
from facebench.cli.verb import Answer, verb
from facebench.core._arguments import did_you_mean


def _named(table: dict[str, str]) -> list[dict]:
    return [{"name": name, "doc": doc} for name, doc in table.items()]


def _networks() -> list[dict]:
    """For 10,575 classes, as the published tables count."""
    result = []
    for entry in facebench.nn.list_networks():
        graph = facebench.nn.build_graph(entry["name"], classes=10575)
        options = entry["options"]
        image = [options.height, options.width, options.channels]
        result.append(
            {
                "name": entry["name"],
                "parameters": graph.count_parameters(),
                "parameters_caffe_first_blob": graph.count_parameters("caffe_first_blob"),
                "macs": graph.count_macs(),
                "input": [options.words] if graph.vocabulary else image,
                "embedding": options.embedding,
                "source": entry["source"],
                "doc": entry["doc"],
            }
        )
    return result


def _detectors() -> list[dict]:
    return (
        _named(facebench.detection.list_detectors())
        + [
            {"name": f"mtcnn, mode={name}", "doc": doc}
            for name, doc in facebench.detection.mtcnn_modes().items()
        ]
        + [
            row | {"name": f"model={row['name']}"}
            for row in facebench.detection.list_detector_files()
        ]
    )


def _recipes() -> list[dict]:
    result = []
    for name in facebench.training.recipe_names():
        recipe = facebench.training.load_recipe(name)
        values = recipe.to_dict()
        training, image = values["training"], values["input"]
        result.append(
            {
                "name": name,
                **common.fields_of(recipe, "network", "loss"),
                "batch": training["batch"],
                "epochs": None if training["iterations"] else training["epochs"],
                "iterations": training["iterations"] or None,
                "images": [image["image_height"], image["image_width"]],
                "doc": recipe.title,
                **common.fields_of(recipe, "citations", "notes", "not_modelled"),
            }
        )
    return result


def _conventions() -> list[dict]:
    titles = {"accuracy": "accuracy", "tar_at_far": "TAR at FAR", "identification": "DIR at FPIR"}
    entries = facebench.protocols.list_conventions()
    for entry in entries:
        decided = ", ".join(title for key, title in titles.items() if entry[key])
        entry["doc"] += f" [{decided}]"
    return entries


def _rules() -> list[dict]:
    return [
        {"name": f"{rule['option']}={rule['name']}", "doc": rule["doc"]}
        for rule in facebench.protocols.convention_rules()
    ]


def _devices() -> list[dict]:
    cuda = facebench.core.cuda_devices()
    core = facebench.core
    cpu = f"{core.available_processors()} processors, {core.active_isa()} kernels"
    devices = [{"name": "cpu", "doc": cpu}]
    if not cuda["devices"]:
        common.complain(f"no CUDA device: {cuda['reason']}")
    for device in cuda["devices"]:
        size, capability = device["memory_bytes"] / 2**30, device["compute_capability"]
        doc = f"{device['model']}, {size:.0f} GiB, compute capability {capability}"
        devices.append(device | {"doc": doc})
    return devices


REPORTS = {
    "html": "a page with curves and notes, in one file, readable without a network",
    "markdown": "a table for a README or an issue",
    "latex": "a table for a paper, for booktabs",
    "text": "a table for a terminal",
    "csv": "a line for each number, for a spreadsheet",
    "parquet": "the same for pandas, polars and DuckDB",
}

# Each kind: how its entries are made, a list of dicts with at least "name".
KINDS = {
    "protocols": lambda: facebench.protocols.list_protocols(),
    "published": lambda: of_lab("listing.published")(),
    "conventions": _conventions,
    "rules": _rules,
    "readers": lambda: facebench._eval.trial_readers(),
    "reports": lambda: _named(REPORTS),
    "rule-sets": lambda: of_lab("listing.rule_sets")(),
    "score-forms": lambda: facebench.protocols.score_forms(),
    "fusions": lambda: facebench.protocols.template_fusions(),
    "intervals": lambda: facebench.protocols.interval_methods(),
    "failures": lambda: facebench.protocols.failure_policies(),
    "metrics": lambda: facebench.protocols.protocol_metrics(),
    "backends": lambda: facebench.backends.backend_kinds(),
    "normalisations": lambda: facebench.backends.score_normalisations(),
    "networks": _networks,
    "models": lambda: facebench.embedding.list_models(),
    "losses": lambda: facebench.losses.list_losses(),
    "recipes": _recipes,
    "detectors": _detectors,
    "selections": lambda: _named(facebench.detection.selection_rules()),
    "crops": lambda: _named(facebench.crops.list_crops()),
    "datasets": lambda: _named(facebench.datasets.dataset_readers()),
    "devices": _devices,
    "engines": lambda: of_lab("listing.engines")(),
    "studies": lambda: of_lab("listing.studies")(),
}


@verb("facebench list networks --json")
def list_names(kind: argument(f"One of: {', '.join(KINDS)}; none: the kinds.", str, KINDS) = ""):
    """List what there is to choose from: name, one line, parameters."""
    if not kind:
        entries = [{"name": name} for name in KINDS]
        return Answer(entries, "\n".join(["facebench list KIND, of these kinds:", *KINDS]))
    if kind not in KINDS:
        meant = did_you_mean(kind, KINDS)
        raise ValueError(f"unknown kind '{kind}'{meant} (known: {', '.join(KINDS)})")
    return listed(KINDS[kind]())


def listed(entries: list[dict]) -> Answer:
    """Entries as a list: name and one line of each."""
    width = max((len(entry["name"]) for entry in entries), default=0)
    lines = [f"{entry['name']:<{width}}  {entry.get('doc', '')}".rstrip() for entry in entries]
    return Answer(entries, "\n".join(lines))
