#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "report/json_parts.h"
#include "report/tma.h"
#include "report/tma_names.h"

namespace redzone::report {
namespace {

template <class T, std::size_t N>
Json used(const std::array<T, N>& values, std::uint32_t rank, std::uint32_t less) {
  const std::size_t count = rank > less ? std::min<std::size_t>(rank - less, N) : 0;
  return std::vector<T>(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count));
}

Json advice(const tma::Advice& a) {
  const Json dim = a.violation.dim < 0 ? Json(nullptr) : Json(a.violation.dim);
  return {{"rule", name_of(a.violation.rule)},
          {"dim", dim},
          {"field", a.where},
          {"value", a.is},
          {"limit", a.limit},
          {"degenerate", a.violation.degenerate},
          {"why", a.why},
          {"change", a.change}};
}

Json advices(const std::vector<tma::Advice>& all) {
  Json out = Json::array();
  for (const auto& a : all) out.push_back(advice(a));
  return out;
}

Json outcome(const std::optional<tma::Outcome>& outcome) {
  if (!outcome) return nullptr;
  return {{"code", outcome->code < 0 ? Json(nullptr) : Json(outcome->code)},
          {"words", outcome->words}};
}

Json diagnosis(const tma::Diagnosis& d) {
  return {{"verdict", name_of(d.verdict)},
          {"line", d.line},
          {"times", d.times},
          {"descriptor",
           d.verdict == tma::Verdict::unreadable ? Json(nullptr) : descriptor_json(d.descriptor)},
          {"error", outcome(d.outcome)},
          {"broken", advices(d.broken)},
          {"doubtful", advices(d.doubtful)},
          {"not_judged", d.not_judged},
          {"notes", d.notes}};
}

}  // namespace

Json descriptor_json(const tma::Descriptor& d) {
  Json out = {{"kind", d.kind == tma::Kind::tiled ? "tiled" : "im2col"},
              {"format", tma::name_or_number(d.type)},
              {"rank", d.rank},
              {"address", fmt::format("{:#x}", d.address)},
              {"dims", used(d.dims, d.rank, 0)},
              {"strides", used(d.strides, d.rank, 1)}};
  if (d.kind == tma::Kind::tiled) {
    out["box"] = used(d.box, d.rank, 0);
  } else {
    out["lower_corner"] = used(d.lower, d.rank, 2);
    out["upper_corner"] = used(d.upper, d.rank, 2);
    out["channels"] = d.channels;
    out["pixels"] = d.pixels;
  }
  out["element_strides"] = used(d.element_strides, d.rank, 0);
  out["interleave"] = tma::name_or_number(d.interleave);
  out["swizzle"] = tma::name_or_number(d.swizzle);
  out["promotion"] = tma::name_or_number(d.promotion);
  out["fill"] = tma::name_or_number(d.fill);
  return out;
}

std::string explanation_json(const tma::Explanation& explanation) {
  Json descriptors = Json::array();
  for (const auto& d : explanation.diagnoses) descriptors.push_back(diagnosis(d));
  const Json out = {{"blocks", explanation.blocks},
                    {"left_out", explanation.left_out},
                    {"verdict", name_of(verdict_of(explanation))},
                    {"descriptors", std::move(descriptors)}};
  return print(out);
}

}  // namespace redzone::report
