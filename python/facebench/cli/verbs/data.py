"""``facebench data``: make and check data sets."""

import json as json_module
from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import argument, fields, flag, keywords, option
from facebench.cli.verb import Answer, verb


def _lists_like(like, scale, dim, seed, out, threads):
    protocols = facebench.protocols
    written = protocols.write_synthetic_ijb(
        protocols.SyntheticIjbOptions(like=like, scale=scale, dim=dim, seed=seed),
        common.out_path(out, "data-synth", like),
        threads,
    )
    text = (
        f"{written['folder']}: lists like {like}, {written['templates']} templates of "
        f"{written['faces']} faces, {written['comparisons']} comparisons"
    )
    return Answer(written, text + (", embeddings.h5" if dim else ""))


@verb(
    "facebench data synth --people 40 --images 4 --sheet sheet.png",
    lambda: fields(
        facebench.datasets.SyntheticOptions,
        *("people", "first_person", "images", "size", "spread", "protocol", "seed"),
        defaults={"people": 40, "images": 4},
    ),
)
def synth(
    sheet: option("Also write a contact sheet (PNG, JPEG).", Path) = None,
    like: option("ijbb or ijbc: only lists of that structure, without images.") = None,
    scale: option("With --like: of templates and faces, up to 1.", float) = 1,
    dim: option("With --like: numbers of embeddings made too; 0 = none.", int) = 0,
    setting: common.setting("NAME=VALUE of another option.") = None,
    out: common.Out = None,
    threads: common.Threads = 0,
    **options,
):
    """Make a data set of synthetic faces. In the official format of a protocol."""
    if like is not None:
        return _lists_like(like, scale, dim, options.get("seed") or 0, out, threads)
    datasets = facebench.datasets
    faces = datasets.SyntheticOptions(**options, **common.parse_assignments(setting))
    path = common.out_path(out, "data-synth", faces.protocol)
    summary = datasets.write_synthetic_dataset(faces, path, threads)
    text = f"{summary.folder}: {summary.images} images of {summary.people} people"
    if sheet is not None:
        rows = datasets.SheetOptions(
            people=min(faces.people, 12), spread=faces.spread, seed=faces.seed
        )
        facebench.images.write(sheet, datasets.render_sheet(rows, threads))
        text += f"\n{sheet}: contact sheet"
    fields = {
        "folder": str(summary.folder),
        **common.fields_of(summary, "people", "images", "tree_sha256"),
        "sheet": None if sheet is None else str(sheet),
    }
    return Answer(fields, text)


@verb(
    "facebench data check lfw --root LFW.",
    codes={common.EXIT_VERDICT: "incomplete, or with --strict a list has blemishes"},
)
def check(
    protocol: common.Protocol,
    root: common.Root,
    images: common.Images = None,
    lists: common.Lists = None,
    strict: flag("--strict", "Blemishes of the lists are a failure, too.") = False,
):
    """What is there for a protocol, and what is missing. Before anything is run; opens no image."""
    check = facebench.protocols.check_data(protocol, root, images, lists)
    good = check.complete and not (strict and check.blemishes)
    return Answer(check.to_dict(), str(check), 0 if good else common.EXIT_VERDICT)


@verb(
    "facebench data scan lfw --root LFW --protocol lfw.",
    codes={common.EXIT_VERDICT: "there are findings"},
)
def scan(
    dataset: common.DataSet,
    root: common.Root,
    protocol: option("Also check every name in this protocol's lists.") = None,
    lists: common.Lists = None,
    label: common.Label = "",
    split: common.Split = "",
    setting: common.setting("NAME=VALUE of a check, e.g. decode=false.") = None,
    threads: common.Threads = 0,
):
    """Open every image of a data set. Finds files missing, empty, unreadable or there twice."""
    datasets = facebench.datasets
    options = datasets.CheckOptions(**common.parse_assignments(setting))
    listed: list[str] = []
    if protocol:
        listed = list(facebench.protocols.read_trials(protocol, root, lists).names)
    images = datasets.read_dataset(dataset, root, label=label, split=split)
    report = datasets.check_dataset(images, listed, options, threads)
    findings = [common.fields_of(f, "kind", "id", "detail") for f in report.findings]
    lines = [f"{root}: {report.images} images of {report.people} people, {len(findings)} findings"]
    lines += [f"  {f['kind']}: {f['id']}: {f['detail']}" for f in findings]
    lines += common.data_set_lines(images)
    if report.tagged:
        lines.append(
            f"  warning: {report.tagged} of {report.images} images ask by their Exif tag to be "
            "turned: pack and run do so with --exif-orientation, train takes files as they lie"
        )
    fields = {
        **common.fields_of(report, "images", "people", "listed", "tagged"),
        "findings": findings,
        **common.fields_of(images, "unlabelled", "passed_over", "notes"),
    }
    return Answer(fields, "\n".join(lines), common.EXIT_VERDICT if findings else 0)


@verb(
    "facebench data convert train.rec --out shards-{000..}.tar",
    lambda: fields(facebench.datasets.ConvertOptions),
)
def convert(
    source: argument("A .rec, .bin or .tar, a folder of them, or a folder of people.", Path),
    out: option("x.rec, x.bin, x.tar, shards-{000..}.tar, or x.h5 (a pack, nothing cut).", Path),
    skip_damaged: common.SkipDamaged = 0,
    label: common.Label = "",
    split: common.Split = "",
    threads: common.Threads = 0,
    **options,
):
    """Pass a data set on in another format. Image files unchanged, read back and compared."""
    datasets = facebench.datasets
    images = (
        datasets.read_dataset("folder", source, label=label, split=split)
        if datasets.find_image_archive(source) is None and source.is_dir()
        else datasets.read_archive(source, skip_damaged, label=label, split=split)
    )
    settings = datasets.ConvertOptions(**options)
    done = datasets.convert_dataset(images, out, settings, threads)
    names = ["tree_sha256"] if done.tree_sha256 else ["source_sha256", "written_sha256"]
    hashes = common.fields_of(done, *names)
    lines = [
        f"{done.files[0]}: {done.images} images of {done.people} people, {len(done.files)} files",
        f"  read:    {len(images)} images, {hashes[names[0]]}",
        f"  written: {done.images} images, {hashes[names[-1]]}",
        *(f"  {note}" for note in done.notes),
        *(f"  left out: {sentence}" for sentence in images.damaged),
        *common.data_set_lines(images),
    ]
    fields = {
        "files": [str(file) for file in done.files],
        **common.fields_of(done, "images", "people", *names),
        "notes": [*images.notes, *done.notes],
        **common.fields_of(images, "damaged", "passed_over"),
    }
    return Answer(fields, "\n".join(lines))


@verb(
    "facebench data describe webface.h5 --model m.safetensors",
    lambda: keywords(
        facebench.datasets.describe,
        embeddings=option("Embeddings of the images: how sure the labels are.", Path),
        csv=option("A table of numbers of the images, such as age or yaw.", Path),
        column=option("With --csv: those of its columns.", list[str]),
        key=option("With --csv: the column that names images. Default: the first."),
        limit=option("Pictures looked at, and images compared with people.", int, min=1),
        threads=common.Threads,
    ),
)
def describe(
    source: argument("A pack, a folder of people, or an archive.", Path),
    model: option(
        "In place of embeddings, of a pack: the model that makes them.", metavar="MODEL"
    ) = None,
    out: option("Also write a page.", Path, metavar="FILE.html") = None,
    **options,
):
    """What a training set is like: people, pictures, labels. Beside those of Wang & Guo."""
    if model is not None:
        if options["embeddings"] is not None:
            raise ValueError("--embeddings, or --model, which makes them: one of them")
        pack = facebench.datasets.Pack(source)
        options["embeddings"] = facebench.embedding.extract(model, pack, threads=options["threads"])
    beside = facebench.claims.training_sets()
    return facebench.datasets.describe(source, printed=beside, **options).with_page(out)


@verb(
    "facebench data overlap webface.h5 lfw.h5",
    lambda: [
        *keywords(
            facebench.datasets.find_overlap,
            train_embeddings=option("Of a pack or folder.", Path),
            test_embeddings=option("Of a pack or folder, same model.", Path),
            train_names=option("Table of names (identifier, name), for identifiers.", Path),
            test_names=option("The same of the test set.", Path),
            threads=common.Threads,
        ),
        *fields(facebench.datasets.OverlapOptions, "threshold", "false_alarms"),
    ],
)
def overlap(
    train: argument("The training set: a pack, a folder of people, or embeddings.", Path),
    test: argument("The test set: one of the same.", Path),
    audit: option(
        "Write who would be dropped and why (.csv, .json, .html: pictures).", Path
    ) = None,
    out: option("Write the list for --exclude of pack.", Path) = None,
    threads: common.Threads = 0,
    **options,
):
    """People whom a training set shares with a test set. By name and by similarity."""
    datasets = facebench.datasets
    forms = {
        ".csv": lambda overlap: overlap.csv,
        ".json": lambda overlap: json_module.dumps(overlap.to_dict(), indent=2, ensure_ascii=False),
        ".html": lambda overlap: datasets.audit_sheet(overlap, train, test),
    }
    if audit is not None and audit.suffix.lower() not in forms:
        raise ValueError(f"--audit {audit}: its name must end in .csv, .json or .html")
    overlap = datasets.find_overlap(train, test, **options)
    if audit is not None:
        facebench.reports.write_text(audit, forms[audit.suffix.lower()](overlap))
    if out is not None:
        facebench.reports.write_text(out, overlap.exclusion)
    return overlap


@verb("facebench data keep LFW/protocol/peopleDevTrain.txt --root LFW --dataset lfw --least 3")
def keep(
    people: argument("Who stays: one person a line, or LFW's peopleDevTrain.txt.", Path),
    root: common.Root,
    dataset: option("See: facebench list datasets.") = "folder",
    least: option("Only people with so many images or more.", int, min=1) = 1,
    out: option("The list; default: runs/data-keep-NAME-N.", Path, metavar="FILE") = None,
):
    """Keep to people of a list. Writes the list of all others, for --exclude."""
    text, kept, images = facebench.datasets.keep(people, root, dataset, least=least)
    path = common.out_path(out, "data-keep", people.stem, suffix=".txt")
    facebench.reports.write_text(path, text)
    fields = {"path": str(path), "people": kept, "images": images}
    return Answer(fields, f"{path}: for --exclude; {kept} people with {images} images stay")


@verb("facebench data croissant faces.h5 --license 'research only' --out published")
def croissant(
    pack: argument("A pack.", Path),
    name: option("The data set's name. Default: the pack's.") = None,
    description: option(
        "What it is. Default: the pack's data set, crop and numbers.", metavar="TEXT"
    ) = None,
    url: option("The data set's site.", metavar="URL") = None,
    license: option(
        "The licence of the photographs, as their authors state it.", metavar="TEXT"
    ) = None,
    out: common.Out = None,
):
    """Describe a pack in Croissant's format. Writes croissant.json and faces.csv."""
    folder = common.out_path(out, "data-croissant", pack.stem)
    path = facebench.datasets.write_croissant(
        pack, folder, name=name, description=description, url=url, license=license
    )
    return Answer({"path": str(path)}, f"{path}: metadata; publish {pack.name} beside it")


def number_ranges(numbers) -> str:
    """Numbers that ascend as Slurm's --array takes them.

    >>> number_ranges([1, 2, 3, 7, 9, 10])
    '1-3,7,9-10'
    """
    ends: list[list[int]] = []
    for number in numbers:
        if ends and number == ends[-1][1] + 1:
            ends[-1][1] = number
        else:
            ends.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in ends)


@verb("facebench data merge part-1-of-2.h5 part-2-of-2.h5 --out lfw-m.h5")
def merge(
    shards: argument("The files of all shards, in any order.", list[Path]),
    missing: flag("--missing", "Say which are still to be made, and join nothing.") = False,
    out: common.Out = None,
):
    """Join what embed --shard wrote, or pack --shard. The same bytes as of one process."""
    from facebench.datasets._remote import one_by_one  # needs torch

    if missing:
        left, count = facebench.io.missing_shards(shards)
        text = f"{len(left)} of {count} shards are still to be made: {number_ranges(left)}"
        if not left:
            text = f"all {count} shards are there"
        return Answer({"missing": left, "count": count}, text)
    path = common.out_path(out, "data-merge", suffix=".h5")
    shards = one_by_one(shards)
    if facebench.pipeline.is_pack(shards[0]):
        images = facebench.pipeline.merge_packs(shards, path).images
        text = f"{path}: {images} images out of {len(shards)} shards"
        return Answer({"path": str(path), "images": images}, text)
    rows, dim = facebench.embedding.merge_shard_files(shards, path)
    text = f"{path}: {rows} rows of {dim} numbers out of {len(shards)} shards"
    return Answer({"path": str(path), "rows": rows, "dim": dim}, text)
