#include "core/verdict.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

#include "core/trial.h"

namespace redzone {
namespace {

std::size_t place_of(FailKind kind) {
  const auto& names = kEnumTable<FailKind>.names;
  const auto it = std::find_if(names.begin(), names.end(),
                               [&](const auto& named) { return named.value == kind; });
  return static_cast<std::size_t>(it - names.begin());
}

// True if `now` is a write behind dynamic shared memory that no guard page stopped, and `older` is
// how earlier versions named it.
bool is_shared_overrun(const Signature& older, const Signature& now) {
  return older.kind == FailKind::fault && older.where == kSharedOverrunCode &&
         now.kind == FailKind::illegal_access && now.target == older.target &&
         now.buffer == kSharedBuffer && now.side == name_of(Side::after);
}

// True if `now` is a C++ exception, and `older` is how earlier versions named all of them.
bool is_target_error(const Signature& older, const Signature& now) {
  return older.kind == FailKind::fault && older.where == kTargetErrorCode &&
         now.kind == FailKind::fault && now.target == older.target &&
         now.where.starts_with(kException);
}

}  // namespace

bool more_specific(FailKind a, FailKind b) {
  return place_of(a) < place_of(b);
}

bool ends_trial(FailKind kind) {
  switch (kind) {
    case FailKind::launch_config:
    case FailKind::illegal_access:
    case FailKind::misaligned:
    case FailKind::fault:
    case FailKind::hang:
      return true;
    default:
      return false;
  }
}

bool is_direct(FailKind kind) {
  switch (kind) {
    case FailKind::redzone:
    case FailKind::use_after_free:
    case FailKind::race:
    case FailKind::barrier:
    case FailKind::undefined:
    case FailKind::scratch:
    case FailKind::input_changed:
      return true;
    default:
      return ends_trial(kind);
  }
}

bool is_vague(FailKind kind) {
  return kind == FailKind::divergence || kind == FailKind::reference;
}

bool needs_reference(FailKind kind) {
  return kind == FailKind::reference;
}

std::string Signature::text() const {
  std::string out(name_of(kind));
  std::string what;
  for (const std::string* part : {&access, &side, &buffer})
    if (!part->empty()) what += (what.empty() ? "" : " ") + *part;
  if (!what.empty()) out += ": " + what;
  if (!where.empty()) out += (what.empty() ? ": " : " in ") + where;
  return out + " (" + target + ")";
}

std::string Signature::hash() const {
  std::string all(name_of(kind));
  for (const std::string* part : {&target, &where, &buffer, &side, &access}) all += '\0' + *part;
  return fmt::format("{:016x}", XXH3_64bits(all.data(), all.size()));
}

bool same_bug(const Signature& a, const Signature& b) {
  const auto compatible = [](const std::string& x, const std::string& y) {
    return x == y || x.empty() || y.empty();
  };
  // Earlier versions stored only the type of an exception.
  const auto begins = [](const std::string& x, const std::string& y) {
    return x.starts_with(kException) && x.find(' ', kException.size()) == std::string::npos &&
           y.starts_with(x + " in ");
  };
  const bool same_place = a.kind == FailKind::order || compatible(a.where, b.where) ||
                          begins(a.where, b.where) || begins(b.where, a.where);
  return a.kind == b.kind && a.target == b.target && same_place && compatible(a.buffer, b.buffer) &&
         compatible(a.side, b.side) && compatible(a.access, b.access);
}

bool is_fault_of(const Signature& fault, const Signature& canary) {
  Signature as_fault = canary;
  as_fault.kind = FailKind::illegal_access;
  as_fault.where = fault.where;
  return canary.kind == FailKind::redzone && canary.where.empty() && fault == as_fault;
}

bool same_bug_in_any_form(const Signature& a, const Signature& b) {
  return same_bug(a, b) || is_fault_of(a, b) || is_fault_of(b, a);
}

bool fails_as(const Signature& seen, const Signature& recorded) {
  return same_bug_in_any_form(seen, recorded) || is_shared_overrun(recorded, seen) ||
         is_target_error(recorded, seen);
}

}  // namespace redzone
