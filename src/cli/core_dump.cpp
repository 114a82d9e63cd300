#include "cli/core_dump.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "exec/pool.h"

namespace redzone::cli {
namespace {

constexpr const char* kSource = "core dump";
// A driver that is stuck must not stop a campaign.
constexpr int kGdbSeconds = 10;
constexpr std::size_t kMostOutput = 64 * 1024;

// Without the memory of the device the file is small and written in a twentieth of a second.
constexpr const char* kDumpFlags =
    "CUDA_COREDUMP_GENERATION_FLAGS=skip_nonrelocated_elf_images,skip_global_memory,"
    "skip_shared_memory,skip_local_memory,skip_constbank_memory";

Attribution said(std::string detail) {
  Attribution a;
  a.source = kSource;
  a.detail = std::move(detail);
  return a;
}

// A folder that is removed with what is in it; an empty path where none could be made.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "redzone_core_XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string in_quotes(std::string_view word) {
  std::string out = "'";
  for (char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// What the command prints. Its exit status says nothing: cuda-gdb crashes at its end at times.
std::string output_of(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"),
                                                             &::pclose);
  std::string output;
  std::array<char, 4096> part;
  while (pipe && output.size() < kMostOutput &&
         std::fgets(part.data(), part.size(), pipe.get()) != nullptr)
    output += part.data();
  return output;
}

// What follows `before` on its line, without spaces at its ends.
std::string_view rest_of_line(std::string_view text, std::string_view before) {
  const auto at = text.find(before);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + before.size());
  text = text.substr(0, text.find('\n'));
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

// Where the group of parentheses that ends `text` begins; npos when there is none.
std::size_t last_group(std::string_view text) {
  if (text.empty() || text.back() != ')') return std::string_view::npos;
  int depth = 0;
  for (std::size_t i = text.size(); i > 0; --i) {
    depth += text[i - 1] == ')' ? 1 : text[i - 1] == '(' ? -1 : 0;
    if (depth == 0) return i - 1;
  }
  return std::string_view::npos;
}

void trim_end(std::string_view& text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
}

}  // namespace

// "The exception was triggered at PC 0x7f215f7ac280  farkernel(int*)  (q.cu:4)"
Attribution read_cuda_gdb(std::string_view output) {
  const std::string_view exception = rest_of_line(output, "CUDA Exception:");
  std::string_view where = rest_of_line(output, "The exception was triggered at PC 0x");
  if (exception.empty() && where.empty())
    return said("cuda-gdb says nothing of an exception in the core dump");
  Attribution a = said(std::string(exception));
  const auto address_end = where.find(' ');
  where = address_end == std::string_view::npos ? std::string_view() : where.substr(address_end);
  while (!where.empty() && where.front() == ' ') where.remove_prefix(1);
  if (const auto group = last_group(where); group != std::string_view::npos) {
    const std::string_view inside = where.substr(group + 1, where.size() - group - 2);
    const auto colon = inside.rfind(':');
    if (colon != std::string_view::npos && colon + 1 < inside.size() &&
        inside.find_first_not_of("0123456789", colon + 1) == std::string_view::npos) {
      a.location = inside;
      where = where.substr(0, group);
      trim_end(where);
    }
  }
  // The arguments of the kernel.
  if (const auto group = last_group(where); group != std::string_view::npos && group > 0)
    where = where.substr(0, group);
  trim_end(where);
  if (where.starts_with("void ")) where.remove_prefix(5);
  a.kernel = where;
  return a;
}

void CoreDumpAttributor::run(const Plan& plan, const TrialSpec& trial,
                             const std::string& file) const {
  exec::PoolOptions options;
  options.command.argv = {"/usr/bin/env", "CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1", kDumpFlags,
                          "CUDA_COREDUMP_FILE=" + file};
  options.command.argv.insert(options.command.argv.end(), worker_.argv.begin(), worker_.argv.end());
  options.workers = 1;
  options.spares = 0;
  exec::Pool pool(std::move(options));
  pool.submit({0, plan, {trial}, deadline_, false, true});
  while (pool.in_flight() > 0 && !(interrupted_ && interrupted_()))
    pool.next(std::chrono::milliseconds(50));
}

std::vector<Attribution> CoreDumpAttributor::attribute(const Plan& plan, const TrialSpec& trial,
                                                       const Signature& signature) {
  const bool of_device =
      signature.kind == FailKind::illegal_access ||
      (signature.kind == FailKind::fault && signature.where.starts_with("CUDA_ERROR_"));
  if (!of_device) return {};
  if (cuda_gdb_.empty()) return {said("cuda-gdb was not found")};
  const Folder folder;
  if (folder.path().empty()) return {said("no temporary folder for the core dump")};
  const std::string file = (folder.path() / "core").string();
  run(plan, trial, file);
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error))
    return {said("the driver wrote no core dump")};
  return {read_cuda_gdb(
      output_of(fmt::format("timeout -s KILL {} {} -batch -ex {} 2>&1 < /dev/null", kGdbSeconds,
                            in_quotes(cuda_gdb_), in_quotes("target cudacore " + file))))};
}

}  // namespace redzone::cli
