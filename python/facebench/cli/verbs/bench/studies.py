"""``facebench bench factors``, ``compare-datasets`` and ``sweep``: comparisons of many small
trainings."""

from importlib import import_module
from pathlib import Path

from facebench.cli import common
from facebench.cli.options import argument, flag, keywords, option
from facebench.cli.progress import make_progress
from facebench.cli.verbs.bench.common import bench

TestRoot = option("PROTOCOL=FOLDER of a data set to test on; none: synthetic.", list[str])
TestPack = option("PROTOCOL=FILE.h5, that data set's pack.", list[str])
COMMON = {
    "seeds": option("Trainings of each.", int, min=2),
    "replicates": option("Of the protocols' intervals.", int),
    "threads": common.Threads,
}


def studies():
    return import_module("facebench.studies")  # needs torch


def study_tests(roots: list[str] | None, packs: list[str] | None):
    """Tests out of PROTOCOL=ROOT and PROTOCOL=PACK; None where none are given."""
    from facebench.studies.cases import Test

    where, crops = common.parse_assignments(roots), common.parse_assignments(packs)
    if set(where) != set(crops):
        raise ValueError("--test-root and --test-pack name each test protocol once")
    return [Test(name, Path(where[name]), Path(crops[name])) for name in where] or None


@bench(
    "facebench bench factors resnet50.caffe resnet50.pytorch --seeds 5",
    lambda: keywords(
        studies().bench_factors,
        data=option("Images to train on; none: synthetic.", Path, "--pack"),
        **COMMON,
    ),
)
def factors(
    recipes: argument("Two recipes; none: the small case.", list[str]) = None,
    test_root: TestRoot = None,
    test_pack: TestPack = None,
    setting: common.setting("KEY=VALUE that both recipes get.") = None,
    **options,
):
    """Why two recipes differ. One factor is exchanged at a time, with several seeds."""
    if recipes and len(recipes) != 2:
        raise ValueError("give two recipes, or none")
    result = studies().bench_factors(
        *(recipes or [None, None]),
        tests=study_tests(test_root, test_pack),
        settings=common.parse_assignments(setting),
        progress=make_progress(),
        **options,
    )
    return result, ""


@bench(
    "facebench bench compare-datasets --pack web=w.h5 --pack umd=u.h5 --seeds 3",
    lambda: keywords(
        studies().bench_compare_datasets, recipe=option("None: a small one."), **COMMON
    ),
)
def compare_datasets(
    pack: option("NAME=FILE.h5, a set to train on; none: synthetic ones.", list[str]) = None,
    test_root: TestRoot = None,
    test_pack: TestPack = None,
    keep_overlap: flag("--keep-overlap", "Train on people who are tested, too.") = False,
    exclude: option("NAME=FILE, a list of people and samples to leave out.", list[str]) = None,
    names: option("NAME=FILE, names of the people of a set with identifiers.", list[str]) = None,
    train_embeddings: option("NAME=FILE.h5, of a set to train on.", list[str]) = None,
    test_embeddings: option("PROTOCOL=FILE.h5, by the same model.", list[str]) = None,
    audit: option("Folder for the lists of who was removed and why.", Path) = None,
    **options,
):
    """Which training set is better. One recipe, several seeds, all protocols."""
    packs = {name: Path(path) for name, path in common.parse_assignments(pack).items()}
    result = studies().bench_compare_datasets(
        packs or None,
        tests=study_tests(test_root, test_pack),
        remove_overlap=not keep_overlap,
        exclude=common.parse_assignments(exclude),
        names=common.parse_assignments(names),
        train_embeddings=common.parse_assignments(train_embeddings),
        test_embeddings=common.parse_assignments(test_embeddings),
        audit=audit,
        progress=make_progress(),
        **options,
    )
    return result, ""


@bench(
    "facebench bench sweep wu2018_table16 --root MNIST --seeds 3",
    lambda: keywords(
        studies().bench_sweep,
        root=option("Folder of MNIST or CIFAR-10; none: drawn images of that form.", Path),
        work=option("Folder of the trainings; those that are there are kept.", Path),
        seeds=option("Trainings of each point; none: as the study says.", int, min=1),
        train=option("Drawn images to train on.", int, min=100),
        test=option("Drawn images to test on.", int, min=10),
        jobs=option("Trainings at a time.", int, min=1),
    ),
)
def sweep(
    study: argument("A built-in study, or a .toml file."),
    setting: common.setting("KEY=VALUE of the recipe, for all points.") = None,
    **options,
):
    """What settings do to accuracy, time and memory. A study file names the points."""
    result = studies().bench_sweep(
        study, settings=common.parse_assignments(setting), progress=make_progress(), **options
    )
    return result, Path(study).stem
