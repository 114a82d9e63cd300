#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "core/device_traits.h"
#include "core/environment.h"
#include "core/plan_text.h"
#include "report/format.h"
#include "report/needs.h"
#include "report/text.h"
#include "statistics/interval.h"

namespace redzone::report {
namespace {

std::string ratio_or_dash(const Reliability& r) {
  return r.n == 0 ? "-" : fmt::format("{}/{}", r.k, r.n);
}

// "known, https://... (rounding), since 2025-01-31T02:00:00.000000Z"; "" if the standing is "new".
std::string ledger_text(const Ledger& ledger) {
  if (ledger.standing == Standing::fresh) return "";
  std::string out(name_of(ledger.standing));
  if (!ledger.link.empty()) out += ", " + ledger.link;
  if (!ledger.note.empty()) out += fmt::format(" ({})", ledger.note);
  return out + ", since " + ledger.since;
}

// For the final measurement: a number of runs that was fixed in advance, not counting those that
// found the failure.
std::string reliability_text(const Reliability& r) {
  if (r.n == 0) return "not run again yet";
  const auto i = statistics::exact_interval(r.k, r.n);
  return fmt::format("{} of {} runs failed the same way (95% interval {:.0f}% to {:.0f}%)", r.k,
                     r.n, 100 * i.low, 100 * i.high);
}

// Collects "key  value" lines; empty values are omitted.
class Lines {
 public:
  Lines(std::string_view indent, std::size_t key_width) : indent_(indent), width_(key_width) {}
  void add(std::string_view key, std::string_view value) {
    if (!value.empty())
      text_ += fmt::format("{}{:<{}}  {}\n", indent_, key, width_, printable(value));
  }
  const std::string& text() const { return text_; }

 private:
  std::string indent_;
  std::size_t width_;
  std::string text_;
};

std::string attribution_text(const std::vector<AttributionRow>& rows) {
  if (rows.empty()) return "";
  Table table({{"axis"}, {"value"}, {"failed", Table::Align::right}});
  for (const auto& row : rows) table.add({row.axis, row.value, ratio_or_dash(row.failed)});
  return "\nattribution (one axis changed at a time)\n" + table.text("  ");
}

std::string fault_attribution_text(const std::vector<Attribution>& fault_attributions) {
  if (fault_attributions.empty()) return "";
  std::size_t width = 0;
  for (const auto& c : fault_attributions) width = std::max(width, c.source.size());
  Lines lines("  ", width);
  for (const auto& c : fault_attributions) lines.add(c.source, text_of(c));
  return "\nfault attribution (by source)\n" + lines.text();
}

std::string environment_text(const Environment& e) {
  Lines lines("  ", 7);
  lines.add("device", e.compute_capability == 0
                          ? e.device
                          : fmt::format("{} (compute capability {}.{})", e.device,
                                        e.compute_capability / 10, e.compute_capability % 10));
  lines.add("driver", e.driver);
  lines.add("toolkit", e.toolkit);
  lines.add("origin", text_of(e.origin));
  lines.add("python", e.origin.interpreter);
  lines.add("nvrtc", e.nvrtc);
  lines.add("machine", e.host);
  lines.add("code", e.code_hash);
  lines.add("redzone", e.redzone_version);
  return "\nenvironment\n" + lines.text();
}

// The latest log: the worker's last output.
std::string logs_text(std::span<const Artifact> artifacts) {
  const Artifact* latest = nullptr;
  for (const auto& a : artifacts)
    if (a.kind == "log" && (latest == nullptr || a.added >= latest->added)) latest = &a;
  if (latest == nullptr) return "";
  std::string out = "\nlast output of the worker\n";
  std::istringstream in(latest->bytes);
  for (std::string line; std::getline(in, line);) out += "  " + printable(line) + "\n";
  return out;
}

std::string stack_text(std::string_view title, const std::vector<std::string>& stack) {
  if (stack.empty()) return "";
  std::string out = fmt::format("\n{}\n", title);
  for (const auto& frame : stack) out += "  " + printable(frame) + "\n";
  return out;
}

// Shown instead of a plan for a finding of a program.
std::string program_text(const ProgramOrigin& origin) {
  Lines lines("  ", 9);
  lines.add("command", shell_quoted(origin.argv));
  lines.add("folder", origin.folder);
  lines.add("settings", origin.settings);
  for (const auto& [name, value] : origin.environment)
    lines.add("variable", name + "=" + shell_quoted(value));
  return stack_text("access", origin.where) + stack_text("allocated", origin.allocated) +
         stack_text("freed", origin.freed) + "\nprogram\n" + lines.text();
}

// For a series of runs whose first run was not chosen in advance: without an interval.
std::string seen_text(const Reliability& r) {
  return fmt::format("seen in {} of {}", r.k, counted(static_cast<std::uint64_t>(r.n), "run"));
}

std::string plan_title(const Finding& f) {
  std::string title = counted(static_cast<std::uint64_t>(call_count(f.plan)), "call");
  title += f.minimal ? ", minimal" : ", not known to be minimal";
  if (f.plan == f.original)
    title += "; as generated";
  else
    title += fmt::format("; {} as generated",
                         counted(static_cast<std::uint64_t>(call_count(f.original)), "call"));
  if (f.needs_history) title += "; includes calls of plans that the worker ran before";
  return title;
}

}  // namespace

std::string state_text(const Finding& f) {
  std::string out(name_of(f.state));
  if (f.ledger.standing != Standing::fresh) out += fmt::format(", {}", name_of(f.ledger.standing));
  return out;
}

std::string findings_text(std::span<const Finding> findings) {
  if (findings.empty()) return "no findings\n";
  Table table({{"id", Table::Align::right},
               {"state"},
               {"failed", Table::Align::right},
               {"calls", Table::Align::right},
               {"device"},
               {"first seen"},
               {"signature"}});
  for (const auto& f : findings)
    table.add({std::to_string(f.id), state_text(f), ratio_or_dash(f.reliability),
               std::to_string(call_count(f.plan)), f.environment.device, f.first_seen,
               f.signature.text()});
  return table.text();
}

std::string finding_text(const Finding& f, std::string_view db,
                         std::span<const Artifact> artifacts) {
  Lines lines("", 11);
  lines.add("state", name_of(f.state));
  lines.add("ledger", ledger_text(f.ledger));
  lines.add("reason", f.reason);
  lines.add("oracle", f.oracle);
  lines.add("reliability", f.program ? seen_text(f.reliability) : reliability_text(f.reliability));
  lines.add("needs", fmt::format("{}", fmt::join(needs_of(f), "; ")));
  lines.add("reduction", text_of(f.reduction));
  lines.add("fault", f.fault_detail);
  std::string first = f.first_seen;
  if (f.campaign != 0) first += fmt::format(", campaign {}", f.campaign);
  if (!f.program)
    first += fmt::format(", after {} and {:.1f} s", counted(f.plans_to_first, "plan"),
                         f.seconds_to_first);
  lines.add("first seen", first);
  lines.add("last seen",
            fmt::format("{}, {}", f.last_seen,
                        counted(static_cast<std::uint64_t>(f.occurrences), "occurrence")));
  lines.add("replay", replay_command(f, db));
  const std::string about =
      fmt::format("finding {}: {}\n\n{}{}{}{}{}", f.id, printable(f.signature.text()), lines.text(),
                  fault_attribution_text(f.fault_attributions), logs_text(artifacts),
                  attribution_text(f.attribution), environment_text(f.environment));
  if (f.program) return about + program_text(*f.program);
  return fmt::format("{}\nplan ({})\n\n{}", about, plan_title(f), print_plan(f.plan));
}

std::string origin_flags(const Environment& environment) {
  std::string out = flags_of(environment.origin);
  if (const auto& device = traits_of_device(environment.device);
      environment.origin.source == TargetSource::package && !device.automatic)
    out += fmt::format(" --device {}", device.name);
  return out;
}

std::string replay_command(const Finding& finding, std::string_view db) {
  std::string out =
      fmt::format("redzone replay {}", finding.id) + origin_flags(finding.environment);
  if (const auto tool = value_named<SanitizerTool>(finding.oracle); tool && is_check(*tool))
    out += fmt::format(" --checks {}", finding.oracle);
  if (!db.empty()) out += " --db " + shell_quoted(db);
  return out;
}

}  // namespace redzone::report
