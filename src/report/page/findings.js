// The list of findings and its filter.
const STATES = ["new", "regressed", "known", "fixed", "quarantined"];
const ATTENTION = "needs attention";
const PAGE = 200;  // cards at a time

function outcomeOf(f) {
  const runs = f.n > 0 ? `, ${f.k} of ${f.n} runs failed` : "";
  const seen = f.occurrences > 0 ? `, shown by ${number(f.occurrences)} plan${f.occurrences === 1 ? "" : "s"}` : "";
  return f.tonight + runs + seen;
}

function section(title, ...children) {
  return [make("h3", {}, title), ...children];
}

function facts(f) {
  const rows = [
    ["reason", f.reason], ["tonight", [outcomeOf(f), f.outcome_reason].filter(Boolean).join(": ")],
    ["fault", f.fault], ["oracle", f.oracle], ["confidence", f.confidence],
    ["when found", f.reliability.n > 0 ? `${f.reliability.k} of ${f.reliability.n} runs failed the same way` : ""],
    ["first seen", f.first_seen], ["last seen", f.last_seen],
    ["state", f.ledger.standing + (f.ledger.since ? " since " + f.ledger.since.slice(0, 19) + "Z" : "") + (f.before && f.before !== f.ledger.standing ? ", was " + f.before : "")],
    ["link", f.ledger.link ? link(f.ledger.link) : ""], ["note", f.ledger.note],
    ["seen on", [f.device, f.driver, f.toolkit].filter(Boolean).join(", ")], ["code", f.code_hash],
  ].filter((row) => row[1]);
  return make("div", { class: "wide" }, table(
    [{ title: "", cell: (row) => make("b", {}, row[0]) }, { title: "", cell: (row) => row[1] }], rows));
}

// A row for each axis: "blocking 0/3, async 3/3".
function attribution(rows) {
  const axes = new Map();
  for (const row of rows) {
    if (!axes.has(row.axis)) axes.set(row.axis, []);
    axes.get(row.axis).push(`${row.value} ${row.k}/${row.n}`);
  }
  return make("div", { class: "wide attribution" }, table([
    { title: "axis", cell: ([axis]) => axis },
    { title: "failed with", cell: ([, values]) => values.join(", ") }], [...axes]));
}

function details(f) {
  const parts = [facts(f), section("reproduce", copyable(f.replay))];
  if (f.culprits.length > 0)
    parts.push(section("fault attribution, by source", make("ul", {}, f.culprits.map((text) => make("li", {}, text)))));
  if (f.attribution.length > 0)
    parts.push(section("attribution: one axis changed at a time, how many runs failed", attribution(f.attribution)));
  for (const t of f.tables)
    parts.push(section(t.title, make("div", { class: "wide bisect" }, table(
      t.columns.map((title, i) => ({ title, cell: (row) => row[i] ?? "" })), t.rows))));
  if (f.program) return make("div", {}, [...parts, section("program", make("pre", { class: "plan", tabindex: "0" }, f.program))].flat());
  const calls = `${number(f.calls)} call${f.calls === 1 ? "" : "s"}, ${f.minimal ? "minimal" : "not known to be minimal"}`;
  parts.push(section(`plan (${calls})`, make("pre", { class: "plan", tabindex: "0" }, f.plan)));
  return make("div", {}, parts.flat());
}

function card(f) {
  const node = make("details", { id: "finding-" + f.id, class: "finding " + f.ledger.standing },
    make("summary", {}, make("span", { class: "badge" }, f.ledger.standing), f.confidence === "confirmed" ? "" : `, ${f.confidence}`, ` ${f.id} `,
      make("code", {}, f.signature.text), " ", make("span", { class: "outcome" }, outcomeOf(f))));
  // The details are created when the card is first opened, since there may be thousands of cards.
  node.addEventListener("toggle", () => {
    if (node.open && node.children.length === 1) node.append(details(f));
  });
  return node;
}

class FindingList {
  constructor(findings) {
    this.findings = findings;
    this.states = new Set(STATES);
    this.words = findings.map((f) => [f.id, f.signature.text, f.signature.hash, f.reason, f.outcome_reason,
      f.fault, f.ledger.link, f.ledger.note, f.device, ...f.culprits, f.plan, f.program].join("\n").toLowerCase());
    this.shown = PAGE;
  }

  choose(select, all, values) {
    select.append(make("option", { value: "" }, all), ...values.map((value) => make("option", { value }, value)));
    select.addEventListener("change", () => this.filter());
  }

  start() {
    const distinct = (of) => [...new Set(this.findings.map(of))].sort();
    byId("query").addEventListener("input", () => this.filter());
    this.choose(byId("target"), "all targets", distinct((f) => f.signature.target));
    this.choose(byId("outcome"), "all outcomes",
      [...(this.findings.some((f) => f.alarm) ? [ATTENTION] : []), ...distinct((f) => f.tonight)]);
    for (const state of STATES) {
      const count = this.findings.filter((f) => f.ledger.standing === state).length;
      if (count === 0) continue;
      const button = make("button", { type: "button", class: state, "data-state": state, "aria-pressed": "true" },
        make("span", { class: "badge" }, state), " " + number(count));
      button.addEventListener("click", () => {
        const on = !this.states.has(state);
        if (on) this.states.add(state); else this.states.delete(state);
        button.setAttribute("aria-pressed", String(on));
        this.filter();
      });
      byId("states").append(button);
    }
    byId("more").addEventListener("click", () => { this.shown += PAGE; this.show(); });
    window.addEventListener("hashchange", () => this.open());
    this.filter();
    this.open();
  }

  matches(f, i, words, target, outcome) {
    return this.states.has(f.ledger.standing) && (target === "" || f.signature.target === target) &&
      (outcome === "" || (outcome === ATTENTION ? f.alarm : f.tonight === outcome)) &&
      words.every((word) => this.words[i].includes(word));
  }

  filter() {
    const words = byId("query").value.toLowerCase().split(/\s+/).filter(Boolean);
    const target = byId("target").value, outcome = byId("outcome").value;
    this.matching = this.findings.filter((f, i) => this.matches(f, i, words, target, outcome));
    this.shown = PAGE;
    this.show();
  }

  show() {
    const rest = this.matching.length - this.shown;
    byId("findings").replaceChildren(...this.matching.slice(0, this.shown).map(card));
    byId("count").textContent = `${number(this.matching.length)} of ${number(this.findings.length)} findings`;
    byId("more").hidden = rest <= 0;
    byId("more").textContent = `${number(Math.min(rest, PAGE))} more`;
  }

  // index.html#finding-3
  open() {
    const i = this.matching.findIndex((f) => "#finding-" + f.id === location.hash);
    if (i < 0) return;
    if (i >= this.shown) {
      this.shown = i + 1;
      this.show();
    }
    const node = byId(location.hash.slice(1));
    node.open = true;
    node.scrollIntoView();
  }
}
