#include "report/html.h"

#include <algorithm>

#include "core/error.h"
#include "page_css.h"
#include "page_elements_js.h"
#include "page_findings_js.h"
#include "page_html.h"
#include "page_night_js.h"
#include "page_trends_js.h"
#include "report/json_parts.h"
#include "report/night_formats.h"
#include "report/night_words.h"
#include "report/safe_text.h"

namespace redzone::report {
namespace {

constexpr std::size_t kMostFindings = 2'000;

// Appends the page up to `mark`, which must occur, then `text`; returns the rest of the page.
std::string_view append_until(std::string& out, std::string_view page, std::string_view mark,
                              std::string_view text) {
  const std::size_t at = page.find(mark);
  RZ_CHECK(at != std::string_view::npos);
  out += page.substr(0, at);
  out += text;
  return page.substr(at + mark.size());
}

std::string data_of(const Night& night) {
  const std::size_t kept = std::min(night.findings.size(), kMostFindings);
  Night shown = night;
  shown.findings.resize(kept);
  for (NightFinding& f : shown.findings) {
    if (f.ledger.link.empty() || web_link(f.ledger.link)) continue;
    f.ledger.note = f.ledger.note.empty() ? f.ledger.link : f.ledger.link + " " + f.ledger.note;
    f.ledger.link.clear();
  }
  // Totals over all findings, including omitted ones. The seed is a string, because JavaScript's
  // numbers are exact only up to 2^53.
  Json all{{"seed", std::to_string(night.seed)}, {"left_out", night.findings.size() - kept},
           {"alarms", alarms_of(night).count()}, {"verdict", verdict_sentence(night)},
           {"to_look_at", alarm_texts(night)},   {"shards", shard_text(night)},
           {"standings", Json::object()}};
  for (const auto& f : night.findings) {
    auto& count = all["standings"][std::string(name_of(f.ledger.standing))];
    count = (count.is_null() ? 0 : count.get<std::int64_t>()) + 1;
  }
  std::string data = all.dump();
  data.back() = ',';
  return data + "\"report\":" + night_json(shown) + '}';
}

}  // namespace

std::string night_html(const Night& night) {
  std::string out;
  std::string_view page = page_html;
  page = append_until(out, page, "{{style}}", page_css);
  page = append_until(out, page, "{{data}}", json_in_html(data_of(night)));
  std::string script;
  for (const std::string_view part :
       {page_elements_js, page_findings_js, page_trends_js, page_night_js})
    script += part;
  page = append_until(out, page, "{{script}}", script);
  out += page;
  return out;
}

}  // namespace redzone::report
