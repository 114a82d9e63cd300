// Finds the functions at addresses of another process, using its list of mappings and the files
// that it had mapped. Source lines are not looked up.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace redzone::guard {

struct Frame {
  std::uint64_t address = 0;
  std::string module;        // path of the mapped file; "" if no file is mapped at the address
  std::uint64_t offset = 0;  // within that file
  std::string function;      // demangled; "" if the file has no symbol there
};

// Names without the C++ prefix are returned unchanged.
std::string demangled(const std::string& name);

// One line of /proc/<pid>/maps that maps a file.
struct Mapping {
  std::uint64_t begin = 0, end = 0, offset = 0;
  std::string file;
};
// Skips lines that cannot be parsed.
std::vector<Mapping> parse_mappings(std::string_view text);

// The functions of a 64-bit little-endian ELF file.
class ElfFunctions {
 public:
  // `file`: the whole contents of the file. A damaged file has no functions.
  explicit ElfFunctions(std::string_view file);
  // The linker name of the function that contains this byte of the file; "" if there is none.
  std::string at(std::uint64_t file_offset) const;

 private:
  struct Function {
    std::uint64_t begin = 0, bytes = 0;
    std::string name;
  };
  struct Segment {
    std::uint64_t offset = 0, bytes = 0, address = 0;
  };
  std::vector<Function> functions_;  // sorted by address
  std::vector<Segment> segments_;
};

class Symbols {
 public:
  explicit Symbols(std::string_view mappings);
  // Reads each file once.
  Frame at(std::uint64_t address) const;

 private:
  std::vector<Mapping> mappings_;
  mutable std::map<std::string, std::unique_ptr<ElfFunctions>> files_;
};

}  // namespace redzone::guard
