#include "device/host/thread_statics.h"

#include <link.h>

// The function that compilers call for a thread-local variable; part of glibc's ABI without a
// header.
struct ThreadStorageIndex {
  unsigned long module, offset;
};
extern "C" void* __tls_get_addr(ThreadStorageIndex*);

namespace redzone::device {

namespace {

struct Found {
  CodeObject object;
  std::byte* storage = nullptr;
  std::size_t module = 0;
};

struct Search {
  std::uintptr_t code;
  std::optional<Found> found;
};

int visit_library(dl_phdr_info* info, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  bool holds_code = false;
  std::size_t tls_bytes = 0;
  std::span<const std::byte> beginning;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_TLS) tls_bytes = segment.p_memsz;
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_offset == 0)
      beginning = {reinterpret_cast<const std::byte*>(begin), segment.p_filesz};
    holds_code |= search.code >= begin && search.code - begin < segment.p_memsz;
  }
  if (!holds_code) return 0;
  const std::string name = info->dlpi_name;
  search.found =
      Found{{name.empty() ? "/proc/self/exe" : name, info->dlpi_addr, tls_bytes, beginning},
            static_cast<std::byte*>(info->dlpi_tls_data),
            info->dlpi_tls_modid};
  return 1;
}

std::optional<Found> find(const void* code) {
  Search search{reinterpret_cast<std::uintptr_t>(code), {}};
  dl_iterate_phdr(visit_library, &search);
  return search.found;
}

}  // namespace

std::span<std::byte> thread_statics_of(const void* code) {
  const auto found = find(code);
  if (!found || found->storage == nullptr) return {};
  return {found->storage, found->object.thread_bytes};
}

ThreadStorage ThreadStorage::of(const void* code) {
  ThreadStorage storage;
  if (const auto found = find(code)) {
    storage.module_ = found->module;
    storage.bytes_ = found->object.thread_bytes;
  }
  return storage;
}

std::span<std::byte> ThreadStorage::here() const {
  if (bytes_ == 0) return {};
  ThreadStorageIndex first{module_, 0};
  return {static_cast<std::byte*>(__tls_get_addr(&first)), bytes_};
}

std::span<std::byte> make_thread_statics_of(const void* code) {
  return ThreadStorage::of(code).here();
}

std::optional<CodeObject> object_of(const void* code) {
  auto found = find(code);
  if (!found) return std::nullopt;
  return std::move(found->object);
}

}  // namespace redzone::device
