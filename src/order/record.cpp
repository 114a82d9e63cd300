#include "order/record.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.h"

namespace redzone::order {
namespace {

// Uses of one buffer between two waits of the host; later uses are compared with these only.
constexpr std::size_t kMostPast = 64;

}  // namespace

void Record::add(Buffer buffer) {
  const std::byte* const begin = buffer.begin;
  const std::byte* const end = begin + buffer.bytes;
  auto it = by_begin_.lower_bound(begin);
  if (it != by_begin_.begin()) {
    const auto before = std::prev(it);
    const Buffer& other = buffers_[before->second].buffer;
    if (other.begin + other.bytes > begin) by_begin_.erase(before);
  }
  while (it != by_begin_.end() && (it->first < end || it->first == begin)) it = by_begin_.erase(it);
  by_begin_[begin] = buffers_.size();
  buffers_.push_back({std::move(buffer), {}, {}});
}

std::optional<std::size_t> Record::find(const std::byte* at) const {
  auto it = by_begin_.upper_bound(at);
  if (it == by_begin_.begin()) return std::nullopt;
  --it;
  const Buffer& buffer = buffers_[it->second].buffer;
  if (at < buffer.begin + buffer.bytes || at == buffer.begin) return it->second;
  return std::nullopt;
}

void Record::add_use(const std::byte* at, std::size_t bytes, bool writes,
                     std::vector<Use>& out) const {
  const auto found = find(at);
  if (!found) return;
  const auto first = static_cast<std::size_t>(at - buffers_[*found].buffer.begin);
  out.push_back({*found, first, first + bytes, writes});
}

std::vector<Record::Use> Record::uses_of(const LaunchArgs& args) const {
  std::vector<Use> out;
  for (std::size_t i = 0; i < args.count; ++i) {
    const auto* parameter = static_cast<const std::byte*>(args.pointers[i]);
    for (std::size_t k = 0; k + sizeof(void*) <= args.sizes[i]; k += sizeof(void*)) {
      const std::byte* word = nullptr;
      std::memcpy(&word, parameter + k, sizeof word);
      const auto found = find(word);
      if (!found) continue;
      const Buffer& buffer = buffers_[*found].buffer;
      if (std::none_of(out.begin(), out.end(), [&](const Use& u) { return u.buffer == *found; }))
        out.push_back({*found, 0, buffer.bytes, !buffer.constant});
    }
  }
  return out;
}

std::optional<Record::Operation> Record::enqueue(const Named& by, const std::vector<Use>& uses,
                                                 Place at) {
  if (capture_) {
    for (const Use& use : uses) capture_->uses.emplace_back(by, use);
    return std::nullopt;
  }
  const Operation operation = order_.enqueue(index(at.stream));
  for (const Use& use : uses) note({operation, by, at, use});
  return operation;
}

std::optional<Record::Operation> Record::launch(std::string_view kernel, const LaunchArgs& args,
                                                Place at) {
  return enqueue({OperationKind::kernel, std::string(kernel), at.call}, uses_of(args), at);
}

std::optional<Record::Operation> Record::copy(const void* to, const void* from, std::size_t bytes,
                                              Place at) {
  std::vector<Use> uses;
  add_use(static_cast<const std::byte*>(to), bytes, true, uses);
  add_use(static_cast<const std::byte*>(from), bytes, false, uses);
  return enqueue(named(OperationKind::copy, at.call), uses, at);
}

std::optional<Record::Operation> Record::memset(const void* to, std::size_t bytes, Place at) {
  std::vector<Use> uses;
  add_use(static_cast<const std::byte*>(to), bytes, true, uses);
  return enqueue(named(OperationKind::memset, at.call), uses, at);
}

Record::Operation Record::use(OperationKind kind,
                              std::span<const std::span<const std::byte>> ranges, bool writes,
                              Place at) {
  RZ_CHECK(!capture_);
  std::vector<Use> uses;
  for (const auto& range : ranges) add_use(range.data(), range.size(), writes, uses);
  return *enqueue(named(kind, at.call), uses, at);
}

Record::Operation Record::free(const void* begin, Place at) {
  const Operation operation = order_.enqueue(index(at.stream));
  const auto found = find(static_cast<const std::byte*>(begin));
  if (!found) return operation;
  Known& known = buffers_[*found];
  Past now{
      operation, named(OperationKind::free, at.call), at, {*found, 0, known.buffer.bytes, true}};
  note(now);
  known.freed = std::move(now);
  return operation;
}

Record::Operation Record::host_use(const void* begin, std::int32_t call) {
  const Operation operation = order_.on_host();
  const auto found = find(static_cast<const std::byte*>(begin));
  if (!found) return operation;
  note({operation,
        named(OperationKind::host, call),
        {call, 0},
        {*found, 0, buffers_[*found].buffer.bytes, true}});
  return operation;
}

void Record::synchronize() {
  order_.synchronize();
  for (const std::size_t used : used_) buffers_[used].past.clear();
  used_.clear();
}

void Record::end_capture(bool kept) {
  RZ_CHECK(capture_);
  if (kept) graphs_.push_back(std::move(*capture_));
  capture_.reset();
}

std::optional<Record::Operation> Record::replay(int graph, Place at) {
  RZ_CHECK(graph >= 1 && static_cast<std::size_t>(graph) <= graphs_.size());
  Graph& replayed = graphs_[static_cast<std::size_t>(graph) - 1];
  if (capture_) {
    capture_->uses.insert(capture_->uses.end(), replayed.uses.begin(), replayed.uses.end());
    return std::nullopt;
  }
  order_.wait(index(at.stream), replayed.last);
  const Operation operation = order_.enqueue(index(at.stream));
  replayed.last = order_.record(index(at.stream));
  for (const auto& [by, use] : replayed.uses) note({operation, by, at, use});
  return operation;
}

void Record::note(Past now) {
  Known& known = buffers_[now.use.buffer];
  const bool frees = now.by.kind == OperationKind::free;
  if (known.freed && !frees && order_.before(known.freed->operation, now.operation))
    suspect(OrderProblem::freed_use, known, *known.freed, now);
  for (const Past& past : known.past) {
    const bool overlap = past.use.first < now.use.end && now.use.first < past.use.end;
    if (past.operation == now.operation || !overlap || !(past.use.writes || now.use.writes) ||
        order_.before(past.operation, now.operation))
      continue;
    const bool is_free = frees || past.by.kind == OperationKind::free;
    suspect(now.by.kind == OperationKind::host ? OrderProblem::host_use
            : is_free                          ? OrderProblem::unordered_free
                                               : OrderProblem::unordered_use,
            known, past, now);
  }
  if (known.past.size() == kMostPast) return;
  if (known.past.empty()) used_.push_back(now.use.buffer);
  known.past.push_back(std::move(now));
}

OrderedOperation Record::shown(const Past& past) const {
  const bool side = past.at.stream >= plan_streams_;
  return {.number = past.operation,
          .kind = past.by.kind,
          .name = past.by.name,
          .call = past.by.call,
          .stream = side ? past.at.stream - plan_streams_ + 1 : past.at.stream,
          .side = side};
}

void Record::suspect(OrderProblem problem, const Known& known, const Past& first,
                     const Past& second) {
  const auto found = [](const Past& past) { return Found{past.by.kind, past.by.name}; };
  OrderCandidate pair{problem, known.buffer.name, known.buffer.call, shown(first), shown(second)};
  const auto [at, is_new] = kept_.try_emplace(
      {problem, known.buffer.name, found(first), found(second)}, Kept{candidates_.size()});
  Kept& kept = at->second;
  if (!is_new && candidates_[kept.first].second.call == pair.second.call) return;
  if (kept.latest) {
    candidates_[*kept.latest] = std::move(pair);
    return;
  }
  if (candidates_.size() == kMostOrderCandidates) {
    if (is_new) kept_.erase(at);
    return;
  }
  if (!is_new) kept.latest = candidates_.size();
  candidates_.push_back(std::move(pair));
}

}  // namespace redzone::order
