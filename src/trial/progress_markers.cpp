#include "trial/progress_markers.h"

#include <fmt/format.h>

#include <algorithm>

namespace redzone::trial {
namespace {

constexpr std::size_t kMostKernels = 8;

}  // namespace

void ProgressMarkers::begin() {
  clear();
  last_number_ = 0;
}

void ProgressMarkers::add(int stream, std::int32_t call, std::string_view kernel) {
  // The work of a call is at the end, because markers are due before another call begins.
  Work* of = nullptr;
  for (std::size_t i = count_; i > 0 && of == nullptr && work_[i - 1].call == call; --i)
    if (work_[i - 1].stream == stream && work_[i - 1].number == 0) of = &work_[i - 1];
  if (of == nullptr) {
    if (count_ == work_.size()) work_.emplace_back();
    of = &work_[count_++];
    of->stream = stream;
    of->call = call;
    of->number = 0;
    of->kernels.clear();
  }
  auto& names = of->kernels;
  if (kernel.empty() || names.size() == kMostKernels) return;
  if (std::find(names.begin(), names.end(), kernel) == names.end()) names.emplace_back(kernel);
}

std::span<const ProgressMarkers::Marker> ProgressMarkers::due(std::int32_t next_call) {
  due_.clear();
  // Work without a marker is at the end.
  std::size_t first = count_;
  while (first > 0 && work_[first - 1].number == 0) --first;
  for (std::size_t i = first; i < count_; ++i) {
    if (work_[i].call == next_call) continue;
    work_[i].number = ++last_number_;
    due_.push_back({work_[i].stream, work_[i].number});
  }
  return due_;
}

ProgressMarkers::Attributed ProgressMarkers::attribute(
    const std::function<std::uint32_t(int stream)>& reached) const {
  std::vector<const Work*> first;  // unfinished work of each stream
  for (std::size_t i = 0; i < count_; ++i) {
    const Work& work = work_[i];
    if (work.number != 0 && work.number <= reached(work.stream)) continue;
    const bool later = std::any_of(first.begin(), first.end(),
                                   [&](const Work* w) { return w->stream == work.stream; });
    if (!later) first.push_back(&work);
  }
  Attributed out;
  if (first.empty()) return out;
  const Work& first_unfinished = *first.front();
  out.call = first_unfinished.call;
  const auto add = [&](const std::string& more) {
    out.note += (out.note.empty() ? "" : "; ") + more;
  };
  if (first_unfinished.kernels.size() > 1)
    add(fmt::format("one of its kernels {}", fmt::join(first_unfinished.kernels, ", ")));
  else if (first.size() == 1 && !first_unfinished.kernels.empty())
    out.kernel = first_unfinished.kernels.front();
  if (first.size() > 1) {
    std::string others;
    for (std::size_t i = 1; i < first.size(); ++i)
      others += fmt::format("{}call {} on stream {}", others.empty() ? "" : ", ",
                            first[i]->call + 1, first[i]->stream);
    add(fmt::format("the earliest that was unfinished; so was {}", others));
  }
  return out;
}

}  // namespace redzone::trial
