"""How a fusion is drawn."""

from facebench.analysis.fusion import FusionReport
from facebench.reports.drawn import draws
from facebench.reports.page import Section, bounds, table_block, text


@draws
def draw_fusion_report(report: FusionReport):
    title = f"{len(report.systems)} systems of {report.protocol} as one"
    costs = [["fusion", f"{report.cllr:.4g}", f"{report.min_cllr:.4g}"]]
    costs += [[s["name"], f"{s['cllr']:.4g}", f"{s['min_cllr']:.4g}"] for s in report.systems]
    gains = [
        [
            f"fusion less {system['name']}",
            name,
            f"{less['value']:.4g}",
            bounds(less["interval"]) if less["interval"] else less["no_interval"],
            "" if less["p"] is None else f"{less['p']:.3g}",
        ]
        for system in report.systems
        for name, less in system["less"].items()
    ]
    weights = [
        [name, *(f"{fit['weight'][k]:.4g}" for fit in report.fusions)]
        for k, name in enumerate(report.inputs)
    ]
    folds = [f"fold {k + 1}" for k in range(len(report.fusions))]
    trained = {
        "other folds": "Each fold is fused by what was fitted to the others, without its people.",
        "runs": "Fitted to runs of the same systems on another list.",
    }
    blocks = [
        text(trained[report.trained_on]),
        table_block(["", "Cllr, bits", "min Cllr, bits"], costs),
        text("Systems alone are calibrated on the same comparisons as the fusion."),
        table_block(["difference", "number", "value", "interval", "p"], gains),
        text("Both are measured on the same draws of people."),
        table_block(["weight of", *(folds if len(folds) > 1 else [""])], weights),
        text("Weights are of inputs with mean 0 and standard deviation 1."),
    ]
    return title, [Section(title, blocks)]
