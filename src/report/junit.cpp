#include "report/junit.h"

#include <fmt/format.h>

#include <pugixml.hpp>

#include <algorithm>
#include <sstream>
#include <vector>

#include "report/night_words.h"
#include "report/reference.h"
#include "report/safe_text.h"

namespace redzone::report {
namespace {

enum class Result : std::uint8_t { passed, failure, error, skipped };

struct Case {
  std::string name;
  Result result = Result::passed;
  std::string type;     // for a failure or error
  std::string message;  // one sentence; for a pass, useful additional facts
  std::string body;     // for a failure: plan and replay line
  double seconds = 0;
};

struct Suite {
  const char* name;
  std::vector<Case> cases;
  std::vector<std::pair<const char*, std::int64_t>> properties = {};

  std::int64_t count(Result result) const {
    return std::count_if(cases.begin(), cases.end(),
                         [&](const Case& c) { return c.result == result; });
  }
  double seconds() const {
    double sum = 0;
    for (const Case& c : cases) sum += c.seconds;
    return sum;
  }
};

Case finding_case(const NightFinding& f) {
  Case out{f.signature + " [" + f.signature_hash + "]",
           Result::skipped,
           f.kind,
           state_sentence(f),
           "",
           0};
  if (is_alarm(f)) {
    out.result = Result::failure;
    out.message = f.reason.empty() ? f.signature : f.reason;
    if (f.outcome == ReplayOutcome::seen) out.message += "; " + outcome_text(f);
    out.body = fmt::format("finding {} ({})\nreproduce: {}\n\n{}", f.id, state_sentence(f),
                           f.replay, f.program.empty() ? f.plan : f.program);
  } else if (f.outcome == ReplayOutcome::passes) {
    out.result = Result::passed;
  }
  return out;
}

// `before`, the counts of calls compared with the reference, and why none was compared; "" without
// a reference.
std::string said_of_reference(const NightTarget& t, std::string_view before) {
  if (t.reference.calls == 0) return "";
  std::string out = fmt::format("{}{}", before, compared_text(t.reference));
  if (const std::string why = not_compared_text(t.reference, t.not_compared); !why.empty())
    out += ", " + why;
  return out;
}

Case target_case(const NightTarget& t, const Night& night) {
  Case out{t.name, Result::passed, "finding", "", "", t.device_seconds};
  for (const NightFinding& f : night.findings) {
    if (f.target != t.name || !is_alarm(f)) continue;
    out.result = Result::failure;
    out.body +=
        fmt::format("finding {} ({}): {}\n  {}\n", f.id, name_of(f.outcome), f.signature, f.replay);
  }
  for (const NightPlan& p : night.corpus) {
    if (p.target != t.name || !is_alarm(p)) continue;
    out.result = Result::failure;
    out.body += fmt::format("plan {} ({})\n  {}\n", p.file, name_of(p.outcome), p.replay);
  }
  if (out.result == Result::failure) {
    out.message = "failures that nobody has waived";
    out.body += said_of_reference(t, "");
  } else if (!t.not_fuzzed.empty()) {
    out.result = Result::skipped;
    out.message = t.not_fuzzed;
  } else if (t.pass + t.fail == 0) {
    out.result = Result::skipped;
    out.message = fmt::format(
        "nothing could be judged: {} inconclusive, {} not applicable, {} harness errors",
        t.inconclusive, t.not_applicable, t.harness_errors);
  } else {
    out.message = fmt::format("{} plans, {} calls", t.plans, t.calls);
    out.message += said_of_reference(t, ", ");
  }
  return out;
}

Case corpus_case(const NightPlan& p) {
  Case out{p.file, Result::skipped, "regression", outcome_text(p.outcome, p.k, p.n, p.reason), "",
           0};
  if (is_alarm(p)) {
    out.result = Result::failure;
    out.body = p.finding ? fmt::format("finding {}: {}\n", *p.finding, p.expected) : "";
    out.body += fmt::format("reproduce: {}\n", p.replay);
  } else if (p.outcome == ReplayOutcome::passes) {
    out.result = Result::passed;
  }
  return out;
}

Case night_case(const Night& night) {
  Case out{"the night could judge",
           Result::passed,
           "harness",
           "",
           "",
           night.self_proof_seconds + night.replay_seconds + night.fuzz_seconds};
  out.message = verdict_sentence(night);
  if (!night.problem.empty()) out.message += " " + night.problem;
  if (!could_judge(night)) out.result = Result::error;
  out.body = fmt::format("{} planted bugs caught\n", night.planted_bugs_caught);
  if (const std::string compared = compared_text(night.reference); !compared.empty())
    out.body += compared + '\n';
  for (const NightGap& gap : night.not_judged)
    out.body += fmt::format("not judged: {}: {}\n", gap.what, gap.why);
  return out;
}

std::vector<Suite> suites_of(const Night& night) {
  std::vector<Suite> suites{
      {"night", {night_case(night)}}, {"targets", {}}, {"findings", {}}, {"corpus", {}}};
  suites[0].properties = {{"redzone.reference.compared_calls", night.reference.compared},
                          {"redzone.reference.sampled_calls", night.reference.sampled},
                          {"redzone.reference.calls", night.reference.calls}};
  for (const auto& t : night.targets) suites[1].cases.push_back(target_case(t, night));
  for (const auto& f : night.findings) suites[2].cases.push_back(finding_case(f));
  for (const auto& p : night.corpus) suites[3].cases.push_back(corpus_case(p));
  return suites;
}

void set(pugi::xml_node node, const char* name, std::string_view value) {
  node.append_attribute(name).set_value(xml_characters(value).c_str());
}
void set(pugi::xml_node node, const char* name, std::int64_t value) {
  node.append_attribute(name).set_value(static_cast<long long>(value));
}
void set_seconds(pugi::xml_node node, double seconds) {
  set(node, "time", fmt::format("{:.3f}", std::max(0.0, seconds)));
}
void set_text(pugi::xml_node node, std::string_view text) {
  if (!text.empty()) node.append_child(pugi::node_pcdata).set_value(xml_characters(text).c_str());
}

void add_case(pugi::xml_node suite, const char* suite_name, const Case& c) {
  pugi::xml_node node = suite.append_child("testcase");
  set(node, "classname", std::string("redzone.") + suite_name);
  set(node, "name", c.name);
  set_seconds(node, c.seconds);
  if (c.result == Result::passed) {
    set_text(node.append_child("system-out"), c.body.empty() ? c.message : c.body);
    return;
  }
  const char* element = c.result == Result::failure ? "failure"
                        : c.result == Result::error ? "error"
                                                    : "skipped";
  pugi::xml_node result = node.append_child(element);
  set(result, "message", c.message);
  if (c.result != Result::skipped) set(result, "type", c.type);
  set_text(result, c.body);
}

// Must be called before the cases are added, because the format requires this order.
void set_properties(pugi::xml_node suite, const Suite& of) {
  if (of.properties.empty()) return;
  pugi::xml_node properties = suite.append_child("properties");
  for (const auto& [name, value] : of.properties) {
    pugi::xml_node property = properties.append_child("property");
    set(property, "name", name);
    set(property, "value", value);
  }
}

// ISO 8601 without a zone, as the format requires; the times of a night are UTC.
void set_timestamp(pugi::xml_node node, const std::string& utc) {
  if (utc.ends_with('Z')) set(node, "timestamp", utc.substr(0, utc.size() - 1));
}

}  // namespace

std::string night_junit(const Night& night) {
  const std::vector<Suite> suites = suites_of(night);
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version").set_value("1.0");
  declaration.append_attribute("encoding").set_value("UTF-8");
  pugi::xml_node root = document.append_child("testsuites");
  set(root, "name", "redzone");
  std::int64_t tests = 0, failures = 0, errors = 0;
  for (const Suite& s : suites) {
    if (s.cases.empty()) continue;
    pugi::xml_node node = root.append_child("testsuite");
    set(node, "name", s.name);
    set(node, "tests", static_cast<std::int64_t>(s.cases.size()));
    set(node, "failures", s.count(Result::failure));
    set(node, "errors", s.count(Result::error));
    set(node, "skipped", s.count(Result::skipped));
    set_seconds(node, s.seconds());
    set_timestamp(node, night.started);
    set_properties(node, s);
    for (const Case& c : s.cases) add_case(node, s.name, c);
    tests += static_cast<std::int64_t>(s.cases.size());
    failures += s.count(Result::failure);
    errors += s.count(Result::error);
  }
  set(root, "tests", tests);
  set(root, "failures", failures);
  set(root, "errors", errors);
  set_seconds(root, suites[0].seconds());  // already includes the time of the other suites
  std::ostringstream out;
  document.save(out, "  ", pugi::format_indent, pugi::encoding_utf8);
  return out.str();
}

}  // namespace redzone::report
