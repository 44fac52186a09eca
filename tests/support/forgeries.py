"""Forged run folders: each claims what its network did not do, with every hash and page made anew.

`FORGERIES`: name -> a function of a `Forger`, which holds a copy of an honest run (photographs, a
model that was trained here, its pack and its embeddings). None may pass `verify --again` as the
same."""

import json
import shutil
from pathlib import Path

import facebench
import h5py
import numpy as np
from facebench import _eval, datasets, io, protocols
from facebench.reports.results import write_run_pages

TRACK = "view2"


def make(folder):
    """A data set, a trained model, an honest run of it, and another model."""
    few = datasets.SyntheticOptions(people=40, images=2, size=48, pairs_per_fold=4)
    datasets.write_synthetic_dataset(few, folder / "faces")
    pixels = np.random.default_rng(0).integers(0, 256, (16, 32, 32, 3), np.uint8)
    for name, epochs in (("model", 1), ("other", 2)):
        settings = {"channel_multiplier": 0.25, "embedding": 8, "batch": 8, "epochs": epochs}
        recipe = facebench.training.load_recipe("small4.softmax", **settings)
        facebench.train(recipe, (pixels, [i % 4 for i in range(16)]), folder / name, threads=1)
    facebench.run(
        "lfw",
        model=folder / "model/model.safetensors",
        root=folder / "faces",
        out=folder / "run",
        replicates=20,
        **{"detector": "none", "crop": "paper", "crop_size": 32},
    )
    return folder


class Forger:
    """A copy of the honest folder, to be altered."""

    def __init__(self, made, folder):
        self.made, self.folder = made, Path(folder)
        self.root, self.model = made / "faces", made / "model/model.safetensors"
        self.other = made / "other/model.safetensors"
        self.run = self.folder / "run"
        shutil.copytree(made / "run", self.run)

    def verify(self, again=80, **how):
        return facebench.verify(self.run, self.root, again=again, model=self.model, **how)

    # --- one file -------------------------------------------------------------------------------

    def record(self, edit, part="content"):
        """Edits a part of run.json, and of the content its copy in scores.h5."""
        document = json.loads((self.run / "run.json").read_text())
        edit(document[part])
        (self.run / "run.json").write_text(json.dumps(document))
        self._copy(document["content"])

    def _copy(self, content):
        copy = {k: v for k, v in content.items() if k != "outputs"}
        with h5py.File(self.run / "scores.h5", "r+") as file:
            if "content" in file:
                del file["content"]
                file["content"] = np.frombuffer(io.canonical_json(copy).encode(), np.uint8)

    def h5(self, file, **changes):
        """Data sets of a file by name ("sample__name" is sample/name), each through a function."""
        with h5py.File(self.run / file, "r+") as h5:
            for name, change in changes.items():
                place = name.replace("__", "/")
                values = change(h5[place][()])
                del h5[place]
                if np.asarray(values).dtype.kind in "OU":
                    text = [v.decode() if isinstance(v, bytes) else str(v) for v in values]
                    h5.create_dataset(place, data=np.array([t.encode() for t in text]))
                else:
                    h5.create_dataset(place, data=values)

    def manifest(self, file, edit):
        """Edits the manifest of pack.h5, embeddings.h5 or scores.h5."""

        def changed(value):
            document = json.loads(bytes(value))
            edit(document)
            return np.frombuffer(io.canonical_json(document).encode(), np.uint8)

        self.h5(file, manifest=changed)

    def of_model(self, edit):
        """What is said of the network, in embeddings.h5 and in run.json."""
        self.manifest("embeddings.h5", edit)
        self.record(lambda c: edit(c["embeddings"]["manifest"]))

    def prepared(self, edit):
        """What is said of the preparation, in pack.h5 and in run.json."""
        self.manifest("pack.h5", edit)
        self.record(lambda c: edit(c["preparation"]))

    # --- the whole ------------------------------------------------------------------------------

    def evaluate(self, protocol="lfw", root=None, **options):
        """Scores, metrics and curves of the embeddings as they are now."""
        old = json.loads((self.run / "run.json").read_text())
        made = self.folder / "evaluated"
        how = {"replicates": 20, **options}
        facebench.evaluate(
            protocol,
            embeddings=self.run / "embeddings.h5",
            root=root or self.root,
            out=made,
            **how,
        )
        new = json.loads((made / "run.json").read_text())["content"]
        for name in ("scores.h5", "metrics.json", "curves.json"):
            shutil.copy(made / name, self.run / name)
        keep = ("preparation", "embedder", "images_sha256", "pack_sha256", "embeddings")
        new |= {k: old["content"][k] for k in keep if k in old["content"]}
        with h5py.File(self.run / "embeddings.h5") as file:
            new["embeddings"]["manifest"] = json.loads(bytes(file["manifest"][()]))
        new["inputs"] = old["content"]["inputs"]
        shutil.rmtree(made)
        (self.run / "run.json").write_text(json.dumps(old | {"content": new}))
        self._copy(new)

    def seal(self):
        """All hashes and pages anew."""
        document = json.loads((self.run / "run.json").read_text())
        content = document["content"]
        for key, name in (("pack_sha256", "pack.h5"), ("embeddings", "embeddings.h5")):
            if key in content and (self.run / name).is_file():
                digest = io.sha256_file(self.run / name)
                if key == "embeddings":
                    content[key]["sha256"] = digest
                else:
                    content[key] = digest
        self._copy(content)
        outputs = content["outputs"]
        outputs |= {n: io.sha256_file(self.run / n) for n in outputs if (self.run / n).is_file()}
        for part in ("content", "circumstance"):
            if f"{part}_sha256" in document:
                text = io.canonical_json(document[part]).encode()
                document[f"{part}_sha256"] = io.sha256_hex(text)
        (self.run / "run.json").write_text(json.dumps(document))
        write_run_pages(self.run)


# --- embeddings and images ------------------------------------------------------------------------


def people_of(forger):
    return [n.split("/")[0] for n in protocols.read_trials("lfw", forger.root).names]


def ideal(forger, rows):
    """One direction for each person, but for so many honest rows."""
    people = people_of(forger)
    random = np.random.default_rng(1)
    ways = {p: random.normal(size=8) for p in sorted(set(people))}

    def change(values):
        for k, person in enumerate(people):
            if k >= rows:
                values[k] = ways[person] / np.linalg.norm(ways[person])
        return values

    forger.h5("embeddings.h5", embedding=change)
    forger.evaluate()


def tree(forger):
    """The hash over the images that a pack now names."""
    with h5py.File(forger.run / "pack.h5") as file:
        names = [n.decode() for n in file["name"][()]]
        lines = [
            f"{bytes(h).hex()}  {n}\n" for h, n in zip(file["file_sha256"], names, strict=True)
        ]
    digest = io.sha256_hex("".join(lines).encode())
    forger.manifest("pack.h5", lambda m: m.update(tree_sha256=digest))
    forger.manifest("embeddings.h5", lambda m: m.update(images_sha256=digest))

    def edit(content):
        content["images_sha256"] = digest
        content["embeddings"]["manifest"]["images_sha256"] = digest

    forger.record(edit)


ROWS = ("box", "file_sha256", "images", "label", "landmarks", "name", "status")


def cut_pack(forger, rows=3, hashes=True):
    ideal(forger, rows)
    forger.h5("pack.h5", **{name: lambda v: v[:rows] for name in ROWS})
    if hashes:
        tree(forger)


def unseen_names(forger, rows=3, mark="\u200b"):
    ideal(forger, rows)
    forger.h5(
        "pack.h5",
        name=lambda v: [n if k < rows else n + mark.encode() for k, n in enumerate(v)],
    )


def other_names(forger):
    """The pack names the three honest images over and over."""
    ideal(forger, 3)
    forger.h5("pack.h5", name=lambda v: [v[k % 3] for k in range(len(v))])


def embeddings_of_others(forger):
    ideal(forger, 3)
    forger.h5(
        "embeddings.h5",
        name=lambda v: [n if k < 3 else b"./" + n for k, n in enumerate(v)],
    )


def swapped(forger, file, **changes):
    forger.h5(file, **changes)
    forger.evaluate()


def failed(forger):
    """The worst images become failures to enrol, whose comparisons are left out."""

    def mark(values):
        values = np.array(values)
        values[10:30] = 1
        return values

    forger.h5("pack.h5", status=mark)
    forger.h5(
        "embeddings.h5",
        status=mark,
        embedding=lambda v: np.where(np.arange(80)[:, None] // 10 % 8 > 2, v, v),
    )
    forger.h5("embeddings.h5", embedding=lambda v: _zero(v, slice(10, 30)))
    forger.evaluate(failed_enrolments="drop")


def _zero(values, at):
    values = np.array(values)
    values[at] = 0
    return values


def longer(forger):
    """Rows of other lengths weigh otherwise where templates are averaged."""
    forger.h5(
        "embeddings.h5", embedding=lambda v: v * np.linspace(1, 2, len(v))[:, None].astype("f4")
    )
    forger.evaluate()


# --- the model ------------------------------------------------------------------------------------


def at(path, value):
    """Sets, or by KeyError removes, a value of a table."""

    def edit(table):
        *way, last = path.split("/")
        for key in way:
            table = table[key]
        if value is KeyError:
            table.pop(last, None)
        else:
            table[last] = value

    return edit


def of_model(path, value):
    return lambda f: f.of_model(at(path, value))


def prepared(path, value):
    return lambda f: f.prepared(at(path, value))


def another_name(forger):
    forger.of_model(at("model/network", "iresnet100"))
    forger.record(lambda c: c.update(embedder="iresnet100"))


def another_hash(forger):
    digest = io.sha256_file(forger.other)
    forger.of_model(at("model_sha256", digest))
    forger.record(lambda c: c["inputs"][1].update(sha256=digest))
    _placed(forger, forger.other)


def _placed(forger, path):
    forger.record(lambda c: c["inputs"][1].update(path=str(path), below_root=None), "circumstance")


def input_of_another(forger):
    forger.record(lambda c: c["inputs"][1].update(sha256=io.sha256_file(forger.other)))
    _placed(forger, forger.other)


def second_model(forger):
    entry = {"role": "model", "sha256": io.sha256_file(forger.other)}
    forger.record(lambda c: c["inputs"].append(entry))
    place = {"role": "model", "path": str(forger.other), "below_root": None}
    forger.record(lambda c: c["inputs"].append(place), "circumstance")


# --- versions, rules, protocols -------------------------------------------------------------------


def version(text):
    return lambda f: (f.record(lambda c: c.update(facebench=text)), ideal_page(f))


def ideal_page(forger):
    """Pages that say 99.75 %."""
    forger.after = lambda: [
        p.write_text(p.read_text().replace("accuracy |", "accuracy | 99.75 |"))
        for p in (forger.run / "report.md",)
    ]


def narrow(rules):
    def forge(forger):
        metrics = json.loads((forger.run / "metrics.json").read_text())
        for number in metrics["tracks"][TRACK]["metrics"].values():
            if number["interval"]:
                number["interval"] = [number["value"] - 0.0001, number["value"] + 0.0001]
        (forger.run / "metrics.json").write_text(_eval.pretty_json(metrics))
        forger.record(at("interval_rules", rules))

    return forge


def as_format(number):
    def forge(forger):
        forger.manifest("scores.h5", lambda m: m.update(format=number))
        with h5py.File(forger.run / "scores.h5", "r+") as file:
            del file["content"]
        document = json.loads((forger.run / "run.json").read_text())
        document["content"]["embedder"] = "ours"
        del document["content_sha256"]
        (forger.run / "run.json").write_text(json.dumps(document))

    return forge


def own_protocol(*changes):
    def forge(forger):
        text = protocols.load_protocol("lfw").text
        for old, new in changes:
            assert old in text
            text = text.replace(old, new, 1)
        (forger.folder / "own.toml").write_text(text)
        forger.evaluate(forger.folder / "own.toml")

    return forge


def title(text):
    return own_protocol(
        ('id = "lfw"', 'id = "mine"'), ('title = "LFW View 2"', f'title = "{text}"')
    )


def counts_taken_out(forger):
    text = protocols.load_protocol("lfw").text
    (forger.folder / "own.toml").write_text(text[: text.index("[[expected]]")])
    forger.evaluate(forger.folder / "own.toml")


# --- lists, scores, numbers -----------------------------------------------------------------------


def other_pairs(forger):
    """A list in which each impostor pair is an easy one, under the true list's hash."""
    lists = forger.folder / "mine"
    shutil.copytree(forger.root / "protocol", lists / "protocol")
    path = lists / "protocol/pairs.txt"
    lines = path.read_text().splitlines()
    last = lines[-1].split("\t")
    path.write_text("\n".join([*lines[:-1], "\t".join([last[0], "2", last[2], "2"])]) + "\n")
    if path.read_text() == (forger.root / "protocol/pairs.txt").read_text():
        path.write_text("\n".join([*lines[:-1], "\t".join([last[0], "1", last[2], "2"])]) + "\n")
    forger.evaluate(root=lists)


def scores(change):
    def forge(forger):
        forger.h5("scores.h5", **{f"tracks__{TRACK}__score": change})
        measured(forger)

    return forge


def measured(forger):
    """Metrics and curves of scores.h5 as it is now."""
    with h5py.File(forger.run / "scores.h5") as file:
        values = file[f"tracks/{TRACK}/score"][()]
    out = forger.folder / "given"
    facebench.evaluate("lfw", scores=values, root=forger.root, replicates=20, out=out)
    for name in ("metrics.json", "curves.json"):
        shutil.copy(out / name, forger.run / name)


def better(values):
    values = np.array(values)
    values[: len(values) // 2] = 0.9
    values[len(values) // 2 :] = 0.1
    return values


def given_instead(forger):
    """Ideal scores, "given", while model and embeddings stay named."""
    forger.h5("scores.h5", **{f"tracks__{TRACK}__score": better})
    measured(forger)
    forger.record(lambda c: c.update(score="given"))


def without_embeddings(forger):
    ideal(forger, 0)
    (forger.run / "embeddings.h5").unlink()


def without_pack(forger):
    ideal(forger, 0)
    (forger.run / "pack.h5").unlink()


def without_both(forger):
    ideal(forger, 0)
    (forger.run / "pack.h5").unlink()
    (forger.run / "embeddings.h5").unlink()
    forger.record(lambda c: (c.pop("pack_sha256"), c.pop("embedder"), c.pop("preparation")))


def number(file, edit):
    def forge(forger):
        document = json.loads((forger.run / file).read_text())
        edit(document)
        (forger.run / file).write_text(_eval.pretty_json(document))

    return forge


def of_sample(name, change):
    return lambda f: f.h5("scores.h5", **{name: change})


def shifted(values):
    return np.roll(np.array(values), 1)


def page(name, text):
    def forge(forger):
        forger.after = lambda: (forger.run / name).write_text(text)

    return forge


FORGERIES = {
    # What `--again` draws from.
    "ideal rows, the pack cut to three": cut_pack,
    "the same, hashes of the images left": lambda f: cut_pack(f, hashes=False),
    "ideal rows, zero-width spaces in the pack": unseen_names,
    "ideal rows, soft hyphens in the pack": lambda f: unseen_names(f, mark="\u00ad"),
    "ideal rows, blanks in the pack": lambda f: unseen_names(f, mark=" "),
    "ideal rows, other endings in the pack": lambda f: unseen_names(f, mark=".jpeg"),
    "ideal rows, the pack names three images": other_names,
    "ideal rows, other names of embeddings": embeddings_of_others,
    "ideal rows": lambda f: ideal(f, 0),
    "half of the rows ideal": lambda f: ideal(f, 40),
    "embeddings of other people": lambda f: swapped(f, "embeddings.h5", embedding=shifted),
    "embeddings with another sign": lambda f: swapped(f, "embeddings.h5", embedding=lambda v: -v),
    "embeddings a little turned": lambda f: swapped(
        f, "embeddings.h5", embedding=lambda v: v + np.float32(0.05)
    ),
    "embeddings of other lengths": longer,
    "failures that were none, left out": failed,
    "crops of other images": lambda f: f.h5("pack.h5", images=shifted),
    "boxes of other images": lambda f: f.h5("pack.h5", box=lambda v: v + 3),
    "landmarks that were not found": lambda f: f.h5(
        "pack.h5", landmarks=lambda v: np.zeros_like(v) + 5
    ),
    "statuses of the pack": lambda f: f.h5("pack.h5", status=lambda v: np.where(v == 0, 1, v)),
    "hashes of other images in the pack": lambda f: f.h5("pack.h5", file_sha256=shifted),
    "hashes of other images, and over all": lambda f: (
        f.h5("pack.h5", file_sha256=shifted),
        tree(f),
    ),
    "no embeddings": without_embeddings,
    "no pack": without_pack,
    "neither, and not named": without_both,
    "people of the pack": lambda f: f.h5("pack.h5", label=shifted),
    "names of people in the pack": lambda f: f.manifest(
        "pack.h5", lambda m: m.update(label_names=m["label_names"][::-1])
    ),
    # The model.
    "the network has another name": another_name,
    "another recipe": of_model("model/training/recipe", "iresnet100.arcface"),
    "another loss": of_model("model/training/loss", "arcface"),
    "another engine": of_model("model/training/engine", "insightface"),
    "CASIA-WebFace as training set": of_model("model/training/training_set/name", "CASIA-WebFace"),
    "another number of people": of_model("model/training/training_set/people", 93431),
    "the training taken out": of_model("model/training", KeyError),
    "the training's run": of_model("model/options/training_run", "0" * 64),
    "SHA-256 of another model": another_hash,
    "input of another model": input_of_another,
    "a second model": second_model,
    "the model's hash taken out": of_model("model_sha256", KeyError),
    "the precision taken out": of_model("extract/precision", KeyError),
    "another precision": of_model("extract/precision", "int8"),
    "another flip": of_model("extract/flip", "none"),
    "another normalization": of_model("extract/normalization", "none"),
    "another width": of_model("model/network_options/channel_multiplier", 4.0),
    "another crop of its training": of_model("model/options/crop", "paper"),
    "an origin": of_model("model/options/origin", "InsightFace buffalo_l"),
    "another field of the model": of_model("model/certified", "NIST"),
    # The preparation.
    "another detector": prepared("detector", {"detector": "mtcnn", "options": {}}),
    "another crop": prepared("crop/name", "arcface112"),
    "another margin": prepared("crop/margin", 0.5),
    "another selection": prepared("selection", "largest"),
    "another limit of pixels": prepared("decode/max_pixels", 1000),
    "failures in the record": prepared("failures", [{"name": "a", "reason": "b"}]),
    # Versions and rules.
    "version 0.0.9": version("0.0.9"),
    "no version": version(""),
    "a version of words": version("latest"),
    "a later version": version("9.9.9"),
    "version below the first": version("0.0.99"),
    "format 4": as_format(4),
    "format 2": as_format(2),
    "narrow intervals, rule 1": narrow(1),
    "narrow intervals, rule 2": narrow(2),
    "narrow intervals, no rule": narrow(KeyError),
    "narrow intervals": narrow(3),
    # Protocols.
    "counts taken out": counts_taken_out,
    "Labeled Faces in the Wild, View 2": title("Labeled Faces in the Wild, View 2"),
    "LFW View II": title("LFW View II"),
    "mathematical letters": title(
        "\U0001d40b\U0001d405\U0001d416 \U0001d415\U0001d422\U0001d41e\U0001d430 \U0001d7d0"
    ),
    "Greek and Cyrillic": title("LF\u051c V\u0456\u0435w 2"),
    "fullwidth": title("\uff2c\uff26\uff37 \uff36\uff49\uff45\uff57 \uff12"),
    "a letter of another height": title("lFW Vlew 2"),
    "the official LFW protocol": title("The official LFW View 2 protocol"),
    "two v for a w": title("LFVV Vievv 2"),
    "a title of its own": title("My pairs"),
    # Lists and numbers.
    "other pairs": other_pairs,
    "ideal scores": scores(better),
    "scores given": given_instead,
    "folds": of_sample(f"tracks__{TRACK}__fold", shifted),
    "labels of pairs": of_sample(f"tracks__{TRACK}__genuine", shifted),
    "pairs in scores.h5": of_sample(f"tracks__{TRACK}__first", shifted),
    "people": of_sample("sample__identity", shifted),
    "statuses": of_sample("sample__status", lambda v: np.where(np.arange(len(v)) < 3, 1, v)),
    "names of samples": of_sample("sample__name", lambda v: [n + b"\xe2\x80\x8b" for n in v]),
    "a metric": number(
        "metrics.json", lambda d: d["tracks"][TRACK]["metrics"]["accuracy"].update(value=0.9975)
    ),
    "a curve": number("curves.json", lambda d: d["tracks"][0]["roc"]["tar"].__setitem__(0, 1.0)),
    "a limit": lambda f: f.record(at("limit", 40)),
    "a convention": lambda f: f.record(at("options/convention", "insightface")),
    "no notes": lambda f: f.record(at("notes", [])),
    "a page": page("report.html", "<html>99.75 %</html>"),
    "a card": page("card.md", "# iresnet100\n\n99.75 %\n"),
    "another file": page("certificate.md", "Verified."),
}


def forge(made, folder, name) -> Forger:
    forger = Forger(made, folder)
    FORGERIES[name](forger)
    forger.seal()
    getattr(forger, "after", lambda: None)()
    return forger
