// Writes the record of this process (record.h). All functions may be called from a signal handler
// and by any thread; none allocates. Without a record they do nothing.
#pragma once

#include "interpose/record.h"

namespace redzone::interpose {

class Recorder {
 public:
  Recorder() = default;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Creates a record in the folder. False if it cannot be created.
  bool open(const char* folder);
  // In a child of fork(): a record of its own, which has nothing of its parent but `loaded`.
  void reopen_after_fork();
  // False in a child of vfork(), which shares the memory of its parent.
  bool is_of_this_process() const;
  bool is_open() const { return record_ != nullptr; }

  void count(Counter counter, std::uint64_t n = 1);
  void reset(Counter counter);  // to 0
  std::uint64_t counted(Counter counter) const;
  void note(Fact fact);
  bool noted(Fact fact) const;

  // Room for a finding, which the caller fills and then publishes; nullptr if the file is full
  // (counted) or there is none.
  FindingRecord* begin_finding(FindingKind kind);
  // Makes the finding visible to readers and stores the mappings of the process beside it. Of
  // findings of one kind with the same stacks the first is kept, and the others are counted there:
  // a mistake in a loop leaves room for what comes after it.
  void publish(FindingRecord& finding);

  // The places of the last launches; nullptr without a record.
  LaunchRecord* launches();
  // Room for the launches that an error may be of, once; nullptr after that, or without a record.
  LaunchRecord* begin_unfinished();
  void publish_unfinished(std::size_t count, std::uint64_t lost);

  // The number of a new line (Frames::python), by one thread at a time; 0 if there is no room
  // (counted).
  std::uint32_t add_python_line(std::string_view file, std::string_view function,
                                std::uint32_t line);

  // A file beside the record, to be closed by the caller; -1 if it cannot be made.
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
