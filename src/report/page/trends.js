// Stacked bars, one for each night, the oldest on the left.
const PALETTE = ["#3b82c4", "#d9822b", "#3f9b5f", "#9b59b6", "#c0504d", "#7f8c8d"];
const MOST_NIGHTS = 60;
const MOST_PARTS = PALETTE.length - 1;  // the last colour is for the others

// `parts`: {name, color, of(night)}
function chart(title, nights, parts, unit) {
  const width = 320, height = 130, left = 4, top = 16, bottom = 16;
  const totals = nights.map((night) => parts.reduce((sum, part) => sum + part.of(night), 0));
  const most = Math.max(...totals);
  const scale = most > 0 ? (height - top - bottom) / most : 0;
  const step = (width - 2 * left) / nights.length;
  const bar = Math.min(24, step * 0.8);
  const bars = nights.map((night, i) => {
    let y = height - bottom;
    const rows = parts.filter((part) => part.of(night) > 0).map((part) => {
      const h = part.of(night) * scale;
      y -= h;
      return draw("rect", { x: left + i * step + (step - bar) / 2, y, width: bar, height: h, style: "fill:" + part.color });
    });
    const said = parts.length === 1 ? unit(totals[i])
      : parts.filter((part) => part.of(night) > 0).map((part) => part.name + " " + unit(part.of(night))).join(", ") || unit(0);
    return draw("g", {}, draw("title", {}, night.started + ": " + said), rows);
  });
  const label = (x, y, anchor, text) => draw("text", { x, y, "text-anchor": anchor }, text);
  const day = (night) => night.started.slice(0, 10);
  const last = nights.length - 1;
  return make("figure", {},
    make("figcaption", {}, title + ": ", make("b", {}, unit(totals[last])), " in the last night"),
    draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title + " by night" },
      draw("line", { class: "axis", x1: left, x2: width - left, y1: height - bottom, y2: height - bottom }),
      label(left, 10, "start", unit(most)),
      bars,
      label(left, height - 4, "start", day(nights[0])),
      last > 0 ? label(width - left, height - 4, "end", day(nights[last])) : null),
    parts.length === 1 ? null : make("ul", { class: "legend" }, parts.map((part) =>
      make("li", {}, make("i", { style: "background:" + part.color }), part.name))));
}

// The targets that took the most device time, and all others as one part.
function targetParts(nights) {
  const sums = new Map();
  for (const night of nights)
    for (const [name, s] of Object.entries(night.device_seconds))
      sums.set(name, (sums.get(name) ?? 0) + s);
  const names = [...sums.keys()].sort((a, b) => sums.get(b) - sums.get(a));
  const shown = names.slice(0, MOST_PARTS);
  const parts = shown.map((name, i) => ({ name, color: PALETTE[i], of: (night) => night.device_seconds[name] ?? 0 }));
  const rest = names.slice(MOST_PARTS);
  if (rest.length > 0)
    parts.push({
      name: number(rest.length) + " others", color: PALETTE[MOST_PARTS],
      of: (night) => rest.reduce((sum, name) => sum + (night.device_seconds[name] ?? 0), 0),
    });
  return parts;
}

function showTrends(all) {
  byId("trends-section").hidden = all.length === 0;
  if (all.length === 0) return;
  const nights = all.slice(-MOST_NIGHTS);
  const single = (name, of) => [{ name, color: PALETTE[0], of }];
  const states = STATES.map((state) => ({ name: state, color: `var(--${state})`, of: (night) => night.findings[state] ?? 0 }));
  const targets = targetParts(nights);
  byId("trends").append(
    chart("Plans", nights, single("plans", (night) => night.plans), (n) => number(n)),
    chart("Calls", nights, single("calls", (night) => night.calls), (n) => number(n)),
    chart("Findings", nights, states, (n) => number(n)),
    ...(targets.length > 0 ? [chart("Device time", nights, targets, seconds)] : []));
}
