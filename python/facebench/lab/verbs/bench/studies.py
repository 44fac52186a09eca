"""``facebench bench factors`` and ``compare-datasets``: studies that are shorter to say than
to write down."""

from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import argument, flag, option
from facebench.cli.verb import verb
from facebench.lab.verbs.study import Jobs, answer, how

Tests = option("PROTOCOL=FOLDER of a data set to test on; none: drawn faces.", list[str], "--test")
Seeds = option("Trainings of each.", int, min=2)
Replicates = option("Of the protocols' intervals.", int, min=1)


def _out(kind):
    return option(f"The study's folder; default: studies/{kind}.", Path)


@verb("facebench bench factors resnet50.caffe resnet50.pytorch --seeds 5", several=("--test",))
def factors(
    recipes: argument("Two recipes; none: the small case.", list[str]) = None,
    data: option("Images to train on; none: drawn faces.", Path, "--pack") = None,
    test: Tests = None,
    setting: common.setting("KEY=VALUE that both recipes get.") = None,
    seeds: Seeds = 5,
    replicates: Replicates = 200,
    out: _out("factors") = Path("studies/factors"),
    jobs: Jobs = 1,
    threads: common.Threads = 1,
    device: common.Device = "cpu",
):
    """Why two recipes differ. One factor is exchanged at a time, with several seeds."""
    if recipes and len(recipes) != 2:
        raise ValueError("give two recipes, or none")
    tests = common.parse_assignments(test)
    ends = dict(zip(("before", "after"), recipes or [], strict=False))
    described = facebench.studies.factors_study(
        **ends,
        protocols=list(tests) or ["lfw"],
        settings=common.parse_assignments(setting),
        seeds=seeds,
        replicates=replicates,
    )
    return answer(
        facebench.study(
            described, train={"faces": data} if data else {}, test=tests, out=out,
            rehearse=not (data and tests), **how(jobs, threads, device),
        )
    )  # fmt: skip


@verb(
    "facebench bench compare-datasets --pack web=w.h5 --pack umd=u.h5 --test lfw=LFW",
    several=("--test",),
)
def compare_datasets(
    pack: option("NAME=FILE.h5, a set to train on; none: drawn ones.", list[str]) = None,
    test: Tests = None,
    recipe: option("None: a small one.") = None,
    setting: common.setting("KEY=VALUE of the recipe.") = None,
    keep_overlap: flag("--keep-overlap", "Train on people who are tested, too.") = False,
    exclude: option("NAME=FILE, a list of people and samples to leave out.", list[str]) = None,
    only: option("NAME=FILE, a list of people who alone stay.", list[str]) = None,
    names: option("NAME=FILE, names of the people of a set with identifiers.", list[str]) = None,
    train_embeddings: option("NAME=FILE.h5, of a set to train on.", list[str]) = None,
    test_embeddings: option("PROTOCOL=FILE.h5, by the same model.", list[str]) = None,
    seeds: Seeds = 3,
    replicates: Replicates = 200,
    out: _out("compare-datasets") = Path("studies/compare-datasets"),
    jobs: Jobs = 1,
    threads: common.Threads = 1,
    device: common.Device = "cpu",
):
    """Which training set is better. One recipe, several seeds, all protocols."""
    train, tests = ({k: {"root": v} for k, v in common.parse_assignments(texts).items()}
                    for texts in (pack, test))  # fmt: skip
    for sets, key, option_name, texts in (
        (train, "exclude", "--exclude", exclude),
        (train, "only", "--only", only),
        (train, "names", "--names", names),
        (train, "embeddings", "--train-embeddings", train_embeddings),
        (tests, "embeddings", "--test-embeddings", test_embeddings),
    ):
        for name, path in common.parse_assignments(texts).items():
            if name not in sets:
                raise ValueError(f"{option_name}: there is no '{name}' in this comparison")
            sets[name][key] = str(path)
    described = facebench.studies.datasets_study(
        list(train), list(tests), recipe=recipe, settings=common.parse_assignments(setting),
        seeds=seeds, remove_overlap=not keep_overlap, replicates=replicates,
    )  # fmt: skip
    return answer(
        facebench.study(
            described, train=train, test=tests, out=out, rehearse=not (train and tests),
            **how(jobs, threads, device),
        )
    )  # fmt: skip
