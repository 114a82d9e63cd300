// Maps an address in the code of a kernel to the line in its source.
#pragma once

#include <string>
#include <unordered_map>

struct backtrace_state;

namespace redzone::device {

// Reads the debug information of all code loaded in this process: call it after plugins are loaded.
class SourceLines {
 public:
  // "shared_race.cu:27" for the instruction before `code`, which is an address behind a call. With
  // inlined functions, the innermost line outside of Redzone's own headers; without debug
  // information, the name and offset of the shared object.
  const std::string& at(const void* code);
  // True if the lines of both are known and differ.
  bool differ(const void* a, const void* b);

 private:
  struct Place {
    std::string text;
    bool is_line = false;  // a line, not an offset
  };
  const Place& place_of(const void* code);

  backtrace_state* state_ = nullptr;  // lives as long as the process
  std::unordered_map<const void*, Place> known_;
};

}  // namespace redzone::device
