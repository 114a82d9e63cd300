#include "guard/launch.h"

#include <algorithm>
#include <cstring>

#include "guard/symbols.h"

namespace redzone::guard {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

template <NamedEnum E>
E named_or(E value, E otherwise) {
  return static_cast<std::size_t>(value) < kEnumTable<E>.names.size() ? value : otherwise;
}

// Returns up to 8 bytes of the arguments as a number; 0 beyond their end.
std::uint64_t value_at(const interpose::LaunchRecord& record, std::size_t at, std::size_t bytes) {
  std::uint64_t out = 0;
  if (at < interpose::kArgumentBytes)
    std::memcpy(&out, record.arguments + at,
                std::min({bytes, kWord, interpose::kArgumentBytes - at}));
  return out;
}

}  // namespace

KernelLaunch launch_of(const interpose::LaunchRecord& record) {
  KernelLaunch out;
  out.ordinal = record.ordinal;
  out.state = named_or(record.state, LaunchState::launched);
  out.kind = named_or(record.kind, LaunchKind::kernel);
  out.kernel = demangled({record.name, ::strnlen(record.name, interpose::kKernelNameBytes)});
  std::copy_n(record.grid, 3, out.grid.begin());
  std::copy_n(record.block, 3, out.block.begin());
  out.shared_bytes = record.shared_bytes;
  out.stream = record.stream;
  out.thread = record.thread;
  const auto parameters = std::min<std::size_t>(record.parameters, interpose::kParametersKept);
  for (std::size_t i = 0; i < parameters; ++i)
    out.arguments.push_back(
        {record.offsets[i], record.sizes[i], value_at(record, record.offsets[i], record.sizes[i])});
  const auto pointers = std::min<std::size_t>(record.pointers_found, interpose::kPointersKept);
  for (std::size_t i = 0; i < pointers; ++i) {
    const auto& p = record.pointers[i];
    out.pointers.push_back({p.offset_bytes,
                            value_at(record, p.offset_bytes, kWord),
                            {p.block_address, p.block_bytes, p.block_ordinal, p.block_freed != 0}});
  }
  return out;
}

}  // namespace redzone::guard
