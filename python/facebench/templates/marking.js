// Boxes that mark people and samples, and a button that saves the marked as a list for --exclude.
const entries = [...document.querySelectorAll("input[data-entry]")];
const marked = () => [...new Set(entries.filter(box => box.checked).map(box => box.dataset.entry))];
for (const save of document.querySelectorAll("button[data-download]")) {
  const name = save.dataset.download;
  const count = () => save.textContent = `Save ${name} (${marked().length})`;
  for (const box of entries) box.addEventListener("change", () => {
    // The same sample may stand in several pairs.
    for (const other of entries) if (other.dataset.entry === box.dataset.entry) other.checked = box.checked;
    count();
  });
  save.hidden = false;
  save.addEventListener("click", () => {
    const lines = [`# ${document.title}: marked by eye.`, ...marked()];
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], {type: "text/plain"}));
    link.download = name;
    link.click();
  });
  count();
}
