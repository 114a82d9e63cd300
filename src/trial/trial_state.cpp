#include "trial/trial_state.h"

#include <span>

namespace redzone::trial {

void TrialState::begin(const TrialSpec& trial, const StreamUse& used, std::int32_t call_count,
                       std::size_t most_bytes) {
  mode = trial.mode;
  const bool wide = trial.wide_canaries && mode.allocator == Allocator::guard;
  margin_bytes_ = wide ? device::kCanaryWindowBytes : 0;
  streams = used;
  fills_.clear();
  workspaces.clear();
  allocations.clear();
  growing.clear();
  host_buffers.clear();
  spent.clear();
  calls.assign(static_cast<std::size_t>(call_count), {});
  positions_.assign(trial.order.empty() ? 0 : calls.size(), -1);
  for (std::size_t i = 0; i < trial.order.size(); ++i)
    if (trial.order[i] < positions_.size())  // else the trial does not run
      positions_[trial.order[i]] = static_cast<std::int32_t>(i);
  refused.clear();
  forget_watched();
  memory.begin(mode.allocator, most_bytes);
  session.begin(trial, streams.all(), streams.plan, markers);
}

std::optional<Place> TrialState::acquire(Storage storage, device::Region& region, int stream) {
  storage.margin_bytes = margin_bytes_;
  const auto got = memory.acquire(region_bytes(storage), stream);
  if (!got) return std::nullopt;
  region = *got;
  return place(*got, storage, mode);
}

std::optional<Place> TrialState::acquire_lasting(Storage storage, device::Region& region) {
  storage.margin_bytes = margin_bytes_;
  const auto got = memory.acquire_lasting(region_bytes(storage));
  if (!got) return std::nullopt;
  region = *got;
  return place(*got, storage, mode);
}

bool TrialState::fill_once(const device::BufferJob& job, int stream) {
  fills_.push_back(job);
  return session.capturing() || flush_fills(stream);
}

bool TrialState::flush_fills(int stream) {
  if (fills_.empty()) return true;
  const int fills = streams.fills(stream);
  const bool done = session.fill(fills, fills_) && session.fork_from(fills, streams.all());
  fills_.clear();
  return done;
}

device::NamedRange TrialState::named(const std::string& name, std::int32_t call, const Place& at,
                                     std::size_t bytes) const {
  const bool reordered = call >= 0 && !positions_.empty();
  return {name,       call,
          at.storage, at.storage + bytes,
          at.region,  reordered ? positions_.at(static_cast<std::size_t>(call)) : -1};
}

void TrialState::watch(const std::string& name, std::int32_t call, const Place& at,
                       std::size_t bytes, bool constant) {
  if (!checks && sanitizer == nullptr) return;
  watched_.push_back(named(name, call, at, bytes));
  if (session.record() != nullptr) session.record()->add({name, call, at.storage, bytes, constant});
}

bool TrialState::make_ready() {
  flush_watch();
  return session.synchronize() && !session.stopped();
}

void TrialState::flush_watch() {
  if (session.lost() || (!retell_ && told_ == watched_.size())) return;
  if (retell_)
    session.device().watch(watched_);
  else  // only the new names, because a long plan has many
    session.device().watch_more(std::span(watched_).subspan(told_));
  told_ = watched_.size();
  retell_ = false;
}

void TrialState::drain_sanitizer(std::int32_t call) {
  if (sanitizer == nullptr) return;
  sanitizer->drain(call < 0 && calls.size() == 1 ? 0 : call, watched_);
}

void TrialState::forget_watched() {
  watched_.clear();
  told_ = 0;
  retell_ = true;
  if (!checks && sanitizer == nullptr) return;
  for_each_lasting([&](const RawBuffer& b) {
    if (b.freed && !b.watched) return;
    watched_.push_back(named(b.label, b.call, b.at, b.bytes));
  });
}

}  // namespace redzone::trial
