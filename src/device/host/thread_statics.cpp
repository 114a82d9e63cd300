#include "device/host/thread_statics.h"

#include <link.h>

#include <cstdint>

namespace redzone::device {

namespace {

struct Search {
  std::uintptr_t code;
  std::span<std::byte> found;
};

int visit_library(dl_phdr_info* info, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  bool holds_code = false;
  std::size_t tls_bytes = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_TLS) tls_bytes = segment.p_memsz;
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    holds_code |= search.code >= begin && search.code - begin < segment.p_memsz;
  }
  if (!holds_code) return 0;
  if (info->dlpi_tls_data != nullptr)
    search.found = {static_cast<std::byte*>(info->dlpi_tls_data), tls_bytes};
  return 1;
}

}  // namespace

std::span<std::byte> thread_statics_of(const void* code) {
  Search search{reinterpret_cast<std::uintptr_t>(code), {}};
  dl_iterate_phdr(visit_library, &search);
  return search.found;
}

}  // namespace redzone::device
