#!/usr/bin/env python3
"""Writes the tables of docs/networks.md out of the library's table of networks. With --check it
writes nothing and fails where the page is old.

Needs the full package: `PYTHONPATH=build/python python scripts/network_page.py`.
"""

import generated_page
from facebench import nn
from generated_page import table

PAGE = generated_page.ROOT / "docs/networks.md"
CLASSES = 10575

# Wang & Guo 2019, table 2: what is printed there (millions), and the network, options and counting
# rule that give it.
PUBLISHED = [
    ("AlexNet-v1, Caffe", "100.17", "alexnet_v1", {}, "caffe_first_blob"),
    ("AlexNet-v2, PyTorch", "100.33", "alexnet_v2", {}, "parameters"),
    ("AlexNet-v2, TensorFlow", "89.53", "alexnet_v2_slim", {}, "parameters"),
    ("VGG-16, Caffe", "177.56", "vgg16", {}, "caffe_first_blob"),
    ("VGG-16, TensorFlow and PyTorch", "177.59", "vgg16", {}, "parameters"),
    ("VGG-16-BN, PyTorch", "177.59", "vgg16_bn", {}, "parameters"),
    ("GoogLeNet, Caffe", "42.78", "googlenet_bvlc", {}, "caffe_first_blob"),
    ("GoogLeNet, TensorFlow", "16.43", "googlenet_slim", {}, "parameters"),
    ("Inception-v3, Caffe", "43.43", "inception_v3", {}, "caffe_first_blob"),
    ("Inception-v3, PyTorch", "43.45", "inception_v3", {}, "parameters"),
    ("Inception-v3, TensorFlow", "54.13", "inception_v3_slim", {}, "parameters"),
    ("ResNet-50, Caffe", "45.16", "resnet50_v1", {}, "caffe_first_blob"),
    ("ResNet-50, TensorFlow", "45.18", "resnet50_slim", {}, "parameters"),
    ("ResNet-50, PyTorch", "45.18", "resnet50", {}, "parameters"),
    ("DenseNet-121, Caffe", "17.78", "densenet121", {}, "caffe_first_blob"),
    ("DenseNet-121, PyTorch", "17.79", "densenet121", {}, "parameters"),
    ("LightCNN-29", "8.19", "lightcnn9", {}, "caffe_first_blob"),
    ("Center loss", "32.95", "centerloss", {}, "caffe_first_blob"),
    ("SphereFace", "68.45", "sphereface20", {"height": 224, "width": 224}, "caffe_first_blob"),
]


def count(number):
    return f"{number:,}"


def networks():
    rows = []
    for entry in nn.list_networks():
        options = entry["options"]
        graph = nn.build_graph(entry["name"], classes=CLASSES)
        rows.append(
            [
                f"`{entry['name']}`",
                entry["doc"],
                count(graph.count_parameters()),
                count(graph.count_parameters("caffe_first_blob")),
                count(graph.count_macs()),
                f"{graph.training_activation_bytes() / 2**20:.1f}",
                f"{options.words} words"
                if graph.vocabulary
                else f"{options.height} x {options.width}",
                options.embedding,
                entry["source"],
            ]
        )
    heads = [
        "name",
        "what",
        "parameters",
        "first blobs",
        "MAC",
        "MiB kept",
        "input",
        "embedding",
        "source",
    ]
    return table(heads, rows)


def published():
    rows = []
    for title, printed, name, options, rule in PUBLISHED:
        number = nn.build_graph(name, classes=CLASSES, **options).count_parameters(rule)
        given = ", ".join(f"{k}={v}" for k, v in options.items())
        rows.append(
            [
                title,
                printed,
                f"`{name}`" + (f" ({given})" if given else ""),
                f"`{rule}`",
                count(number),
            ]
        )
    return table(["row of table 2", "printed, M", "network here", "rule", "count"], rows)


def generated():
    """The page with both tables made anew."""
    return generated_page.page_with(PAGE, {"networks": networks(), "published": published()})


if __name__ == "__main__":
    generated_page.main(__doc__, generated)
