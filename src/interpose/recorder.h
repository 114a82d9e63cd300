// Writes the record of this process (record.h). All functions may be called from a signal handler
// and by any thread; none allocates. They do nothing if there is no record.
#pragma once

#include "interpose/record.h"

namespace redzone::interpose {

class Recorder {
 public:
  Recorder() = default;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Creates a record in the folder. Returns false if it cannot be created.
  bool open(const char* folder);
  // In a child of fork(): opens a separate record, with the parent's Python lines and cpu_proven
  // only.
  void reopen_after_fork();
  // False in a child of vfork(), which shares the memory of its parent.
  bool is_of_this_process() const;
  bool is_open() const { return record_ != nullptr; }

  void count(Counter counter, std::uint64_t n = 1);
  void reset(Counter counter);  // sets the counter to 0
  std::uint64_t counted(Counter counter) const;
  void note(Fact fact);
  bool noted(Fact fact) const;

  // Returns a slot for a finding, which the caller fills and then publishes; nullptr if the file is
  // full (counted) or there is no record.
  FindingRecord* begin_finding(FindingKind kind);
  // Makes the finding visible to readers and stores the mappings of the process in a file beside
  // the record. If a complete finding has the same kind and stacks, only increments its repeat
  // count, so that an error in a loop does not use up the room for later findings.
  void publish(FindingRecord& finding);

  // The slots of the last launches; nullptr without a record.
  LaunchRecord* launches();
  // Slots for the launches that may have caused an error; nullptr after the first call, or without
  // a record.
  LaunchRecord* begin_unfinished();
  void publish_unfinished(std::size_t count, std::uint64_t lost);

  // Returns the number of a new line (Frames::python), or 0 if there is no room (counted). One
  // thread at a time.
  std::uint32_t add_python_line(std::string_view file, std::string_view function,
                                std::uint32_t line);

  // Creates a file beside the record, to be closed by the caller; -1 if this fails.
  int create_beside(std::string_view suffix) const;

 private:
  void save_maps() const;

  Record* record_ = nullptr;
  char folder_[4096] = {};
  char stem_[4160] = {};
};

// The recorder of this process.
Recorder& recorder();

}  // namespace redzone::interpose
