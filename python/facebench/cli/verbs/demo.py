"""``facebench demo``: the main job on synthetic faces."""

import facebench
from facebench.cli import common
from facebench.cli.verb import verb


@verb("facebench demo --out runs/demo")
def demo(
    setting: common.setting("NAME=VALUE of a demo option, e.g. train_people=50.") = None,
    out: common.Out = None,
    seed: common.Seed = 0,
    threads: common.Threads = 0,
):
    """The whole way on synthetic faces, in minutes. Detect, crop, train, embed, evaluate."""
    settings = common.parse_assignments(setting)
    return facebench.demo(
        common.out_path(out, "demo"),
        seed=seed,
        threads=threads,
        **settings,
    )
