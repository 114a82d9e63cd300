// The main program of a harness built without libFuzzer: runs every file of the given folders.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/harness.h"

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path());  // repros/ has folders, too
  std::sort(files.begin(), files.end());
  return files;
}

void replay(const fs::path& file) {
  // Printed first, so after a crash the last line names the file.
  std::printf("%s\n", file.c_str());
  std::fflush(stdout);
  std::ifstream in(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int count, char** arguments) {
  int replayed = 0;
  for (int i = 1; i < count; ++i)
    for (const auto& file : files_in(arguments[i])) {
      replay(file);
      ++replayed;
    }
  if (replayed > 0) return 0;
  std::fprintf(stderr, "no input: name a folder of a corpus\n");
  return 1;
}
