#include "bisect/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "bisect/value_text.h"

namespace redzone::bisect {
namespace {

// The observations of a row.
struct Seen {
  std::vector<std::string> failing, passing;
  // "guard_before (redzone: write after y (t))": the same failure with another signature, or
  // another failure.
  std::vector<std::string> shown_otherwise, failing_otherwise;
  // "2 (3 of 6 seeds)": a value that passes but fails with other data.
  std::vector<std::string> only_this_data;
  // "guard with launch = gated": a passing value, and the launch mode under which it fails.
  std::vector<std::string> only_this_launch, only_this_schedule;
  bool doubtful = false;  // a passing value fails under other conditions
  Counts fails, passes;
  bool background = true;  // every value in `passing` fails in another way
};

Seen seen_of(const Row& row) {
  Seen seen;
  for (const auto& t : row.tried) {
    if (t.probe.answer == Answer::fails) {
      seen.failing.push_back(t.value);
      seen.fails.add(t.probe.counts);
      if (const auto how = t.probe.counts.shown_as(); !how.empty())
        seen.shown_otherwise.push_back(fmt::format("{} ({})", t.value, how));
    } else if (t.probe.answer == Answer::passes) {
      seen.passing.push_back(t.value);
      seen.background = seen.background && t.probe.fails_otherwise();
      seen.doubtful = seen.doubtful || t.is_doubtful();
      if (t.other_data)
        seen.only_this_data.push_back(fmt::format("{} ({} of {} seeds)", t.value,
                                                  t.other_data->failing, t.other_data->tried));
      if (t.other_launch)
        seen.only_this_launch.push_back(
            fmt::format("{} with launch = {}", t.value, t.other_launch->launch));
      if (t.other_schedule)
        seen.only_this_schedule.push_back(
            fmt::format("{} and schedule = {}", t.value, t.other_schedule->seed));
      seen.passes.add(t.probe.counts);
    } else if (t.probe.answer == Answer::differs) {
      seen.failing_otherwise.push_back(fmt::format("{} ({})", t.value, t.probe.counts.said));
    }
  }
  return seen;
}

// "passes with 8, 16", for the given list of values.
std::string ends(const Seen& seen, const std::string& values) {
  return fmt::format("{} {}", ends_with(seen.background), values);
}
std::string ends(const Seen& seen) {
  return ends(seen, fmt::format("{}", fmt::join(seen.passing, ", ")));
}

bool row_matters(const Row& row) {
  return row.relevance() != Relevance::irrelevant && row.relevance() != Relevance::otherwise &&
         row.relevance() != Relevance::unknown;
}

std::optional<std::vector<std::int64_t>> numbers(const std::vector<std::string>& texts) {
  std::vector<std::int64_t> out;
  for (const auto& text : texts) {
    const auto value = leading_number(text);
    if (!value) return std::nullopt;
    out.push_back(*value);
  }
  std::sort(out.begin(), out.end());
  return out;
}

// "call 1: D" -> "D", for "call 1".
std::string dim_name(const std::string& axis) {
  const auto colon = axis.find(": ");
  return colon == std::string::npos ? axis : axis.substr(colon + 2);
}

// Another call of the failing plan in which the same dim has this value; "" if there is none.
std::string elsewhere(const Bisection& b, const Row& row, const std::string& value) {
  for (const auto& other : b.rows)
    if (other.kind == row.kind && &other != &row && other.axis != dim_name(row.axis) &&
        dim_name(other.axis) == dim_name(row.axis) && other.value == value)
      return other.axis.substr(0, other.axis.find(": "));
  return "";
}

// The name of a row that does not matter. A dim of all calls may not matter although the same dim
// of one call does, so the name then says that all calls were changed.
std::string name_of_free(const Bisection& b, const Row& row) {
  const bool in_a_call = std::any_of(b.rows.begin(), b.rows.end(), [&](const Row& other) {
    return other.kind == AxisKind::dim && other.axis != row.axis &&
           dim_name(other.axis) == row.axis && row_matters(other);
  });
  const bool joint = row.kind == AxisKind::dim && in_a_call;
  return joint ? fmt::format("{} (changed alike in all calls)", row.axis) : row.axis;
}

// True if the dim of one call must have the same value as in the other calls, but all may be
// changed together.
bool must_agree(const Bisection& b, const Row& row, const Seen& seen) {
  if (!seen.failing.empty() || dim_name(row.axis) == row.axis) return false;
  for (const auto& joint : b.rows)
    if (joint.kind == row.kind && joint.axis == dim_name(row.axis))
      return joint.necessary == false || !seen_of(joint).failing.empty();
  return false;
}

// The values of a dim that were tried, ascending.
struct DimValues {
  std::vector<std::int64_t> failing;  // includes the failing plan's
  std::vector<std::int64_t> passing;  // not empty
};

// Empty if no value passes, or if a value is not a number.
std::optional<DimValues> dim_values(const Row& row, const Seen& seen) {
  auto failing = numbers(seen.failing), passing = numbers(seen.passing);
  const auto own = leading_number(row.value);
  if (!failing || !passing || !own || passing->empty()) return std::nullopt;
  failing->insert(std::upper_bound(failing->begin(), failing->end(), *own), *own);
  return DimValues{std::move(*failing), std::move(*passing)};
}

// True if there are neighbours of this passing value, and all of them (or any, if `all` is false)
// fail.
bool fails_beside(const Row& row, const DimValues& values, std::int64_t passing, bool all) {
  const auto it = row.beside.find(passing);
  if (it == row.beside.end() || it->second.empty()) return false;
  const auto fails = [&](std::int64_t value) {
    return std::binary_search(values.failing.begin(), values.failing.end(), value);
  };
  return all ? std::all_of(it->second.begin(), it->second.end(), fails)
             : std::any_of(it->second.begin(), it->second.end(), fails);
}

// The other call whose value of the dim is the only one that passes while its neighbours fail; ""
// if there is none.
std::string must_differ_from(const Bisection& b, const Row& row, const Seen& seen) {
  const auto values = dim_values(row, seen);
  if (!values || values->passing.size() != 1 || seen.doubtful) return "";
  if (!fails_beside(row, *values, values->passing.front(), true)) return "";
  return elsewhere(b, row, seen.passing.front());
}

// True if the plan fails with less than half of the data or schedules that were tried: its seed
// says little about other values of a dim, and the few other seeds that were tried there do not
// either.
bool rarely_fails(const Bisection& b) {
  return std::any_of(b.rows.begin(), b.rows.end(), [](const Row& row) {
    if (row.necessary != true) return false;
    if (row.axis != kDataAxis && row.axis != axis::kSchedule) return false;
    const Seen seen = seen_of(row);
    return seen.failing.size() + 1 < seen.passing.size();
  });
}

std::string of_dim(const Bisection& b, const Row& row, const Seen& seen) {
  const auto values = dim_values(row, seen);
  if (!values) return fmt::format("{} matters: fails with {}; {}", row.axis, row.value, ends(seen));
  const auto& [failing, passing] = *values;
  const std::string tried =
      fmt::format("fails with {}; {}", some_of(failing), ends(seen, some_of(passing)));
  if (seen.doubtful || rarely_fails(b)) return fmt::format("{} matters: {}", row.axis, tried);
  if (must_agree(b, row, seen))
    return fmt::format("{} must be the same as in the other calls", row.axis);
  if (const auto call = must_differ_from(b, row, seen); !call.empty())
    return fmt::format("{} must differ from {}, where it is {}", row.axis, call,
                       seen.passing.front());
  const char* const among = row.all_tried ? "" : " among the values tried";
  if (failing.size() > 1 && passing.back() < failing.front() &&
      fails_beside(row, *values, passing.back(), false))
    return fmt::format("needs {} > {}{} ({})", row.axis, passing.back(), among, tried);
  if (failing.size() > 1 && passing.front() > failing.back() &&
      fails_beside(row, *values, passing.front(), false))
    return fmt::format("needs {} < {}{} ({})", row.axis, passing.front(), among, tried);
  return fmt::format("{} matters: {}", row.axis, tried);
}

std::string of_step(const Row& row, const Seen& seen) {
  const bool absent = std::count(seen.passing.begin(), seen.passing.end(), "absent") > 0;
  std::string as;
  for (const auto& value : seen.passing)
    if (value.rfind("as call", 0) == 0) as = value.substr(3);
  if (absent && !as.empty())
    return fmt::format("needs {}, and {} must differ from {}", row.axis, row.axis, as);
  if (absent) return fmt::format("needs {}", row.axis);
  if (!as.empty()) return fmt::format("{} must differ from {}", row.axis, as);
  return fmt::format("needs {} as it is: {}", row.axis, ends(seen));
}

std::string of_same_data(const Row& row, const Seen& seen) {
  const auto& fails = seen.failing;
  if (row.value == kInNoCall || std::find(fails.begin(), fails.end(), kInNoCall) != fails.end())
    return "needs calls with different data; " + ends(seen, "the same");
  return fmt::format("needs the same data {}; {}", row.value, ends(seen, "other data in each"));
}

// The runs at values of other rows with which this row decides.
Counts decided(const Bisection& b, const Row& row) {
  Counts counts;
  for (const auto& other : b.rows) {
    const auto& with = row.decides_with;
    if (std::find(with.begin(), with.end(), other.axis) == with.end()) continue;
    for (const auto& t : other.tried) {
      if (row.axis == kDataAxis && t.other_data) counts.add(t.other_data->probe.counts);
      if (row.axis == axis::kLaunch && t.other_launch) counts.add(t.other_launch->probe.counts);
      if (row.axis == axis::kSchedule && t.other_schedule)
        counts.add(t.other_schedule->probe.counts);
    }
  }
  return counts;
}

// The text for the row's own values, under the launch mode of the failing plan.
std::string text_at_this_launch(const Bisection& b, const Row& row, const Seen& seen) {
  if (row.relevance() == Relevance::conditional)
    return fmt::format("the {} matters if {} has another value", row.axis,
                       fmt::join(row.decides_with, " or "));
  if (row.by_oracle)
    return fmt::format("depends on the {}, which the oracle compares in each run", row.axis);
  if (!row.or_else.empty())
    return fmt::format("{} = {} is enough, and so is {} unchanged", row.axis, row.value,
                       fmt::join(row.or_else, " or "));
  switch (row.kind) {
    case AxisKind::dim: {
      std::string out = of_dim(b, row, seen);
      if (!seen.only_this_data.empty())
        out += fmt::format("; with other data {} also fails", fmt::join(seen.only_this_data, ", "));
      return out;
    }
    case AxisKind::step:
      return of_step(row, seen);
    case AxisKind::data:
      if (row.axis == kSameData) return of_same_data(row, seen);
      return fmt::format("depends on the data: fails with {} of {} seeds tried",
                         seen.failing.size() + 1, seen.failing.size() + seen.passing.size() + 1);
    default:
      break;
  }
  std::string out = row.value == kDiffers
                        ? fmt::format("needs {} to differ between calls", row.axis)
                        : fmt::format("needs {} = {}", row.axis, row.value);
  if (!seen.failing.empty()) out += fmt::format(" (or {})", fmt::join(seen.failing, ", "));
  return out + "; " + ends(seen);
}

std::string row_text(const Bisection& b, const Row& row, const Seen& seen) {
  std::string out = text_at_this_launch(b, row, seen);
  if (!seen.only_this_launch.empty())
    out += fmt::format("; also fails with {}", fmt::join(seen.only_this_launch, ", "));
  if (!seen.only_this_schedule.empty())
    out += fmt::format("; also fails with {}", fmt::join(seen.only_this_schedule, ", "));
  return out;
}

std::string heading(AxisKind kind, std::size_t rows) {
  switch (kind) {
    case AxisKind::knob:
      return rows == 1 ? "the knob" : "the knobs";
    case AxisKind::mode:
      return "the mode's";
    case AxisKind::dim:
      return "the dims";
    case AxisKind::layout:
      return "the layouts";
    case AxisKind::data:
      return "the";
    case AxisKind::step:
      return "the steps";
  }
  return "";
}

// Adds the rows of one relevance as one statement per kind.
void add_groups(const Bisection& b, Relevance relevance, std::string_view says,
                std::vector<Statement>& statements) {
  std::map<AxisKind, Statement> groups;
  std::map<AxisKind, std::vector<std::string>> names;
  for (const auto& row : b.rows) {
    if (row.relevance() != relevance) continue;
    const Seen seen = seen_of(row);
    groups[row.kind].fails.add(seen.fails);
    names[row.kind].push_back(name_of_free(b, row));
    if (!seen.shown_otherwise.empty())
      names[row.kind].back() +=
          fmt::format(" (shown otherwise with {})", fmt::join(seen.shown_otherwise, ", "));
    if (!seen.failing_otherwise.empty())
      names[row.kind].back() +=
          fmt::format(" ({}{})", relevance == Relevance::otherwise ? "" : "fails otherwise with ",
                      fmt::join(seen.failing_otherwise, ", "));
  }
  for (auto& [kind, statement] : groups) {
    statement.relevance = relevance;
    statement.text = fmt::format("{} {} {}", says, heading(kind, names[kind].size()),
                                 fmt::join(names[kind], ", "));
    statements.push_back(std::move(statement));
  }
}

}  // namespace

std::vector<Statement> explain(const Bisection& b) {
  std::vector<Statement> out;
  for (const auto& row : b.rows) {
    if (!row_matters(row)) continue;
    const Seen seen = seen_of(row);
    Statement statement{row_text(b, row, seen), row.relevance(), seen.fails, seen.passes};
    if (row.by_oracle) statement.fails = b.base.counts;
    if (row.relevance() == Relevance::conditional) statement.fails = decided(b, row);
    out.push_back(std::move(statement));
  }
  add_groups(b, Relevance::irrelevant, "does not depend on", out);
  add_groups(b, Relevance::otherwise, "fails otherwise with any other value of", out);
  add_groups(b, Relevance::unknown, "not known to depend on", out);
  return out;
}

namespace {

// "after a call with another D (call 1)", for an earlier call that is needed.
std::string prior_call(const Bisection& b, const Row& call) {
  std::vector<std::string> others;
  for (const auto& row : b.rows) {
    if (row.kind != AxisKind::dim || row.axis.rfind(call.axis + ": ", 0) != 0 || !row_matters(row))
      continue;
    if (!must_differ_from(b, row, seen_of(row)).empty()) others.push_back(dim_name(row.axis));
  }
  const Seen seen = seen_of(call);
  if (std::count(seen.passing.begin(), seen.passing.end(), "absent") == 0) return "";
  return others.empty() ? fmt::format("after a prior call ({})", call.axis)
                        : fmt::format("after a prior call with another {} ({})",
                                      fmt::join(others, " or "), call.axis);
}

std::vector<std::string> texts_with(const Row& row, Answer answer) {
  std::vector<std::string> out;
  for (const auto& t : row.tried)
    if (t.probe.answer == answer) out.push_back(t.value);
  return out;
}

// True for the last of the call rows: the last call is the one that fails, so it is not mentioned.
bool is_last_call(const Bisection& b, const Row& row) {
  const Row* last = nullptr;
  for (const auto& other : b.rows)
    if (other.kind == AxisKind::step && other.axis.rfind("call ", 0) == 0) last = &other;
  return last == &row;
}

}  // namespace

std::string sentence(const Bisection& b) {
  if (b.base.counts.judged() == 0) return "Unknown: no run was judged.";
  if (b.base.answer != Answer::fails)
    return fmt::format("{}, so there is nothing to bisect.", why_it_cannot_be_bisected(b.base));
  std::vector<std::string> needs, free, otherwise, open;
  bool knobs = false, every_knob_fails = true, every_change_fails = true;
  for (const auto& row : b.rows) {
    const bool is_knob = row.kind == AxisKind::knob;
    knobs = knobs || is_knob;
    const bool irrelevant = row.relevance() == Relevance::irrelevant;
    const auto differing = texts_with(row, Answer::differs);
    if (is_knob && !(irrelevant && differing.empty())) every_knob_fails = false;
    every_change_fails = every_change_fails && irrelevant && differing.empty();
    if (row_matters(row)) {
      if (is_last_call(b, row)) continue;
      auto prior = row.kind == AxisKind::step ? prior_call(b, row) : "";
      needs.push_back(prior.empty() ? row_text(b, row, seen_of(row)) : std::move(prior));
    } else if (row.relevance() == Relevance::unknown) {
      open.push_back(row.axis);
    } else if (row.relevance() == Relevance::otherwise) {
      otherwise.push_back(row.axis);
    } else if (!differing.empty()) {
      free.push_back(fmt::format("{} (fails otherwise with {})", name_of_free(b, row),
                                 fmt::join(differing, ", ")));
    } else if (!is_knob) {
      free.push_back(name_of_free(b, row));
    }
  }
  std::string out = fmt::format("It fails: {}", fmt::join(needs, "; "));
  if (needs.empty()) out = every_change_fails ? "It fails with every change" : "It fails";
  if (knobs && every_knob_fails) out += "; any knob at any value fails";
  if (!free.empty()) out += fmt::format("; it does not depend on {}", fmt::join(free, ", "));
  if (!otherwise.empty())
    out += fmt::format("; with another {} it fails otherwise", fmt::join(otherwise, " or "));
  if (!open.empty()) out += fmt::format("; not known: {}", fmt::join(open, ", "));
  return out + background_text(b.background) + ".";
}

}  // namespace redzone::bisect
