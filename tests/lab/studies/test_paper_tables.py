"""Tables for papers: systems in rows, in Markdown that is aligned and LaTeX that compiles."""

import re
import shutil
import subprocess
from pathlib import Path

import facebench
import numpy as np
import pytest
from click.testing import CliRunner
from facebench import reports
from facebench.cli.app import app

METRICS = ["accuracy", "auc"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Three systems, from good to bad, under LFW."""
    folder = tmp_path_factory.mktemp("paper")
    lines = ["2\t15"]
    for fold in range(2):
        lines += [f"P{fold}_{i}\t1\t2" for i in range(15)]
        lines += [f"P{fold}_{i}\t1\tP{fold}_{(i + 1) % 15}\t1" for i in range(15)]
    (folder / "pairs.txt").write_text("\n".join(lines) + "\n")
    genuine = np.tile(np.repeat([1.0, 0.0], 15), 2)
    noise = np.random.default_rng(0).normal(size=60)
    for name, gap in (("a_1", 3.0), ("b", 1.5), ("c & d", 1.0)):
        scores = genuine * gap + noise
        facebench.evaluate("lfw", scores=scores, root=folder, out=folder / name, replicates=100)
    return [folder / name for name in ("a_1", "b", "c & d")]


def table(runs, **more):
    return facebench.report(runs, rows="systems", metrics=METRICS, replicates=100, **more)


def test_markdown_is_aligned_and_the_best_is_bold(runs):
    text = table(runs, digits=1, interval="pm")
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len({len(line) for line in lines}) == 1
    assert [line.split("|")[1].strip() for line in lines[2:]] == ["a_1", "b", "c & d"]
    assert re.findall(r"\*\*([\d.]+)\*\*", text) == re.findall(r"[\d.]+", lines[2])[1::2][:2]
    # The longer side of the interval of metrics.json, in percent.
    cell = reports.read_run(runs[1])["metrics"]["tracks"]["view2"]["metrics"]["auc"]
    low, high = cell["interval"]
    half = 100 * max(high - cell["value"], cell["value"] - low)
    assert f"{100 * cell['value']:.1f} ± {half:.1f}" in lines[3]
    assert text.count("the longer side of the 95 % interval") == 1


def test_a_matrix_is_a_column_for_each_entry(tmp_path):
    few = facebench.datasets.SyntheticOptions(protocol="vggface2", people=20, images=50, size=64)
    facebench.datasets.write_synthetic_dataset(few, tmp_path / "faces")
    colours = lambda batch: batch[:, ::16, ::16].reshape(len(batch), -1)  # noqa: E731
    facebench.run("vggface2_age", model=colours, root=tmp_path / "faces", detector="none",
                  crop_size=32, interval="none", out=tmp_path / "run")  # fmt: skip
    how = {"rows": "systems", "interval": "none"}
    text = facebench.report([tmp_path / "run"], metrics=["mean_similarity"], **how)
    numbers = [f"{float(n):.3f}" for n in re.findall(r"\| ([01]\.\d{3}) ", text)]
    cell = reports.read_run(tmp_path / "run")["metrics"]["tracks"]["age"]["metrics"]
    wanted = [v for row in cell["mean_similarity"]["value"] for v in row]
    assert numbers == [f"{v:.3f}" for v in wanted] and len(numbers) == 4
    one = facebench.report([tmp_path / "run"], metrics=["dprime[mature,young]"], **how)
    assert one.count("mature against young") == 1 and "young against mature" not in one


def test_differences_are_those_of_the_ranking(runs):
    text = table(runs, baseline="b", interval="none")
    found = []
    for run in (runs[0], runs[2]):
        ranking = reports.rank_runs([run, runs[1]], "view2", "auc", replicates=100)
        found.append((ranking["pairs"][0]["difference"], ranking["pairs"][0]["p_value"]))
    adjusted = reports.holm_adjusted([p for _, p in found])
    shown = re.findall(r"\(([+−])([\d.]+), p (?:= ([\d.]+)|< \.001)\)", text)[1::2]
    assert [s + v for s, v, _ in shown] == [
        f"{'+' if d > 0 else '−'}{100 * abs(d):.2f}" for d, _ in found
    ]
    assert [float(p or 0) for *_, p in shown] == pytest.approx(adjusted, abs=1e-3)


def test_a_mark_is_explained_once(runs):
    text = facebench.report(runs, rows="systems", metrics=["tar@far=0.01"])
    assert text.count("\\*") == 4
    assert text.count("Fewer than ten") == 1


def document(body):
    return (
        "\\documentclass[twocolumn]{article}\\usepackage{booktabs}\\begin{document}"
        "\\begin{table*}\n" + body + "\\end{table*}\\end{document}\n"
    )


def test_latex_has_one_cell_a_column(runs):
    text = table(runs, format="latex", interval="pm")
    (form,) = re.findall(r"\\begin\{tabular\}\{(\w+)\}", text)
    assert form == "lcc"
    body = text.split("\\midrule")[1].split("\\bottomrule")[0].strip()
    assert [len(re.split(r"(?<!\\)&", line)) for line in body.splitlines()] == [3, 3, 3]
    assert r"a\_1 & \textbf{" in body
    assert r"c \& d" in body
    assert text.count("{") == text.count("}")
    assert r"\cmidrule(lr){2-3}" in text


@pytest.fixture(scope="module")
def twenty_runs(runs, tmp_path_factory):
    """Four systems under five protocols: LFW's lists under five names."""
    folder = tmp_path_factory.mktemp("twenty")
    lfw = (Path(__file__).parents[3] / "protocols/lfw.toml").read_text()
    root, noise = runs[0].parent, np.random.default_rng(1).normal(size=60)
    genuine = np.tile(np.repeat([1.0, 0.0], 15), 2)
    made = []
    for name in ("LFW", "CALFW", "CPLFW", "AgeDB-30", "CFP-FP"):
        protocol = folder / f"{name}.toml"
        text = lfw.replace('id = "lfw"', f'id = "{name.lower()}"')
        protocol.write_text(text.replace('title = "LFW View 2"', f'title = "{name}"'))
        for gap in (3.0, 2.0, 1.5, 1.0):
            out = folder / f"{name}-{gap}"
            scores = genuine * gap + noise
            facebench.evaluate(protocol, scores=scores, root=root, out=out, replicates=100)
            made.append(out)
    return made, ["IResNet-100, ArcFace", "IResNet-50, CosFace", "MobileFaceNet", "LightCNN-29"] * 5


@pytest.mark.parametrize(
    "more", [{"interval": "pm"}, {"interval": "none", "baseline": "LightCNN-29"}]
)
def test_four_systems_over_five_protocols_fit_a_column_pair(twenty_runs, more, tmp_path):
    tex = shutil.which("pdflatex")
    if not tex or subprocess.run(["kpsewhich", "booktabs.sty"], capture_output=True).returncode:
        pytest.skip("needs pdflatex with booktabs")
    made, titles = twenty_runs
    how = {"rows": "systems", "metrics": ["accuracy"], "format": "latex", "digits": 2}
    body = facebench.report(made, titles=titles, replicates=100, **how, **more)
    (tmp_path / "t.tex").write_text(document(body))
    words = [tex, "-interaction=nonstopmode", "t.tex"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-500:]
    assert "Output written on t.pdf (1 page" in done.stdout
    assert "Overfull" not in done.stdout


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"interval": "box"}, "brackets, pm"),
        ({"baseline": "z"}, "not a title"),
        ({"metrics": ["auk"]}, "auk"),
        ({"format": "csv"}, "one of markdown, latex"),
    ],
)
def test_wrong_words_are_named(runs, more, message):
    with pytest.raises(ValueError, match=message):
        facebench.report(runs, rows="systems", **more)


def test_on_the_command_line(runs):
    def invoke(*words):
        return CliRunner().invoke(app, ["report", *map(str, runs), *words])

    done = invoke("--rows", "systems", "--metrics", "auc", "--digits", "1", "--interval", "none")
    assert done.exit_code == 0, done.output
    assert "| system | LFW View 2: AUC |" in done.stdout
    assert invoke("--digits", "1").exit_code == 2


def test_numbers_in_csv_have_fifteen_digits(runs):
    text = facebench.report(runs, format="csv")
    assert max(len(re.sub(r"\D", "", n).lstrip("0")) for n in re.findall(r"\d\.\d+", text)) <= 15
