#include "memory_preload/library/torch_allocator.h"

#include <link.h>

#include <string_view>

namespace redzone::memory_preload {
namespace {

constexpr std::string_view kLibrary = "libc10.so";

struct Search {
  unsigned long long loads_before = 0;
  unsigned long long loads = 0;
  std::uintptr_t begin = 0, end = 0;
};

bool is_wanted(const char* path) {
  const std::string_view file = path == nullptr ? "" : path;
  return file.substr(file.rfind('/') + 1) == kLibrary;
}

// A result other than 0 ends the iteration.
int visit(dl_phdr_info* info, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  search.loads = info->dlpi_adds;
  if (search.loads == search.loads_before) return 1;
  if (!is_wanted(info->dlpi_name)) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    search.begin = info->dlpi_addr + part.p_vaddr;
    search.end = search.begin + part.p_memsz;
  }
  return 1;
}

}  // namespace

bool TorchAllocator::look() {
  if (end_ != 0) return true;
  Search search;
  search.loads_before = loads_;
  ::dl_iterate_phdr(visit, &search);
  loads_ = search.loads;
  begin_ = search.begin;
  end_ = search.end;
  return end_ != 0;
}

}  // namespace redzone::memory_preload
