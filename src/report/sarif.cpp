#include "report/sarif.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "report/json_parts.h"
#include "report/night_words.h"
#include "report/safe_text.h"

namespace redzone::report {
namespace {

constexpr std::size_t kMostResults = 25'000;
constexpr std::size_t kMostNotifications = 1'000;

// A relative URI: all characters except unreserved ones (RFC 3986, 2.3) are percent-encoded.
std::string target_uri(std::string_view target) {
  constexpr std::string_view kUnreserved =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
  std::string out = "targets/";
  for (const char c : target) {
    if (kUnreserved.find(c) != std::string_view::npos)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

const char* level_of(const NightFinding& f) {
  if (is_alarm(f)) return "error";
  const bool waived =
      f.ledger.standing == Standing::known || f.ledger.standing == Standing::quarantined;
  const bool sure = f.confidence == "confirmed" || f.confidence == "flaky";
  return waived || !sure ? "note" : "warning";
}

Json message_text(std::string_view words) {
  return {{"text", words}};
}

Json suppressions(const Ledger& ledger) {
  if (ledger.standing != Standing::known && ledger.standing != Standing::quarantined)
    return Json::array();
  const std::string& why = ledger.link.empty() ? ledger.note : ledger.link;
  return Json::array({{{"kind", "external"}, {"status", "accepted"}, {"justification", why}}});
}

Json logical_locations(const NightFinding& f) {
  const std::string full = f.where.empty() ? f.target : f.target + "::" + f.where;
  return Json::array({{{"name", f.where.empty() ? f.target : f.where},
                       {"fullyQualifiedName", full},
                       {"kind", f.where.empty() ? "module" : "function"}}});
}

Json result(const NightFinding& f, std::size_t rule) {
  // Services show the first one or two sentences, or the whole text if there is room.
  const std::string message = fmt::format(
      "{}.{}{}{} Reproduce with: {}", f.signature, f.reason.empty() ? "" : " ",
      f.reason.empty() ? "" : f.reason + ".",
      f.outcome == ReplayOutcome::seen ? " It was " + outcome_text(f) + "." : "", f.replay);
  return {
      {"ruleId", f.kind},
      {"ruleIndex", rule},
      {"level", level_of(f)},
      {"message", message_text(message)},
      {"locations", Json::array({{{"physicalLocation",
                                   {{"artifactLocation", {{"uri", target_uri(f.target)}}},
                                    {"region", {{"startLine", 1}}}}},
                                  {"logicalLocations", logical_locations(f)}}})},
      {"partialFingerprints",
       {{"primaryLocationLineHash", f.signature_hash}, {"redzoneSignature/v1", f.signature_hash}}},
      {"suppressions", suppressions(f.ledger)},
      {"properties",
       {{"id", f.id},
        {"state", name_of(f.ledger.standing)},
        {"confidence", f.confidence},
        {"tonight", outcome_text(f)},
        {"oracle", f.oracle},
        {"buffer", f.buffer},
        {"side", f.side},
        {"access", f.access},
        {"culprits", f.fault_attributions},
        {"firstSeen", f.first_seen},
        {"lastSeen", f.last_seen},
        {"plan", f.plan},
        {"program", f.program},
        {"replay", f.replay}}}};
}

Json notification(const char* level, std::string_view words) {
  return {{"level", level}, {"message", message_text(words)}};
}

Json notifications(const Night& night, std::size_t left_out) {
  Json out = Json::array();
  if (!night.problem.empty()) out.push_back(notification("error", night.problem));
  if (left_out > 0)
    out.push_back(notification(
        "warning",
        fmt::format("{} findings are left out: a run holds {} results", left_out, kMostResults)));
  for (const NightPlan& p : night.corpus) {
    if (out.size() >= kMostNotifications) break;
    if (is_alarm(p))
      out.push_back(
          notification("error", fmt::format("a plan of the corpus failed: {}: {}", p.file,
                                            outcome_text(p.outcome, p.k, p.n, p.reason))));
  }
  const std::size_t told = std::min(night.not_judged.size(), kMostNotifications);
  for (std::size_t i = 0; i < told; ++i) {
    const NightGap& gap = night.not_judged[i];
    out.push_back(notification("warning", fmt::format("not judged: {}: {}", gap.what, gap.why)));
  }
  if (told < night.not_judged.size())
    out.push_back(notification("warning",
                               fmt::format("not judged: {} more", night.not_judged.size() - told)));
  return out;
}

Json invocation(const Night& night, std::size_t left_out) {
  Json out{{"executionSuccessful", could_judge(night)},
           {"exitCode", night.exit_code},
           {"commandLine", night.command},
           {"startTimeUtc", night.started}};
  if (!night.ended.empty()) out["endTimeUtc"] = night.ended;
  out["toolExecutionNotifications"] = notifications(night, left_out);
  return out;
}

// GitHub uses the part before the last '/' as the category: new results replace those of the same
// category only. A single shard has its own category.
std::string automation_id(const Night& night) {
  if (night.shards <= 1 || night.parts.size() > 1)
    return fmt::format("redzone/nightly/{}", night.campaign);
  return fmt::format("redzone/nightly/shard-{}-of-{}/{}", night.shard, night.shards,
                     night.campaign);
}

}  // namespace

std::string night_sarif(const Night& night) {
  std::vector<const NightFinding*> shown;
  for (const NightFinding& f : night.findings)
    if (f.ledger.standing != Standing::fixed || is_alarm(f)) shown.push_back(&f);
  const std::size_t left_out = shown.size() - std::min(shown.size(), kMostResults);
  shown.resize(shown.size() - left_out);

  std::map<std::string, std::size_t> rules;  // by kind; index within the run
  for (const NightFinding* f : shown) rules.emplace(f->kind, 0);
  Json descriptors = Json::array();
  for (auto& [kind, index] : rules) {
    index = descriptors.size();
    descriptors.push_back({{"id", kind},
                           {"shortDescription", message_text("GPU kernel failure: " + kind)},
                           {"defaultConfiguration", {{"level", "error"}}}});
  }
  Json results = Json::array();
  for (const NightFinding* f : shown) results.push_back(result(*f, rules.at(f->kind)));

  const Json log{{"$schema",
                  "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
                  "sarif-schema-2.1.0.json"},
                 {"version", "2.1.0"},
                 {"runs", Json::array({{{"tool",
                                         {{"driver",
                                           {{"name", "Redzone"},
                                            {"semanticVersion", night.tool_version},
                                            {"rules", std::move(descriptors)}}}}},
                                        {"automationDetails", {{"id", automation_id(night)}}},
                                        {"invocations", Json::array({invocation(night, left_out)})},
                                        {"columnKind", "utf16CodeUnits"},
                                        {"results", std::move(results)},
                                        {"properties",
                                         {{"comparedCalls", night.reference.compared},
                                          {"sampledCalls", night.reference.sampled},
                                          {"callsToCompare", night.reference.calls}}}}})}};
  return log.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace redzone::report
