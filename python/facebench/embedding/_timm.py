"""Networks of the package timm, by their names in its list: ``timm:vit_small_patch16_224``."""

from facebench._library import full
from facebench.core._arguments import brief, did_you_mean
from facebench.embedding._file_heads import TIMM


def _package():
    try:
        import timm
    except ImportError:
        raise ImportError(
            "networks timm:NAME are made by the package timm: pip install 'facebench[timm]'"
        ) from None
    return timm


def version() -> str:
    """Of the installed package, for manifests."""
    return _package().__version__


def configuration(network: str):
    """What timm says of a network: its ``pretrained_cfg``. ValueError for a name that timm does not
    have. Nothing is built."""
    timm, name = _package(), network.removeprefix(TIMM)
    known = timm.list_models()
    if name not in known:
        raise ValueError(
            f"timm {timm.__version__} has no model '{brief(name)}'{did_you_mean(name, known)}; its "
            "names: timm.list_models()"
        )
    return timm.get_pretrained_cfg(name)


def make(network: str, options: "full.NetworkOptions"):
    """The module, its first weights drawn from torch's generator; none are downloaded. It ends with
    its pooled features, or a linear layer to ``options.embedding`` numbers. Networks that are made
    for one size of image are made for ``options.height`` x ``options.width``."""
    said = configuration(network)
    size = (options.height, options.width)
    # What takes any size knows no img_size.
    sized = {"img_size": size} if said.fixed_input_size and None not in size else {}
    return _package().create_model(
        network.removeprefix(TIMM),
        pretrained=False,
        num_classes=options.embedding or 0,
        in_chans=options.channels,
        **sized,
    )
