#include "report/tma_agreement.h"

#include <fmt/format.h>

#include "report/format.h"
#include "report/json_parts.h"
#include "report/tma_names.h"

namespace redzone::report {
namespace {

const char* word(tma::Says says) {
  switch (says) {
    case tma::Says::forbids:
      return "forbids";
    case tma::Says::allows:
      return "allows";
    case tma::Says::nothing:
      break;
  }
  return "nothing";
}

std::string names_of(const std::vector<tma::Rule>& rules) {
  std::string out;
  for (const auto rule : rules) out += (out.empty() ? "" : ", ") + std::string(name_of(rule));
  return out.empty() ? "none" : out;
}

std::string rules_text(const std::vector<tma::RuleCount>& rules) {
  Table table({{"rule"},
               {"manual"},
               {"driver, as known"},
               {"broken", Table::Align::right},
               {"alone: accepted", Table::Align::right},
               {"rejected", Table::Align::right}});
  for (const auto& r : rules)
    table.add({std::string(name_of(r.rule)), word(tma::manual_says(r.rule)),
               word(tma::driver_says(r.rule)), grouped(r.broken), grouped(r.alone_accepted),
               grouped(r.alone_rejected)});
  return table.text("  ");
}

Json rule_json(const tma::RuleCount& r) {
  const auto* row = tma::difference_of(r.rule);
  return {{"rule", name_of(r.rule)},
          {"manual", word(tma::manual_says(r.rule))},
          {"driver", word(tma::driver_says(r.rule))},
          {"source", row == nullptr ? Json(nullptr) : Json(row->source)},
          {"broken", r.broken},
          {"alone_accepted", r.alone_accepted},
          {"alone_rejected", r.alone_rejected}};
}

Json disagreement_json(const tma::Disagreement& d) {
  Json rules = Json::array();
  for (const auto rule : d.rules) rules.push_back(name_of(rule));
  return {{"driver", d.driver_accepts ? "accepts" : "rejects"},
          {"rules", std::move(rules)},
          {"descriptors", d.descriptors},
          {"smallest", descriptor_json(d.smallest)},
          {"found", descriptor_json(d.found)}};
}

}  // namespace

std::string agreement_text(const AgreementRun& run) {
  const auto& a = run.agreement;
  std::string out = fmt::format(
      "{}, driver {}, seed {}{}\n"
      "  descriptors  {}, of which the driver accepts {}\n"
      "  agreed       {}\n"
      "  open         {} break only rules whose answer by the driver was not known\n"
      "  disagreed    {}\n"
      "  checker      {}/s\n"
      "  driver       {}/s\n\n",
      printable(run.device), printable(run.driver), run.seed, a.stopped ? ", interrupted" : "",
      grouped(a.descriptors), grouped(a.driver_accepted), grouped(a.agreed), grouped(a.open),
      grouped(a.disagreed), rate(per_second(a.descriptors, a.checker_s)),
      rate(per_second(a.descriptors, a.driver_s)));
  out += rules_text(a.rules);
  for (const auto& d : a.disagreements)
    out += fmt::format(
        "\nthe driver {} a descriptor that the checker {}: rules broken: {} ({})\n  {}\n",
        d.driver_accepts ? "accepts" : "rejects", d.driver_accepts ? "rejects" : "accepts",
        names_of(d.rules), counted(d.descriptors, "descriptor"), text_of(d.smallest));
  if (a.not_reduced > 0)
    out += fmt::format("\n{} more disagreed, of further kinds\n",
                       counted(a.not_reduced, "descriptor"));
  return out;
}

std::string agreement_json(const AgreementRun& run) {
  const auto& a = run.agreement;
  Json rules = Json::array(), disagreements = Json::array();
  for (const auto& rule : a.rules) rules.push_back(rule_json(rule));
  for (const auto& d : a.disagreements) disagreements.push_back(disagreement_json(d));
  const Json out = {{"device", run.device},
                    {"driver", run.driver},
                    {"seed", run.seed},
                    {"descriptors", a.descriptors},
                    {"agreed", a.agreed},
                    {"open", a.open},
                    {"disagreed", a.disagreed},
                    {"driver_accepted", a.driver_accepted},
                    {"checker_per_s", per_second(a.descriptors, a.checker_s)},
                    {"driver_per_s", per_second(a.descriptors, a.driver_s)},
                    {"stopped", a.stopped},
                    {"rules", std::move(rules)},
                    {"disagreements", std::move(disagreements)},
                    {"not_reduced", a.not_reduced}};
  return print(out);
}

}  // namespace redzone::report
