// Pairs of photographs: filtered, sorted, in pages, marked with keys, and shown large.
for (const browser of document.querySelectorAll(".pairs")) {
  const PAGE = 50, kinds = [...browser.querySelectorAll(".kind")];
  const pairs = [...browser.querySelectorAll(".pair")].map((figure, place) => ({
    figure, place, home: figure.parentElement, kind: figure.closest(".kind").dataset.kind,
    score: +figure.dataset.score, text: figure.dataset.names.toLowerCase(),
    groups: (figure.dataset.groups || "").split("\t").filter(Boolean),
    quality: figure.dataset.quality === undefined ? NaN : +figure.dataset.quality,
  }));
  const bar = browser.querySelector(".filters"), fields = {};
  const field = (name, label, input) => {
    const words = document.createElement("label");
    words.append(`${label} `, input);
    bar.append(words);
    fields[name] = input;
    input.addEventListener("input", () => { first = 0; show(); });
  };
  const input = (type, size) => Object.assign(document.createElement("input"), {type, size, step: "any"});
  const select = options => {
    const list = document.createElement("select");
    list.append(...options.map(([value, text]) => new Option(text, value)));
    return list;
  };
  let first = 0;
  field("text", "person or file", input("search", 16));
  field("kind", "kind", select([["", "all"], ...kinds.map(k => [k.dataset.kind, k.dataset.title])]));
  const groups = [...new Set(pairs.flatMap(p => p.groups))].sort();
  if (groups.length) field("group", "group", select([["", "all"], ...groups.map(g => [g, g])]));
  field("low", "score from", input("number", 6));
  field("high", "to", input("number", 6));
  const measured = pairs.some(p => !isNaN(p.quality));
  if (measured) field("quality", "quality below", input("number", 6));
  field("sort", "order", select([["", "as listed"], ["up", "lowest score"], ["down", "highest score"],
    ...(measured ? [["quality", "lowest quality"]] : []), ["name", "name"]]));
  const pager = document.createElement("span"), said = document.createElement("output");
  const turn = (text, by) => {
    const button = Object.assign(document.createElement("button"), {type: "button", textContent: text});
    button.addEventListener("click", () => { first += by * PAGE; show(); browser.scrollIntoView(); });
    return button;
  };
  const before = turn("‹ back", -1), after = turn("next ›", 1);
  pager.append(before, " ", said, " ", after);
  bar.append(pager);
  const orders = {up: (a, b) => a.score - b.score, down: (a, b) => b.score - a.score,
    quality: (a, b) => (isNaN(a.quality) - isNaN(b.quality)) || a.quality - b.quality,
    name: (a, b) => a.text.localeCompare(b.text), "": (a, b) => a.place - b.place};
  const bound = (name, otherwise) => fields[name] && fields[name].value !== "" ? +fields[name].value : otherwise;
  function show() {
    const text = fields.text.value.toLowerCase(), kind = fields.kind.value;
    const group = fields.group ? fields.group.value : "", below = bound("quality", Infinity);
    const found = pairs.filter(p => p.text.includes(text) && (!kind || p.kind === kind)
      && (!group || p.groups.includes(group)) && p.score >= bound("low", -Infinity)
      && p.score <= bound("high", Infinity) && (below === Infinity || p.quality < below));
    found.sort(orders[fields.sort.value]);
    first = Math.max(0, Math.min(first, Math.floor((found.length - 1) / PAGE) * PAGE));
    const shown = new Set(found.slice(first, first + PAGE));
    for (const p of pairs) p.figure.hidden = !shown.has(p);
    for (const p of found) p.home.append(p.figure);  // in this order within each kind
    for (const k of kinds) k.hidden = !k.querySelector(".pair:not([hidden])");
    said.textContent = found.length ? `${first + 1}–${Math.min(first + PAGE, found.length)} of ${found.length}` : "none";
    before.disabled = first === 0;
    after.disabled = first + PAGE >= found.length;
  }
  show();
  // 1 and 2 mark the left and the right photograph, x both; arrows go to the next pair.
  browser.addEventListener("keydown", event => {
    const figure = event.target.closest(".pair");
    if (!figure || event.ctrlKey || event.metaKey || event.altKey) return;
    const boxes = [...figure.querySelectorAll("input[data-entry]")];
    const chosen = {1: boxes.slice(0, 1), 2: boxes.slice(1, 2), x: boxes}[event.key];
    const by = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (chosen) for (const box of chosen) box.click();
    else if (by) {
      const seen = [...browser.querySelectorAll(".pair:not([hidden])")];
      seen[(seen.indexOf(figure) + by + seen.length) % seen.length].focus();
    } else if (event.key === "z" || event.key === "Enter" && event.target === figure) enlarge(figure);
    else return;
    event.preventDefault();
  });
  const dialog = document.createElement("dialog");
  dialog.className = "large";
  dialog.addEventListener("click", () => dialog.close());
  browser.append(dialog);
  function enlarge(figure) {
    const sides = [...figure.querySelectorAll(".side")].map(side => {
      const crop = side.querySelector("img"), link = side.querySelector("a");
      const large = document.createElement("figure"), words = document.createElement("figcaption");
      const picture = document.createElement("img");
      picture.alt = words.textContent = side.dataset.name;
      picture.src = link ? link.href : crop ? crop.src : "";
      // A photograph that is not there any more: its crop.
      picture.onerror = () => { picture.onerror = null; if (crop) picture.src = crop.src; };
      large.append(picture, words);
      return large;
    });
    dialog.replaceChildren(...sides, figure.querySelector("figcaption").cloneNode(true));
    dialog.showModal();
  }
  for (const {figure} of pairs) for (const link of figure.querySelectorAll("a, img"))
    link.addEventListener("click", event => { event.preventDefault(); enlarge(figure); });
}
