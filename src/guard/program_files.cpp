#include "guard/program_files.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

namespace redzone::guard {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPartBytes = std::size_t{1} << 20;

// Reads the file in parts, because a program may exceed the size limit of read_file().
std::optional<ProgramFile> file_at(const fs::path& path) {
  std::error_code error;
  if (!path.is_absolute() || !fs::is_regular_file(path, error)) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       XXH3_freeState);
  if (!in || !state || XXH3_64bits_reset(state.get()) == XXH_ERROR) return std::nullopt;
  ProgramFile out;
  out.path = path.string();
  std::vector<char> part(kPartBytes);
  do {
    in.read(part.data(), static_cast<std::streamsize>(part.size()));
    const auto got = static_cast<std::size_t>(in.gcount());
    XXH3_64bits_update(state.get(), part.data(), got);
    out.bytes += got;
  } while (in);
  if (in.bad()) return std::nullopt;
  out.hash = fmt::format("{:016x}", XXH3_64bits_digest(state.get()));
  return out;
}

}  // namespace

std::vector<ProgramFile> files_of(const Started& started, const std::string& program) {
  std::vector<ProgramFile> out;
  if (auto file = file_at(program)) out.push_back(*std::move(file));
  if (const auto script = script_of_program(started.argv))
    if (auto file = file_at(fs::path(started.folder) / *script)) out.push_back(*std::move(file));
  return out;
}

std::vector<std::string> changed_files(const std::vector<ProgramFile>& recorded) {
  std::vector<std::string> out;
  for (const auto& file : recorded)
    if (file_at(file.path) != file) out.push_back(file.path);
  return out;
}

}  // namespace redzone::guard
