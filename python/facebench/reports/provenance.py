"""What a run says of itself that nothing proves: the part of its provenance that is stated."""

from facebench import _eval
from facebench.analysis.runs import read_run
from facebench.core._arguments import brief, cut, printable

# Of the circumstance of run.json: what is shown of it, and as what.
_MACHINE = ("host", "system", "cpu", "processors", "threads", "load", "libraries", "opencv")
_PLACES = ("root", "images", "folder", "command")
_KNOWN = {*_MACHINE, *_PLACES, "cache", "inputs", "started"}


def stated_of_content(content) -> dict[str, str]:
    """What the content of a run states of its making, by name: the versions of what made it, its
    model, and the model's training. Text from a file, printable and cut."""
    embeddings = content.get("embeddings")
    manifest = embeddings.get("manifest") if isinstance(embeddings, dict) else None
    manifest = manifest if isinstance(manifest, dict) else {}
    of_torch = {"torch": manifest["torch"]} if manifest.get("torch") else {}
    stated = {
        "made by": _listed({k: content.get(k) for k in ("facebench", "compiler", "isa")} | of_torch)
    }
    matcher = content.get("matcher")
    if isinstance(matcher, dict):
        stated["scores"] = f"by a library: {_listed(matcher)}"
    elif content.get("score") == "given":
        stated["scores"] = "given, not computed by facebench"
    extract = manifest.get("extract")
    if isinstance(extract, dict):
        how = ("device", "executor", "micro_batch")
        stated["embedded by"] = _listed({name: extract.get(name) for name in how})
    model = manifest.get("model")
    model = model if isinstance(model, dict) else {}
    if content.get("embedder") or manifest.get("model_sha256"):
        sha256 = manifest.get("model_sha256", "not a file")
        stated["model"] = _listed({"name": content.get("embedder"), "SHA-256": sha256})
        options = model.get("options")
        run = options.get("training_run") if isinstance(options, dict) else None
        training = {"run": run} if run else {}
        if model.get("training"):
            training["record"] = model["training"]
        stated["training of the model"] = _listed(training) or "nothing is said of it"
    return stated


def stated_of_run(folder, made_again=False) -> dict[str, str]:
    """What a run folder states and nothing proves, by name. ``made_again``: whether its model was
    opened and made some of the embeddings again, so that only the model's training is stated."""
    try:
        run = read_run(folder, check=False)
    except _eval.Error:
        return {}
    content, circumstance = run["content"], run["circumstance"]
    stated = stated_of_content(content)
    if made_again:
        stated.pop("model", None)
    stated |= _of_files(content)
    if not isinstance(circumstance, dict):
        return stated
    machine = {k: circumstance[k] for k in _MACHINE if k in circumstance}
    places = {k: circumstance[k] for k in _PLACES if circumstance.get(k) is not None}
    others = {k: v for k, v in circumstance.items() if k not in _KNOWN}
    started = circumstance.get("started")
    return stated | {
        name: text
        for name, text in {
            "time": _listed({"started": started}) if started else "",
            "machine": _listed(machine),
            "places and command": _listed(places),
            "beside these": _listed({brief(name): value for name, value in others.items()}),
        }.items()
        if text
    }


def _of_files(content) -> dict[str, str]:
    """What pack.h5 and embeddings.h5 say of their own making, where it is another than the run's,
    and of all images together."""
    embeddings, preparation = content.get("embeddings"), content.get("preparation")
    manifest = embeddings.get("manifest") if isinstance(embeddings, dict) else None
    made = ("facebench", "compiler", "isa", "torch_isa")
    said = {k: manifest[k] for k in made if k in manifest} if isinstance(manifest, dict) else {}
    said = {k: v for k, v in said.items() if k == "torch_isa" or v != content.get(k)}
    sums = preparation if isinstance(preparation, dict) else {}
    sums = {k: sums[k] for k in ("decided_by", "outside", "exif_tagged") if k in sums}
    texts = {"embeddings made by": _listed(said), "preparation": _listed(sums)}
    return {name: text for name, text in texts.items() if text}


def _listed(values) -> str:
    return ", ".join(
        f"{name} {_text(value)}" for name, value in values.items() if value is not None
    )


def _text(value) -> str:
    text = value if isinstance(value, str) else _eval.canonical_json(value)
    return cut(printable(text))
