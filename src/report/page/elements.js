// Elements are created, never parsed from HTML, so any text of a kernel's name or a plan stays text.
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes))
    if (value !== false && value !== null && value !== undefined)
      node.setAttribute(name, value === true ? "" : value);
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function byId(id) {
  return document.getElementById(id);
}

function number(n, digits = 0) {
  return n.toLocaleString("en-US", { maximumFractionDigits: digits });
}

function seconds(s) {
  if (s < 120) return number(s, 1) + " s";
  if (s < 7200) return number(s / 60, 1) + " min";
  return number(s / 3600, 1) + " h";
}

// The writer has checked the links; nevertheless the page links only to http and https addresses.
function link(url) {
  return /^https?:\/\//.test(url)
    ? make("a", { href: url, rel: "noopener noreferrer" }, url)
    : document.createTextNode(url);
}

// `columns`: {title, number, cell(row)}
function table(columns, rows) {
  return make("table", {},
    make("thead", {}, make("tr", {},
      columns.map((c) => make("th", { scope: "col", class: c.number && "number" }, c.title)))),
    make("tbody", {}, rows.map((row) => make("tr", {},
      columns.map((c) => make("td", { class: c.number && "number" }, c.cell(row)))))));
}

async function copy(text) {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch { /* refused, or the page has no focus: copy a selection instead */ }
  }
  const area = make("textarea", { readonly: true, "aria-hidden": "true" });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

function copyable(text) {
  const button = make("button", { type: "button", class: "copy" }, "Copy");
  button.addEventListener("click", async () => {
    button.textContent = (await copy(text)) ? "Copied" : "Not copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  return make("div", { class: "line" }, make("pre", {}, text), button);
}
