"""``facebench pack``: detect, crop and store a data set in one file."""

import facebench
from facebench.cli import common
from facebench.cli.verb import Answer, verb


@verb(
    "facebench pack lfw --root LFW --out lfw.h5",
    lambda: common.request(facebench.pipeline.PackRequest),
)
def pack(
    dataset: common.DataSet,
    root: common.Root,
    strict: common.Strict = False,
    shard: common.Shard = "",
    shards: common.Shards = None,
    workers: common.Workers = "",
    device: common.Device = "cpu",
    out: common.Out = None,
    threads: common.Threads = 0,
    **options,
):
    """Detect, crop, store: one file, ready for training and embedding."""
    common.parse_request(options)
    name = common.shard_name(dataset, shard)
    summary = facebench.pack(
        dataset,
        root,
        common.out_path(out, "pack", name, ".h5"),
        shard=shard,
        workers=common.executor(workers),
        shards=shards,
        device=common.check_device(device),
        threads=threads,
        **options,
    )
    failures = [{"id": f.id, "status": str(f.status), "reason": f.reason} for f in summary.failures]
    fields = {
        "path": str(summary.path),
        **common.fields_of(summary, "images", "counts", "tree_sha256"),
        "failures": failures,
        "outside": common.fields_of(summary.outside, "boxes", "landmarks", "names"),
        "crop_sized": summary.crop_sized.images,
        "tagged": summary.tagged.images,
        "doubtful_landmarks": common.fields_of(summary.doubtful_landmarks, "causes", "names"),
        **common.fields_of(summary, "damaged", "passed_over", "notes"),
    }
    lines = [f"{summary.path}: {summary.images} images ({common.counts_text(summary.counts)})"]
    lines += [f"  {f['id']}: {f['status']}: {f['reason']}" for f in failures]
    lines += [f"  left out: {sentence}" for sentence in summary.damaged]
    lines += common.data_set_lines(summary)
    odd = (summary.outside, summary.crop_sized, summary.tagged, summary.doubtful_landmarks)
    lines += [one.warning for one in odd if one.warning]
    return Answer(fields, "\n".join(lines), common.EXIT_FAILED if strict and failures else 0)
