// Fills the page from the data within it.
const EXITS = {
  0: "Nothing new.",
  1: "New or regressed findings.",
  3: "The night could not do its job: nothing here is a pass.",
  4: "Nothing could be judged: nothing here is a pass.",
  130: "Interrupted; what was found is here.",
};

function heading(night, seed) {
  const alarms = night.findings.filter((f) => f.alarm).length;
  const title = `Redzone, night ${night.campaign} on ${night.device}`;
  document.title = title;
  byId("title").textContent = title;
  const verdict = [EXITS[night.exit_code] ?? `Exit ${night.exit_code}.`, alarms > 0 ? `${number(alarms)} to look at.` : "", night.problem];
  byId("verdict").textContent = verdict.filter(Boolean).join(" ");
  byId("verdict").dataset.exit = night.exit_code;
  byId("facts").textContent = [
    night.started + (night.ended ? " to " + night.ended : ", cut off"),
    night.driver && "driver " + night.driver, night.toolkit, night.host,
    night.commit && "commit " + night.commit,
    night.shards > 1 && `shard ${night.shard} of ${night.shards}`,
    night.resumed > 0 && `resumed ${night.resumed} times`,
  ].filter(Boolean).join(" · ");
  byId("footer").textContent = [`redzone ${night.tool_version}`, night.command, `seed ${seed}`, `exit ${night.exit_code}`].filter(Boolean).join(" · ");
}

function tiles(night) {
  const states = STATES.map((state) => [state, number(night.findings.filter((f) => f.ledger.standing === state).length), state]);
  const work = [
    ["plans", number(night.plans)], ["calls", number(night.calls)],
    ["fuzzing", seconds(night.fuzz_seconds)], ["replays", seconds(night.replay_seconds)],
    ["planted bugs caught", number(night.planted_bugs_caught)], ["workers lost", number(night.workers_lost)],
    ["inconclusive", number(night.inconclusive)], ["not applicable", number(night.not_applicable)],
    ["harness errors", number(night.harness_errors)],
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
    { title: "tonight", cell: (p) => p.tonight + (p.n > 0 ? `, ${p.k} of ${p.n} runs failed` : "") },
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
    { title: "device time", number: true, cell: (t) => seconds(t.device_seconds) },
    ...STATES.map(count),
    { title: "not fuzzed because", cell: (t) => t.not_fuzzed },
  ], night.targets));
}

const { seed, left_out, report: { night } } = JSON.parse(byId("night").textContent);
heading(night, seed);
tiles(night);
notJudged(night);
targets(night);
corpus(night);
new FindingList(night.findings).start();
if (left_out > 0)
  byId("count").after(make("p", {}, `${number(left_out)} more findings are in the store and not on this page: redzone findings lists them.`));
showTrends(night.trend);
document.querySelector("main").hidden = false;
