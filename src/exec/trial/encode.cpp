#include "exec/trial/encode.h"

#include <fmt/format.h>

#include "exec/trial/call_context.h"
#include "tma/advice.h"
#include "tma/checker.h"

namespace redzone::exec {
namespace {

// Behind the end of a call nothing is asked of the device: as CUDA_ERROR_NOT_READY.
constexpr int kEnded = 600;

}  // namespace

EncodeObservation refused_encode(std::int32_t call, std::string_view name,
                                 const tma::Descriptor& descriptor, int code,
                                 int compute_capability) {
  EncodeObservation o;
  o.call = call;
  o.name = name;
  o.code = code;
  o.text = "no rule that is known here is broken";
  for (const auto& violation : tma::check(descriptor, compute_capability)) {
    if (tma::driver_says(violation.rule) == tma::Says::allows) continue;
    const tma::Advice advice = tma::advise(descriptor, violation);
    o.rule = tma::name_of(violation.rule);
    o.dim = violation.dim;
    o.degenerate = violation.degenerate;
    o.text = fmt::format("{}: {} is {}; allowed: {}. {} {}", o.rule, advice.where, advice.is,
                         advice.limit, advice.why, advice.change);
    break;
  }
  return o;
}

void explain_by_encodes(Fault& fault, std::span<const EncodeObservation> encodes) {
  for (const auto& e : encodes) {
    if (e.call != fault.call || fault.detail.find(e.text) != std::string::npos) continue;
    fault.detail += fmt::format("{}the descriptor of '{}' was not encoded: {}",
                                fault.detail.empty() ? "" : "; ", e.name, e.text);
  }
}

EncodeStatus CallContext::encode_tiled(std::string_view name, const tma::Descriptor& descriptor,
                                       TensorMap& map) {
  if (ended()) return {kEnded, "the call has ended"};
  auto& session = state_.session;
  const auto answer = session.device().encode(descriptor, map);
  if (!answer) {
    session.stop(answer.error());
    return {kEnded, answer.error().detail};
  }
  if (*answer == 0) return {};
  auto refused =
      refused_encode(call(), name, descriptor, *answer, session.device().info().compute_capability);
  EncodeStatus status{*answer, refused.text};
  auto& noted = state_.encodes;
  if (noted.size() < kMostEncodeObservations && (noted.empty() || noted.back() != refused))
    noted.push_back(std::move(refused));
  return status;
}

}  // namespace redzone::exec
