// Values of plots where they are pointed at, touched, or walked along with the arrow keys.
for (const svg of document.querySelectorAll("svg.plot")) {
  const marks = [...svg.querySelectorAll("[data-value]")];
  const curves = [...svg.querySelectorAll("polyline[data-name]")];
  if (!svg.dataset.x) curves.length = 0;
  if (!marks.length && !curves.length) continue;
  const phi = z => {  // the normal distribution, by erfc to seven digits (Press et al., erfcc)
    const u = Math.abs(z) / Math.SQRT2, t = 1 / (1 + u / 2);
    const tail = t / 2 * Math.exp(-u * u + [.17087277, -.82215223, 1.48851587, -1.13520398,
      .27886807, -.18628806, .09678418, .37409196, 1.00002368, -1.26551223]
      .reduce((sum, c) => sum * t + c, 0));
    return z > 0 ? 1 - tail : tail;
  };
  const inverse = p => {
    let low = -9, high = 9;
    for (let k = 0; k < 60; k++) phi((low + high) / 2) < p ? low = (low + high) / 2 : high = (low + high) / 2;
    return (low + high) / 2;
  };
  const scales = {linear: [v => v, v => v], log: [Math.log, Math.exp], normal: [inverse, phi]};
  // A place in the picture as a value of an axis.
  const reader = text => {
    const [scale, ...rest] = text.split(" "), [low, high, first, last] = rest.map(Number);
    const [there, back] = scales[scale], a = there(low), b = there(high);
    return at => back(a + (b - a) * (at - first) / (last - first));
  };
  const shown = (value, unit) => unit === "%" ? `${+(100 * value).toPrecision(4)} %` : `${+value.toPrecision(4)}`;
  const parts = side => (svg.dataset[side] || "linear 0 1 0 1 ").split(" ");
  const x = reader(parts("x").join(" ")), y = reader(parts("y").join(" "));
  const units = {x: parts("x")[5], y: parts("y")[5]};
  const lines = curves.map(curve => ({
    name: curve.dataset.name,
    points: curve.getAttribute("points").trim().split(" ").map(p => p.split(",").map(Number)),
  })).filter(line => line.points.length && !isNaN(line.points[0][0]));
  const steps = svg.dataset.kind === "step";
  const place = (points, at) => {
    if (at < points[0][0] - .01 || at > points.at(-1)[0] + .01) return null;
    let k = 0;
    while (k + 1 < points.length && points[k + 1][0] <= at) k++;
    const [x0, y0] = points[k], next = points[k + 1];
    return steps || !next ? y0 : y0 + (next[1] - y0) * (at - x0) / (next[0] - x0);
  };
  const said = document.createElement("output");
  said.className = "reading";
  svg.after(said);
  const guide = document.createElementNS(svg.namespaceURI, "path");
  guide.setAttribute("class", "guide");
  svg.append(guide);
  const [first, last] = parts("x").slice(3, 5).map(Number);
  const read = at => {
    at = Math.min(Math.max(at, first), last);
    guide.setAttribute("d", `M${at} ${parts("y")[4]}V${parts("y")[3]}`);
    const values = lines.map(line => [line.name, place(line.points, at)]).filter(v => v[1] !== null);
    said.textContent = `${svg.dataset.xTitle} ${shown(x(at), units.x)}: ` + (values.length ? values
      .map(([name, v]) => (name ? `${name} ` : "") + shown(y(v), units.y)).join("; ") : "no value");
    svg.reading = at;
  };
  const show = (px, py) => {
    let best = null, least = 16;
    for (const mark of marks) {
      const box = mark.getBBox();
      const apart = Math.hypot(box.x + box.width / 2 - px, box.y + box.height / 2 - py);
      const inside = px >= box.x && px <= box.x + box.width && py >= box.y && py <= box.y + box.height;
      if (inside || apart < least) { best = mark; least = inside ? 0 : apart; }
    }
    if (best) { said.textContent = best.dataset.value; guide.removeAttribute("d"); }
    else if (lines.length) read(px);
  };
  const point = event => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    show(at.x, at.y);
  };
  svg.addEventListener("pointermove", point);
  svg.addEventListener("pointerdown", point);
  svg.tabIndex = 0;
  let chosen = -1;
  svg.addEventListener("keydown", event => {
    const by = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!by) return;
    event.preventDefault();
    if (lines.length) read((svg.reading ?? first) + by * (last - first) / 100);
    else {
      chosen = (chosen + by + marks.length) % marks.length;
      said.textContent = marks[chosen].dataset.value;
    }
  });
  svg.addEventListener("focus", () => {
    if (said.textContent) return;
    if (lines.length) read(svg.reading ?? (first + last) / 2);
    else { chosen = 0; said.textContent = marks[0].dataset.value; }
  });
}
