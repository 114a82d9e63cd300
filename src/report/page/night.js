// Fills the page from the data embedded in it.
function heading(night, all) {
  const title = `Redzone, night ${night.campaign} on ${night.device}`;
  document.title = title;
  byId("title").textContent = title;
  byId("verdict").textContent = [all.verdict, ...all.to_look_at.map((text) => text + "."), night.problem].filter(Boolean).join(" ");
  byId("verdict").dataset.exit = night.exit_code;
  byId("facts").textContent = [
    night.started + (night.ended ? " to " + night.ended : ", cut off"),
    night.driver && "driver " + night.driver, night.toolkit, night.host,
    night.commit && "commit " + night.commit,
    all.shards,
    night.resumed > 0 && `resumed ${night.resumed} times`,
  ].filter(Boolean).join(" · ");
  byId("footer").textContent = [`redzone ${night.tool_version}`, night.command, `seed ${all.seed}`, `exit ${night.exit_code}`].filter(Boolean).join(" · ");
}

// How many calls of a night or a target were compared; "" if there were none to compare.
function compared({ reference }) {
  if (reference.calls === 0) return "";
  const count = `${number(reference.compared_calls)} of ${number(reference.calls)}`;
  return reference.sampled_calls > 0 ? `${count} (${number(reference.sampled_calls)} sampled)` : count;
}

function tiles(night, { standings }) {
  const states = STATES.map((state) => [state, number(standings[state] ?? 0), state]);
  const work = [
    ["plans", number(night.plans)], ["calls", number(night.calls)],
    ["fuzzing", seconds(night.fuzz_seconds)], ["replays", seconds(night.replay_seconds)],
    ["planted bugs caught", number(night.planted_bugs_caught)], ["workers lost", number(night.workers_lost)],
    ["inconclusive", number(night.inconclusive)], ["not applicable", number(night.not_applicable)],
    ["harness errors", number(night.harness_errors)],
    ...(night.reference.calls > 0 ? [["calls compared with the reference", compared(night)]] : []),
  ];
  byId("tiles").append(...[...states, ...work].map(([name, value, state]) =>
    make("li", { class: state }, make("b", { class: state && "badge" }, value), make("span", {}, name))));
}

function notJudged(night) {
  byId("not-judged-section").hidden = night.not_judged.length === 0;
  byId("not-judged").append(...night.not_judged.map((gap) => make("li", {}, make("b", {}, gap.what), ": " + gap.why)));
}

function corpus(night) {
  byId("corpus-section").hidden = night.corpus.length === 0;
  byId("corpus").append(table([
    { title: "plan", cell: (p) => make("code", {}, p.file) },
    { title: "tonight", cell: (p) => (p.alarm ? "needs attention: " : "") + p.tonight + (p.n > 0 ? `, ${p.k} of ${p.n} runs failed` : "") },
    { title: "finding", cell: (p) => p.finding === null ? "" : make("a", { href: "#finding-" + p.finding }, String(p.finding)) },
    { title: "reason", cell: (p) => p.reason },
    { title: "reproduce", cell: (p) => make("code", {}, p.replay) },
  ], night.corpus));
}

function targets(night) {
  const count = (state) => ({ title: state, number: true, cell: (t) => number(t.findings[state] ?? 0) });
  byId("targets").append(table([
    { title: "target", cell: (t) => t.name },
    { title: "plans", number: true, cell: (t) => number(t.plans) },
    { title: "calls", number: true, cell: (t) => number(t.calls) },
    { title: "compared", number: true, cell: compared },
    { title: "device time", number: true, cell: (t) => seconds(t.device_seconds) },
    ...STATES.map(count),
    { title: "not fuzzed because", cell: (t) => t.not_fuzzed },
  ], night.targets));
}

// `all`: totals over all findings, including those that are not on the page.
const { report: { night }, ...all } = JSON.parse(byId("night").textContent);
heading(night, all);
tiles(night, all);
notJudged(night);
targets(night);
corpus(night);
new FindingList(night.findings).start();
if (all.left_out > 0)
  byId("count").after(make("p", {}, `${number(all.left_out)} more findings are in the store and not on this page: redzone findings lists them.`));
showTrends(night.trend);
document.querySelector("main").hidden = false;
