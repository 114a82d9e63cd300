#include "trial/encode.h"

#include <fmt/format.h>

#include "tma/advice.h"
#include "tma/checker.h"
#include "trial/call_context.h"

namespace redzone::trial {
namespace {

// Returned after the end of a call, when the device is not called: CUDA_ERROR_NOT_READY.
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
    o.rule = name_of(violation.rule);
    o.dim = violation.dim;
    o.degenerate = violation.degenerate;
    o.text = fmt::format("{}: {} is {}; allowed: {}. {} {}", o.rule, advice.where, advice.is,
                         advice.limit, advice.why, advice.change);
    break;
  }
  return o;
}

EncodeStatus RefusedEncodes::note(std::int32_t call, std::string_view name,
                                  const tma::Descriptor& descriptor, int code,
                                  int compute_capability) {
  if (!all_.empty() && last_ == descriptor && all_.back().call == call &&
      all_.back().name == name && all_.back().code == code)
    return {code, all_.back().text};
  if (all_.size() == kMostEncodeObservations)
    return {code, fmt::format("not explained, as {} before it were", kMostEncodeObservations)};
  auto refused = refused_encode(call, name, descriptor, code, compute_capability);
  last_ = descriptor;
  if (all_.empty() || all_.back() != refused) all_.push_back(std::move(refused));
  return {code, all_.back().text};
}

void RefusedEncodes::clear() {
  all_.clear();
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
  return state_.refused.note(call(), name, descriptor, *answer,
                             session.device().info().compute_capability);
}

}  // namespace redzone::trial
