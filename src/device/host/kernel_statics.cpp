#include "device/host/kernel_statics.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "core/elf_image.h"
#include "core/fd.h"

namespace redzone::device {
namespace {

// The file of this process's program or of one of its libraries, mapped for reading.
class MappedFile {
 public:
  explicit MappedFile(const std::string& file) {
    const Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status = {};
    if (!fd || ::fstat(fd.get(), &status) != 0 || status.st_size <= 0) return;
    void* const at = ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ,
                            MAP_PRIVATE, fd.get(), 0);
    if (at != MAP_FAILED)
      bytes_ = {static_cast<const char*>(at), static_cast<std::size_t>(status.st_size)};
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }

  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

// The prefix of the names of a function's local variables, in the encoding of the Itanium C++ ABI.
// The name of a clone of a function has a suffix behind a dot, but the names of its variables do
// not.
std::string prefix_of_locals(std::string_view function) {
  function = function.substr(0, function.find('.'));
  if (function.starts_with("_Z")) return fmt::format("_ZZ{}E", function.substr(2));
  return fmt::format("_ZZ{}{}E", function.size(), function);  // extern "C"
}

}  // namespace

std::vector<KernelStatics::Place> KernelStatics::places_of(const void* kernel) {
  const auto object = object_of(kernel);
  if (!object || object->thread_bytes == 0) return {};
  const MappedFile file(object->file);
  // The file may have been built again since it was loaded.
  const std::span<const std::byte> loaded = object->beginning;
  const auto now = part_of(file.bytes(), 0, loaded.size());
  if (!now || std::memcmp(now->data(), loaded.data(), loaded.size()) != 0) return {};
  const auto image = ElfImage::open(file.bytes());
  if (!image) return {};
  const std::uint64_t at = reinterpret_cast<std::uintptr_t>(kernel) - object->base;
  std::vector<std::string> prefixes;  // aliases are rare
  std::vector<std::pair<std::string_view, Elf64_Sym>> locals;
  image->each_symbol(SHT_SYMTAB, [&](const Elf64_Sym& symbol, std::string_view name) {
    if (symbol.st_shndx == SHN_UNDEF) return;
    const auto type = ELF64_ST_TYPE(symbol.st_info);
    if (type == STT_FUNC && symbol.st_value == at)
      prefixes.push_back(prefix_of_locals(name));
    else if (type == STT_TLS && name.starts_with("_ZZ"))
      locals.emplace_back(name, symbol);
  });
  std::erase_if(locals, [&](const auto& local) {
    return std::none_of(prefixes.begin(), prefixes.end(),
                        [&](const std::string& prefix) { return local.first.starts_with(prefix); });
  });
  std::vector<Place> places;
  for (const auto& [name, symbol] : locals)
    if (symbol.st_value <= object->thread_bytes &&
        symbol.st_size <= object->thread_bytes - symbol.st_value)
      places.push_back({symbol.st_value, symbol.st_size});
  return places;
}

const KernelStatics::Variables& KernelStatics::of(const void* kernel) {
  const auto [at, is_new] = known_.try_emplace(kernel);
  Known& known = at->second;
  if (is_new) {
    known.storage = ThreadStorage::of(kernel);
    known.places = places_of(kernel);
  }
  if (known.places.empty()) return known.variables;
  const std::span<std::byte> all = known.storage.here();
  if (all.data() == known.begin) return known.variables;
  known.begin = all.data();
  known.variables.clear();
  for (const Place& place : known.places)
    known.variables.push_back(all.subspan(place.offset, place.bytes));
  return known.variables;
}

}  // namespace redzone::device
