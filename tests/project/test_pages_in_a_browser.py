"""Pages as people see them: opened in a real browser, pointed at, walked through by keyboard."""

import re

import facebench
import numpy as np
import pytest
from browser import Browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shown")
    lines = ["2\t60"]
    for fold in range(2):
        lines += [f"P{fold}{k:02}\t1\t2" for k in range(60)]
        lines += [f"P{fold}{k:02}\t1\tP{fold}{(k + 1) % 60:02}\t1" for k in range(60)]
    (folder / "pairs.txt").write_text("\n".join(lines) + "\n")
    labels = np.tile(np.repeat([1, 0], 60), 2)
    noise = np.random.default_rng(2).normal(size=240)
    for name, shift in (("good", 4), ("weak", 1)):
        facebench.evaluate("lfw", scores=shift * labels + noise, root=folder,
                           replicates=100, out=folder / name)  # fmt: skip
    return [folder / "good", folder / "weak"]


@pytest.fixture(scope="module")
def page(runs, tmp_path_factory):
    return facebench.report(runs, format="html", out=tmp_path_factory.mktemp("page") / "p.html")


def sound(browser):
    """Whether a page has asked nobody for anything, and no script has failed."""
    assert browser.asked() == []
    assert browser.complaints() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_a_page_fits_its_window(browser, page, runs, width, scheme):
    for one in (page, runs[0] / "report.html"):
        browser.open(one, width, scheme)
        wide = browser.run("return document.documentElement.scrollWidth")
        assert wide <= width
        # Text against what it stands on, as WCAG 2 measures contrast: 4.5 is asked for.
        colours = browser.run(
            "const s = getComputedStyle(document.body), q = getComputedStyle("
            "document.querySelector('.quiet')); return [s.backgroundColor, s.color, q.color]"
        )
        page_colour, *texts = (
            [int(v) for v in re.findall(r"\d+", colour)[:3]] for colour in colours
        )
        for text in texts:
            light = [_luminance(page_colour), _luminance(text)]
            assert (max(light) + 0.05) / (min(light) + 0.05) >= 4.5
    sound(browser)


def _luminance(colour):
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4
              for v in (c / 255 for c in colour)]  # fmt: skip
    return sum(w * v for w, v in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def point_at(browser, x, y, which="svg.roc"):
    """Moves over a place of a picture, in its own units, and gives what is said."""
    return browser.run(
        "const svg = document.querySelector(arguments[2]), m = svg.getScreenCTM();"
        "const at = new DOMPoint(arguments[0], arguments[1]).matrixTransform(m);"
        "svg.dispatchEvent(new PointerEvent('pointermove', {clientX: at.x, clientY: at.y}));"
        "return svg.nextElementSibling.textContent", x, y, which)  # fmt: skip


def test_pointing_at_a_curve_gives_its_value(browser, page, runs):
    browser.open(page)
    far, tar = facebench.load(runs[1])["view2"].roc()
    for x in (150.0, 300.0, 450.0, 600.0):
        said = point_at(browser, x, 300)
        at = float(re.search(r"false accept rate ([\d.]+) %", said)[1]) / 100
        low = 1 / 120
        assert at == pytest.approx(low ** (1 - (x - 96) / (618 - 96)), rel=1e-3)
        value = float(re.search(r"weak ([\d.]+) %", said)[1]) / 100
        assert value == pytest.approx(max(t for f, t in zip(far, tar, strict=True) if f <= at),
                                      abs=2e-4)  # fmt: skip
    # On the axes of normal deviates as well.
    said = point_at(browser, 300, 200, "svg.det")
    at, value = (float(re.search(rf"{w} ([\d.]+) %", said)[1]) / 100
                 for w in ("false accept rate", "weak"))  # fmt: skip
    assert value == pytest.approx(
        1 - max(t for f, t in zip(far, tar, strict=True) if f <= at), abs=2e-4
    )
    sound(browser)


def test_the_numbers_of_the_table_are_said_at_their_marks(browser, page):
    browser.open(page)
    x, y, value = browser.run(
        "const c = document.querySelector('svg.roc circle[data-value]');"
        "return [+c.getAttribute('cx'), +c.getAttribute('cy'), c.dataset.value]"
    )
    assert point_at(browser, x + 1, y - 1) == value
    forest = browser.run("return document.querySelector('svg.differences circle').dataset.value")
    assert forest.startswith("accuracy: -")


def test_a_curve_is_walked_along_by_keyboard(browser, page):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser.open(page)
    svg = browser.driver.find_element(By.CSS_SELECTOR, "svg.roc")
    browser.run("arguments[0].focus()", svg)
    said = [browser.run("return arguments[0].nextElementSibling.textContent", svg)]
    for key in (Keys.ARROW_RIGHT, Keys.ARROW_LEFT):
        svg.send_keys(key)
        said.append(browser.run("return arguments[0].nextElementSibling.textContent", svg))
    assert "good" in said[0] and said[0] != said[1] and said[0] == said[2]
    sound(browser)


def test_the_script_is_small_and_the_page_says_the_same_without_it(page):
    text = page.read_text()
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert sum(map(len, scripts)) <= 25 << 10
    # How a number was made is on paper, too.
    assert re.search(r"Below each value its interval at 95 %, made by (<sup>a</sup> )?\w+", text)


@pytest.fixture(scope="module")
def inspected(tmp_path_factory):
    """The page of a run of drawn faces with its crops; the run, and the photographs' folder."""
    pytest.importorskip("facebench._full")
    from facebench import datasets

    folder = tmp_path_factory.mktemp("inspected")
    few = datasets.SyntheticOptions(people=60, images=2, size=48, pairs_per_fold=6)
    datasets.write_synthetic_dataset(few, folder / "faces")

    def colours(batch):
        return batch[:, ::16, ::16].reshape(len(batch), -1)

    facebench.run("lfw", model=colours, root=folder / "faces", detector="none", interval="none",
                  out=folder / "run")  # fmt: skip
    names = facebench.load(folder / "run")._raw.trials.names
    groups = "".join(f"{n},{'odd' if int(n[7:12]) % 2 else 'even'}\n" for n in names)
    (folder / "groups.csv").write_text("name,number\n" + groups)
    facebench.inspect(folder / "run", count=60, far=0.1, attributes=folder / "groups.csv",
                      out=folder / "page.html")  # fmt: skip
    return folder


SEEN = "return [...document.querySelectorAll('.pair:not([hidden])')].map(p => p.dataset.names)"


def change(browser, label, value):
    """Sets a field of the filters, by its label."""
    browser.run(
        "const label = [...document.querySelectorAll('.filters label')]"
        ".find(l => l.firstChild.textContent.trim() === arguments[0]);"
        "const field = label.querySelector('input, select'); field.value = arguments[1];"
        "field.dispatchEvent(new Event('input', {bubbles: true}))", label, value)  # fmt: skip
    return browser.run(SEEN)


def test_filters_hide_pairs_and_pages_hold_fifty(browser, inspected):
    browser.open(inspected / "page.html", 400)
    assert browser.run("return document.documentElement.scrollWidth") <= 400
    assert len(browser.run(SEEN)) == 50
    every = browser.run("return document.querySelectorAll('.pair').length")
    text = "return document.querySelector('.filters output').textContent"
    assert browser.run(text) == f"1–50 of {every}"
    browser.run("[...document.querySelectorAll('.filters button')].at(-1).click()")
    assert browser.run(text).startswith("51–")
    person = browser.run(SEEN)[0].split("/")[0]
    seen = change(browser, "person or file", person)
    assert 0 < len(seen) < 50 and all(person in names for names in seen)
    change(browser, "person or file", "")
    for names in change(browser, "group", "even"):
        assert any(int(n) % 2 == 0 for n in re.findall(r"Person_(\d+)/", names))
    change(browser, "group", "")
    scores = (
        "return [...document.querySelectorAll('.pair:not([hidden])')].map(p => +p.dataset.score)"
    )
    change(browser, "kind", "1")
    change(browser, "order", "down")
    found = browser.run(scores)
    assert found == sorted(found, reverse=True) and len(found) > 5
    change(browser, "score from", f"{found[2]}")
    assert len(browser.run(scores)) == sum(s >= found[2] for s in found)
    sound(browser)


def test_what_is_ticked_is_a_list_for_exclude(browser, inspected):
    from selenium.webdriver.common.by import By

    browser.open(inspected / "page.html")
    pair = browser.driver.find_element(By.CSS_SELECTOR, ".pair")
    sides = "return [...arguments[0].querySelectorAll('.side')].map(s => s.dataset.name)"
    names = browser.run(sides, pair)
    browser.run("arguments[0].focus()", pair)
    pair.send_keys("x")
    assert pair.find_element(By.CSS_SELECTOR, "input").is_selected()
    button = browser.driver.find_element(By.CSS_SELECTOR, "button[data-download]")
    assert button.text == "Save suspects.csv (2)"
    button.click()
    saved = browser.downloads / "suspects.csv"
    browser.until(saved.exists)
    assert saved.read_text().splitlines()[1:] == [f"sample\t{name}" for name in names]
    embeddings = inspected / "run/embeddings.h5"
    result = facebench.evaluate("lfw", embeddings, root=inspected / "faces", exclude=saved,
                                interval="none")  # fmt: skip
    before = facebench.load(inspected / "run")["view2"].comparisons
    assert result["view2"].comparisons < before
    sound(browser)


def test_a_pair_is_seen_large_with_its_photographs(browser, inspected):
    browser.open(inspected / "page.html")
    browser.run("document.querySelector('.pair img').click()")
    size = "const i = document.querySelector('dialog[open] img'); return i && i.naturalWidth"
    assert browser.waited(size) == 48  # the photograph's own, and not the crop's
    sound(browser)


def test_names_do_nothing_on_a_page(browser, runs, tmp_path):
    script = "<script>window.hacked=1</script>"
    evil = f""""><img src=x onerror=window.hacked=1>'</title></script>{script}"""
    title = facebench.report(runs, titles=[evil, "b"], format="html", out=tmp_path / "p.html")
    browser.open(title)
    assert "<script>window.hacked" in point_at(browser, 300, 300)
    point_at(browser, 300, 300, "svg.differences")
    assert browser.run("return window.hacked === undefined")
    assert browser.run("return document.querySelectorAll('img[src=x]').length") == 0
    sound(browser)


def test_a_served_folder_is_walked_through(browser, runs, page):
    from selenium.webdriver.common.by import By

    with facebench.serve(runs[0].parent) as server:
        browser.open(server.address, 400)
        assert browser.run("return document.documentElement.scrollWidth") <= 400
        names = "return [...document.querySelectorAll('tbody tr')].map(r => r.cells[0].textContent)"
        assert sorted(browser.run(names)) == ["good", "weak"]
        heads = browser.driver.find_elements(By.CSS_SELECTOR, "th button")
        next(h for h in heads if h.text == "%").click()
        assert browser.run(names) == ["good", "weak"]  # the highest first
        browser.driver.find_element(By.LINK_TEXT, "good").click()
        assert "LFW View 2" in browser.driver.title
        assert "good" in point_at(browser, 300, 200)
        asked = [url for url in browser.asked() if not url.startswith(server.address)]
        assert [url for url in asked if "favicon" not in url] == []
