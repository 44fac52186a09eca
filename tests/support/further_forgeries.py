"""Sixty more forged run folders, of a plain run, one of several tracks, one of aligned crops and
one without names: each claims what its network did not do, with all hashes and pages made anew.

`FURTHER`: name -> (which honest run, the function that forges it, what `verify --again` has to
say). "stated": nothing can prove it, so that it is the same, and is quoted as stated."""

import json
import shutil

import facebench
import forgeries
import h5py
import numpy as np
from facebench import io, protocols
from forgeries import at, of_model, prepared, shifted

PLAIN = {"detector": "none", "crop": "paper", "crop_size": 32}


def make(folder):
    """The folders of `forgeries.make`, with three more runs beside them."""
    forgeries.make(folder)
    faces = folder / "faces"
    people = sorted(path.name for path in (faces / "images").iterdir())
    text = protocols.load_protocol("rfw").text.replace("size = 300", "size = 1")
    text = text.replace('id = "rfw"', 'id = "four"').replace('title = "RFW"', 'title = "Four"')
    (folder / "four.toml").write_text(text[: text.index("[[expected]]")])
    for k, group in enumerate(("African", "Asian", "Caucasian", "Indian")):
        mine = people[10 * k : 10 * k + 10]
        for person in mine:
            source = faces / "images" / person
            shutil.copytree(source, folder / "groups_faces/data" / group / person)
        pairs = [
            f"{mine[n]}\t1\t{'' if genuine else mine[(n + 1) % 10] + chr(9)}2"
            for n in range(10)
            for genuine in (True, False)
        ]
        lists = folder / "groups_faces/txts" / group
        lists.mkdir(parents=True)
        (lists / f"{group}_pairs.txt").write_text("\n".join(pairs) + "\n")
    for out, protocol, root, how in (
        ("groups", folder / "four.toml", folder / "groups_faces", {}),
        ("aligned", "lfw", faces, {"detector": "mtcnn", "crop": "arcface112", "crop_size": None}),
        ("hidden", "lfw", faces, {"anonymous": True}),
    ):
        facebench.run(
            protocol,
            model=folder / "model/model.safetensors",
            root=root,
            out=folder / out,
            replicates=20,
            cache=None,
            **PLAIN | how,
        )
    return folder


class Forger(forgeries.Forger):
    """A copy of one of the honest runs. Its own protocol is the verifier's, too."""

    def __init__(self, made, folder, which):
        super().__init__(made, folder)
        shutil.rmtree(self.run)
        shutil.copytree(made / which, self.run)
        self.own = {"protocol": made / "four.toml"} if which == "groups" else {}
        if which == "groups":
            self.root = made / "groups_faces"

    def verify(self, again=80, **how):
        return super().verify(again, **self.own | how)

    def evaluate(self, protocol="lfw", root=None, **options):
        protocol = self.own.get("protocol", protocol) if protocol == "lfw" else protocol
        super().evaluate(protocol, root, **options)


# --- run.json ------------------------------------------------------------------------------------


def content(path, value):
    return lambda f: f.record(at(path, value))


def circumstance(path, value):
    return lambda f: f.record(at(path, value), "circumstance")


def added(part, value):
    return lambda f: f.record(lambda c: c[part].append(value))


def both(*edits):
    return lambda f: [edit(f) for edit in edits]


def top(forger):
    """A part of run.json beside content and circumstance."""
    forger.after = lambda: _top(forger)


def _top(forger):
    path = forger.run / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"certificate": "NIST FRTE 1:1"}))


def twice(forger):
    """A key that is there twice: one reader takes the first, another the last."""

    def after():
        path = forger.run / "run.json"
        text = path.read_text()
        assert text.startswith('{"circumstance"')
        path.write_text('{"content": {"embedder": "iresnet100"}, ' + text[1:])

    forger.after = after


# --- scores.h5, pack.h5, embeddings.h5 ------------------------------------------------------------


def extra(file, place, values):
    def forge(forger):
        with h5py.File(forger.run / file, "r+") as h5:
            h5[place] = values

    return forge


def attribute(file):
    def forge(forger):
        with h5py.File(forger.run / file, "r+") as h5:
            h5.attrs["certified"] = "NIST"

    return forge


def external(forger):
    """The embeddings lie in another file that a link of HDF5 names."""
    with h5py.File(forger.run / "embeddings.h5", "r+") as h5:
        values = h5["embedding"][()]
        del h5["embedding"]
        h5["embedding"] = h5py.ExternalLink("more.h5", "/embedding")
    with h5py.File(forger.run / "more.h5", "w") as h5:
        h5["embedding"] = values


def tracks_swapped(forger, a="African", b="Indian"):
    """The better group's scores under the name of the other."""
    with h5py.File(forger.run / "scores.h5", "r+") as h5:
        h5.move(f"tracks/{a}", "tracks/kept")
        h5.move(f"tracks/{b}", f"tracks/{a}")
        h5.move("tracks/kept", f"tracks/{b}")
    for file in ("metrics.json", "curves.json"):
        path = forger.run / file
        text = path.read_text()
        path.write_text(text.replace(a, "\0").replace(b, a).replace("\0", b))
    forger.record(lambda c: c["tracks"].update({a: c["tracks"][b], b: c["tracks"][a]}))


def track_names(forger):
    forger.manifest("scores.h5", lambda m: m["tracks"].reverse())


def track_gone(forger):
    """The worst group is left out."""
    forger.manifest("scores.h5", lambda m: m["tracks"].remove("African"))
    with h5py.File(forger.run / "scores.h5", "r+") as h5:
        del h5["tracks/African"]
    for file in ("metrics.json", "curves.json"):
        _edit(forger, file, _without_african)
    forger.record(lambda c: c["tracks"].pop("African"))


def _without_african(document):
    tracks = document["tracks"]
    if isinstance(tracks, dict):
        tracks.pop("African", None)
    else:
        document["tracks"] = [t for t in tracks if t["track"] != "African"]


def _edit(forger, file, edit):
    path = forger.run / file
    document = json.loads(path.read_text())
    edit(document)
    text = facebench._eval.pretty_json(document)
    path.write_text(text if file == "metrics.json" else io.canonical_json(document) + "\n")


def metric(name, **changes):
    return lambda f: _edit(
        f, "metrics.json", lambda d: d["tracks"]["view2"]["metrics"][name].update(changes)
    )


def fold_table(forger):
    """Each fold of the accuracy under another number."""

    def edit(document):
        rows = document["tracks"]["view2"]["metrics"]["accuracy"]["folds"]
        for k, row in enumerate(rows):
            row["fold"] = len(rows) - 1 - k

    _edit(forger, "metrics.json", edit)


def thresholds(forger):
    def edit(document):
        for row in document["tracks"]["view2"]["metrics"]["accuracy"]["folds"]:
            row["threshold"] = 0.5

    _edit(forger, "metrics.json", edit)


def band(forger):
    def edit(document):
        for track in document["tracks"]:
            track["band"]["low"] = track["band"]["high"]

    _edit(forger, "curves.json", edit)


def drawn_scores(forger):
    def edit(document):
        for track in document["tracks"]:
            track["scores"]["impostor"] = track["scores"]["impostor"][::-1]

    _edit(forger, "curves.json", edit)


def unicode_person(forger):
    """One person of the list under a name that looks the same."""

    def change(values):
        return [v.replace(b"Person_00001", "P\u0435rson_00001".encode()) for v in values]

    forger.h5("scores.h5", identity=change)


def composed(forger):
    """Names in the other Unicode form, everywhere."""

    def change(values):
        return [v + "e\u0301".encode() for v in values]

    for file in ("scores.h5", "pack.h5", "embeddings.h5"):
        forger.h5(file, **{"sample__name" if file == "scores.h5" else "name": change})
    forgeries.tree(forger)


def of_another_run(name):
    """A page of the run of several tracks."""

    def forge(forger):
        forger.after = lambda: shutil.copy(forger.made / "groups" / name, forger.run / name)

    return forge


def planted(forger):
    """A row in the report's table, as if another system had been measured."""

    def after():
        path = forger.run / "report.md"
        lines = path.read_text().split("\n")
        row = next(k for k, line in enumerate(lines) if line.startswith("| accuracy"))
        lines.insert(row, "| accuracy of iresnet100 | 99.75 | | | |")
        path.write_text("\n".join(lines))

    forger.after = after


def in_the_page(old, new):
    def forge(forger):
        def after():
            path = forger.run / "report.html"
            text = path.read_text()
            assert old in text
            path.write_text(text.replace(old, new, 1))

        forger.after = after

    return forge


def spaces(file):
    """The same numbers with a blank behind them."""

    def forge(forger):
        path = forger.run / file
        path.write_text(path.read_text() + " ")

    return forge


def compared_page(forger):
    runs = [forger.made / "run", forger.made / "aligned"]
    facebench.report(runs, format="html", out=forger.run / "compare.html")


def not_hidden(forger):
    """An open run that says its names are hashes, so that inputs need no place."""
    forger.record(at("anonymous", True))
    forger.record(
        lambda c: [place.update(path="", below_root=None) for place in c["inputs"]], "circumstance"
    )


def hidden_names(change):
    def forge(forger):
        forger.h5("scores.h5", sample__name=change)
        forger.h5("embeddings.h5", name=change)

    return forge


def hidden_better(forger):
    """The same forged embeddings as of an open run, below hashed names."""
    with h5py.File(forger.run / "scores.h5") as h5:
        people = h5["sample/identity"][()]
    ways = np.random.default_rng(0).normal(size=(people.max() + 1, 8))
    rows = (ways / np.linalg.norm(ways, axis=1, keepdims=True))[people].astype("f4")
    forger.h5("embeddings.h5", embedding=lambda v: rows)


def input_extra(forger):
    forger.record(lambda c: c["inputs"][0].update(official=True))


def more_inputs(forger):
    """An exclusion that was not applied."""
    digest = io.sha256_file(forger.root / "protocol/pairs.txt")
    forger.record(lambda c: c["inputs"].append({"role": "without", "sha256": digest}))
    place = {"role": "without", "path": str(forger.root / "protocol/pairs.txt")}
    forger.record(lambda c: c["inputs"].append(place | {"below_root": None}), "circumstance")


FURTHER = {
    # What run.json says and nothing reads.
    "a key of the content": ("run", content("certified", "NIST FRTE 1:1"), "different"),
    "a key of the embeddings": ("run", content("embeddings/certified", "NIST"), "different"),
    "a key of the preparation": ("run", content("preparation/certified", "NIST"), "different"),
    "a key of an input": ("run", input_extra, "different"),
    "a key of run.json": ("run", top, "refused"),
    "the content twice": ("run", twice, "refused"),
    "a key of the circumstance": ("run", circumstance("audited", "by NIST"), "stated"),
    "anonymous as a word": ("run", content("anonymous", "yes"), "different"),
    "an open run as an anonymous one": ("run", not_hidden, "different"),
    "another kind of score": ("run", content("score", "PLDA"), "different"),
    "a score that is empty": ("run", content("score", ""), "different"),
    "who decided the crop": ("run", content("preparation/decided_by/crop", "model"), "stated"),
    "who decided, of words": ("run", content("preparation/decided_by/NIST", "certified"), "stated"),
    "a note more": ("run", added("notes", "Checked by NIST."), "stated"),
    "a warning more": ("run", content("warnings", ["None at all."]), "stated"),
    "notes that are a text": ("run", content("notes", "none"), "different"),
    "blemishes": ("run", content("blemishes", [{"kind": "x", "count": 1}]), "different"),
    "an output more": ("run", content("outputs/audit.pdf", "0" * 64), "different"),
    "an exclusion that was not made": ("run", more_inputs, "different"),
    "images of another hash": ("run", content("images_sha256", "0" * 64), "different"),
    "another hash of images in embeddings": (
        "run", of_model("images_sha256", "0" * 64), "different"
    ),
    "another version in embeddings": ("run", of_model("facebench", "9.9"), "stated"),
    "another compiler in embeddings": ("run", of_model("compiler", "certified"), "stated"),
    "a kept opencv version": ("run", prepared("opencv", "9.9"), "different"),
    "opencv in run.json alone": ("run", content("preparation/opencv", "9.9"), "different"),
    "opencv of an aligned run": ("aligned", prepared("opencv", "9.9"), "different"),
    "warp of an aligned run": ("aligned", prepared("crop/warp", "exact"), "different"),
    "no warp of an aligned run": ("aligned", prepared("crop/warp", KeyError), "same"),
    "warp where nothing is aligned": ("run", prepared("crop/warp", "opencv4"), "different"),
    "thresholds of the detector": (
        "aligned", prepared("detector/options/thresholds", [0.1, 0.1, 0.1]), "different"
    ),
    "weights of the detector": (
        "aligned", prepared("detector/weights_sha256", "0" * 64), "different"
    ),
    "faces outside of the image": (
        "aligned", prepared("outside", {"boxes": 1, "landmarks": 0, "names": ["x"]}), "different"
    ),
    "turned images": (
        "aligned", prepared("exif_tagged", {"images": 9, "decoded": 80}), "different"
    ),
    # Numbers.
    "narrow interval of one metric": ("run", metric("auc", interval=[0.5, 0.51]), "different"),
    "no interval": ("run", metric("auc", interval=None, no_interval="few"), "different"),
    "another level": ("run", metric("accuracy", level=0.99), "different"),
    "another method": ("run", metric("auc", method="wilson"), "different"),
    "folds renumbered": ("run", fold_table, "different"),
    "thresholds of the folds": ("run", thresholds, "different"),
    "a band without width": ("run", band, "different"),
    "drawn scores": ("run", drawn_scores, "different"),
    "a text for a number": ("run", metric("auc", written="99.99 %"), "different"),
    "a quantity": ("run", metric("auc", quantity="accuracy"), "different"),
    "is_rate": ("run", metric("auc", is_rate=False), "different"),
    "a blank behind the metrics": ("run", spaces("metrics.json"), "different"),
    # Tracks.
    "tracks swapped": ("groups", tracks_swapped, "different"),
    "tracks in another order": ("groups", track_names, "different"),
    "the worst track left out": ("groups", track_gone, "different"),
    "a count of a track": ("groups", content("tracks/Asian/identities", 1000), "different"),
    # HDF5.
    "a data set more in scores.h5": (
        "run", extra("scores.h5", "certificate", np.ones(3)), "different"
    ),
    "a score of samples": ("run", extra("scores.h5", "sample/score", np.ones(80)), "different"),
    "a track that is not listed": (
        "run", extra("scores.h5", "tracks/view1/score", np.ones(80)), "different"
    ),
    "an attribute": ("run", attribute("scores.h5"), "same"),
    "a data set more in pack.h5": ("run", extra("pack.h5", "certificate", np.ones(3)), "different"),
    "a data set more in embeddings.h5": (
        "run", extra("embeddings.h5", "quality", np.ones(80, "f4")), "different"
    ),
    "a key in the manifest of scores.h5": (
        "run", lambda f: f.manifest("scores.h5", at("certified", "NIST")), "different"
    ),
    "a key in the manifest of pack.h5": (
        "run", lambda f: f.manifest("pack.h5", at("certified", "NIST")), "different"
    ),
    "the counts in pack.h5": (
        "run", lambda f: f.manifest("pack.h5", at("counts/ok", 13233)), "different"
    ),
    "the data set of pack.h5": (
        "run", lambda f: f.manifest("pack.h5", at("dataset/name", "megaface")), "different"
    ),
    "options in the manifest of scores.h5": (
        "run", lambda f: f.manifest("scores.h5", at("options/seed", 7)), "different"
    ),
    "embeddings in another file": ("run", external, "different"),
    # Names.
    "a person with a Cyrillic letter": ("run", unicode_person, "different"),
    "names in another form": ("run", composed, "different"),
    # Pages.
    "a page of another run": ("run", of_another_run("report.html"), "different"),
    "a planted row": ("run", planted, "different"),
    "a script in the page": (
        "run", in_the_page("</body>", "<script>1</script></body>"), "different"
    ),
    "a blank in the page": ("run", in_the_page("</html>", "</html> "), "different"),
    "a page of a comparison": ("run", compared_page, "unchecked"),
    # Without names.
    "hashed names of others": ("hidden", hidden_names(shifted), "different"),
    "hashed names that are words": (
        "hidden", hidden_names(lambda v: [b"x%d" % k for k in range(len(v))]), "different"
    ),
    "ideal rows below hashed names": ("hidden", hidden_better, "different"),
    "not anonymous any more": ("hidden", content("anonymous", KeyError), "different"),
    "a host in an anonymous run": ("hidden", circumstance("host", "nist.gov"), "unchecked"),
}  # fmt: skip


def forge(made, folder, name) -> Forger:
    which, forgery, _ = FURTHER[name]
    forger = Forger(made, folder, which)
    forgery(forger)
    forger.seal()
    getattr(forger, "after", lambda: None)()
    return forger
