#include "report/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "core/error.h"
#include "core/utf8.h"
#include "report/format.h"
#include "report/night_words.h"
#include "report/reference.h"
#include "report/safe_text.h"

namespace redzone::report {
namespace {

constexpr std::size_t kLongestText = 600;    // bytes of a text within a row
constexpr std::size_t kReserved = 4 * 1024;  // for the last paragraph

std::string brief(std::string_view text) {
  return text.size() <= kLongestText ? std::string(text)
                                     : std::string(cut_utf8(text, kLongestText)) + "…";
}
std::string words(std::string_view text) {
  return markdown_text(brief(text));
}
std::string code(std::string_view text) {
  return markdown_cell_code(brief(text));
}
std::string link_reference(std::string_view link) {
  const auto safe = web_link(link);
  return safe ? fmt::format("<{}>", *safe) : words(link);
}

// The text so far, and the parts that did not fit.
class Summary {
 public:
  explicit Summary(std::size_t most_bytes) : most_(most_bytes - kReserved) {}

  // A short, bounded text that is always included.
  void line(std::string_view text) { text_ += text; }

  // A section with a row or block for each of `count` elements; omitted if `count` is 0.
  void section(std::string_view title, std::string_view head, std::size_t count,
               const std::function<std::string(std::size_t)>& row) {
    if (count == 0) return;
    std::size_t told = 0;
    std::string body = fmt::format("\n## {}\n\n{}", title, head);
    for (; told < count && !full_; ++told) {
      const std::string next = row(told);
      if (text_.size() + body.size() + next.size() > most_) {
        full_ = true;
        break;
      }
      body += next;
    }
    if (told > 0) text_ += body;
    if (told < count)
      cuts_.push_back(
          fmt::format("{} of {} under “{}”", grouped(count - told), grouped(count), title));
  }

  std::string text() && {
    if (!cuts_.empty())
      text_ += fmt::format(
          "\n**This summary is cut to fit: left out {}.** The page (index.html) and night.json "
          "have more.\n",
          fmt::join(cuts_, ", "));
    return std::move(text_);
  }

 private:
  std::size_t most_;
  std::string text_;
  std::vector<std::string> cuts_;
  bool full_ = false;  // once true, later (less urgent) parts are omitted, too
};

using Group = std::vector<const NightFinding*>;

template <class Want>
Group group(const Night& night, Want want) {
  Group out;
  for (const NightFinding& f : night.findings)
    if (want(f)) out.push_back(&f);
  return out;
}

void add_findings(Summary& summary, std::string_view title, const Group& findings) {
  summary.section(title, "| id | state | finding | tonight | reproduce |\n|---:|---|---|---|---|\n",
                  findings.size(), [&](std::size_t i) {
                    const NightFinding& f = *findings[i];
                    std::string state(name_of(f.ledger.standing));
                    if (!f.ledger.link.empty()) state += " " + link_reference(f.ledger.link);
                    if (!f.ledger.note.empty()) state += " " + words(f.ledger.note);
                    return fmt::format("| {} | {} | {} | {} | {} |\n", f.id, state,
                                       code(f.signature), words(outcome_text(f)), code(f.replay));
                  });
}

void add_plans(Summary& summary, std::string_view title,
               const std::vector<const NightPlan*>& plans) {
  summary.section(
      title, "| plan | tonight | reproduce |\n|---|---|---|\n", plans.size(), [&](std::size_t i) {
        const NightPlan& p = *plans[i];
        return fmt::format("| {} | {} | {} |\n", code(p.file),
                           words(outcome_text(p.outcome, p.k, p.n, p.reason)), code(p.replay));
      });
}

std::string plan_block(const NightFinding& f) {
  std::string out =
      fmt::format("<details><summary>finding {}</summary>\n\nSignature: {}. Reason: {}.\n\n", f.id,
                  words(f.signature), words(f.reason));
  if (!f.attribution.empty()) {
    out += "| axis | value | failed |\n|---|---|---:|\n";
    for (const auto& row : f.attribution)
      out += fmt::format("| {} | {} | {}/{} |\n", words(row.axis), words(row.value), row.k, row.n);
    out += '\n';
  }
  const auto source =
      f.program.empty() ? markdown_block(f.plan, "toml") : markdown_block(f.program, "sh");
  return out + markdown_block(f.replay, "sh") + '\n' + source + "\n</details>\n\n";
}

std::string target_row(const NightTarget& t) {
  const auto count = [&](Standing s) {
    const auto it = t.findings.find(s);
    return it == t.findings.end() ? 0 : it->second;
  };
  return fmt::format("| {} | {} | {} | {} | {:.1f} | {} | {} | {} | {} | {} | {} |\n", code(t.name),
                     grouped(t.plans), grouped(t.calls), compared_count(t.reference),
                     t.device_seconds, count(Standing::fresh), count(Standing::regressed),
                     count(Standing::known), count(Standing::fixed), count(Standing::quarantined),
                     words(t.not_fuzzed));
}

void add_heading(Summary& summary, const Night& night) {
  const auto alarms = alarm_texts(night);
  summary.line(fmt::format("# Redzone: {}\n\n", alarms.empty()
                                                    ? std::string(verdict_sentence(night))
                                                    : fmt::format("{}", fmt::join(alarms, "; "))));
  if (!alarms.empty()) summary.line(fmt::format("{}\n", verdict_sentence(night)));
  if (!night.problem.empty())
    summary.line(fmt::format("\n**Problem:** {}\n", words(night.problem)));
  summary.line(fmt::format(
      "\nNight {} on {}, {}{}{}: {} plans, {} calls, {} planted bugs caught. "
      "Verdicts: {} pass, {} fail, {} inconclusive, {} not applicable, {} harness errors.\n",
      night.campaign, words(night.device), words(night.started),
      night.ended.empty() ? ", cut off" : " to " + words(night.ended),
      night.shards > 1 ? ", " + shard_text(night) : "", grouped(night.plans), grouped(night.calls),
      night.planted_bugs_caught, grouped(night.pass), grouped(night.fail),
      grouped(night.inconclusive), grouped(night.not_applicable), grouped(night.harness_errors)));
  if (const std::string compared = compared_text(night.reference); !compared.empty())
    summary.line(fmt::format("\n{}\n", compared));
  if (!night.commit.empty()) summary.line(fmt::format("\nCommit {}.\n", words(night.commit)));
}

}  // namespace

std::string night_markdown(const Night& night) {
  return night_markdown(night, kMostSummaryBytes);
}

std::string night_markdown(const Night& night, std::size_t most_bytes) {
  RZ_CHECK(most_bytes >= 16 * 1024);
  Summary summary(most_bytes);
  const Group alarms = group(night, [](const NightFinding& f) { return is_alarm(f); });
  std::vector<const NightPlan*> failed, others;
  for (const NightPlan& p : night.corpus) (is_alarm(p) ? failed : others).push_back(&p);
  const auto quiet = [&](Standing standing) {
    return group(night, [standing](const NightFinding& f) {
      return !is_alarm(f) && f.ledger.standing == standing;
    });
  };
  add_heading(summary, night);
  add_findings(summary, "Needs attention", alarms);
  add_plans(summary, "Corpus plans that failed", failed);
  summary.section("Not judged", "None of this is a pass.\n\n| what | why |\n|---|---|\n",
                  night.not_judged.size(), [&](std::size_t i) {
                    const NightGap& gap = night.not_judged[i];
                    return fmt::format("| {} | {} |\n", words(gap.what), words(gap.why));
                  });
  summary.section(
      "Targets",
      "| target | plans | calls | compared | device s | new | regressed | known | fixed | "
      "quarantined | not fuzzed because |\n"
      "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|\n",
      night.targets.size(), [&](std::size_t i) { return target_row(night.targets[i]); });
  add_findings(summary, "Regressed, did not fail tonight", quiet(Standing::regressed));
  add_findings(summary, "Known", quiet(Standing::known));
  add_findings(summary, "Fixed", quiet(Standing::fixed));
  add_findings(summary, "Quarantined", quiet(Standing::quarantined));
  add_findings(summary, "New, not confirmed or not failing tonight", quiet(Standing::fresh));
  add_plans(summary, "Corpus", others);
  summary.section("Plans of what needs attention", "", alarms.size(),
                  [&](std::size_t i) { return plan_block(*alarms[i]); });
  return std::move(summary).text();
}

}  // namespace redzone::report
