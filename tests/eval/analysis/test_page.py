"""Sections of a page, also as Markdown."""

from facebench import reports


def test_sections_are_markdown_too():
    from facebench.reports.page import Code, Section, Strong, bullets, heading, plots, text

    section = Section(
        "A *b*",
        [
            text("One ", Strong("2 <b>"), "\n", Code("c `d`")),
            plots(("<svg/>", "only on pages")),
            bullets(["x", ("y ", Strong("z"))]),
            heading("More"),
        ],
    )
    said = [r"## A \*b\*", "", r"One **2 \<b\>**", "`` c `d` ``", "", "- x", "- y **z**", "",
            "### More", ""]  # fmt: skip
    assert reports.report_markdown([section]) == "\n".join(said)
    page = reports.report_html("T", [section])
    assert "<p>One <strong>2 &lt;b&gt;</strong><br><code>c `d`</code></p>" in page
    assert "<li>y <strong>z</strong></li>" in page and "only on pages" in page
