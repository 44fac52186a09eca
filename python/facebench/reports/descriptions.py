"""How a training set's description is drawn."""

from facebench.datasets._description import SHARES, Description
from facebench.reports.drawn import draws
from facebench.reports.page import Section, bullets, table_block, text


@draws
def draw_description(found: Description):
    title = f"What {found.name} is like"
    sections = [Section(title, [*_breadth(found)], level=1)]
    sections.append(Section("Pictures", [*_pictures(found)]))
    if found.labels is not None:
        sections.append(Section("Labels", [*_labels(found)]))
    return title, sections


def _breadth(found):
    depth = found.depth
    rows = [
        [
            found.name,
            f"{found.people:,}",
            f"{found.images:,}",
            f"{depth['mean']:.1f}",
        ]
    ]
    rows += [[f"{p['name']} (printed)", *p["cells"]] for p in found.printed]
    yield table_block(["set", "people", "images", "images a person"], rows)
    if found.printed:
        yield text(
            "Printed: table 16 of Wang & Guo 2019, training sets without the people of the "
            "test sets."
        )
    quantiles = depth["quantiles"]
    yield table_block(
        ["images a person", *(f"{100 * float(share):g} %" for share in quantiles)],
        [["at most", *quantiles.values()]],
    )
    yield text(
        f"{depth['single']:,} people have one image; the tenth of people with the most have "
        f"{100 * depth['top_tenth']:.1f} % of the images."
    )
    if found.left_out:
        left_out = ", ".join(f"{count:,} {status}" for status, count in found.left_out.items())
        yield text(f"Not trained on: {left_out}.")


def _pictures(found):
    sizes = found.sizes
    yield text(
        f"Of {found.looked:,} pictures, spread evenly: {100 * found.grey:.1f} % without colour; "
        f"width {_three(sizes['width'])}, height {_three(sizes['height'])} (least, median, "
        "most)."
    )
    if found.measures:
        columns = ["measure", "images", *(f"{100 * share:g} %" for share in SHARES)]
        yield table_block(
            columns,
            [[m["name"], m["images"], *m["quantiles"].values()] for m in found.measures],
        )


def _labels(found):
    labels = found.labels
    columns = ["cosine of an image to", "images", *(f"{100 * share:g} %" for share in SHARES)]
    yield table_block(
        columns,
        [
            [what, labels["images"], *labels[key].values()]
            for what, key in (
                ("the mean of its person's others", "within"),
                ("the most alike mean of another person", "between"),
            )
        ],
    )
    yield text(
        f"{100 * labels['nearer_to_another']:.2f} % of {labels['images']:,} images are nearer "
        "to the mean of another person than to that of their own: wrong labels, people who are "
        "in the set twice, and images that the model does not recognise."
    )
    if labels["doubtful_images"]:
        yield text("The most doubtful labels:")
        yield bullets(
            f"{d['image']}: {d['own']:.3f} to its own, {d['other']:.3f} to {d['person']}"
            for d in labels["doubtful_images"]
        )
    if labels["alike_people"]:
        yield text("The people who are most alike, perhaps one under two names:")
        yield bullets(
            f"{' and '.join(a['people'])}: {a['cosine']:.3f}" for a in labels["alike_people"]
        )


def _three(numbers):
    return " / ".join(f"{n:g}" for n in numbers)
