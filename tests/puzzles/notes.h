// The note in the first lines of a puzzle's file (format: src/targets/puzzles/kit.h).
#pragma once

#include <redzone/spec.h>

#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/plan.h"
#include "core/verdict.h"

namespace redzone::puzzles {

struct Minimum {
  std::vector<Call> calls;  // dims, with integer knobs among them as in the note, and layouts
  Mode mode = {.launch = Launch::blocking};
  // A file of repros/ with the plan, if calls alone do not describe it; then `calls` is empty.
  std::string file = {};
};

// One way to fail, and the smallest plan that shows it; several plans if none is the simplest.
struct Expectation {
  std::vector<FailKind> kinds;       // any of these kinds
  std::string access, side, buffer;  // "" if the note omits it
  std::vector<Minimum> minima;
};

struct Note {
  std::string name;
  bool control = false;  // correct; must never be flagged
  std::string bug, kin;  // "" for a control
  std::vector<Expectation> expectations;

  std::string puzzle() const { return "puzzle." + name; }
  std::string twin() const { return (control ? "control." : "twin.") + name; }
};

// How GoogleTest names the parameter of a test.
inline void PrintTo(const Note& note, std::ostream* out) {
  *out << note.name;
}

// `where` is the beginning of error messages.
Result<Note> parse_note(std::string_view source, std::string_view where);

// Files of the source tree that hold a puzzle or a control, by name.
std::vector<std::filesystem::path> puzzle_files();
Result<Note> read_note(const std::filesystem::path& file);

// All shipped notes that can be read.
std::vector<Note> shipped_notes();

// The plan of `minimum` for `target`, otherwise in the plainest mode. Aborts if its file cannot be
// read.
Plan minimal_plan(const Minimum& minimum, const TargetSpec& target);

// Whether `plan` is the minimum; a call that it repeats counts as so many calls of a note. For a
// plan from a file the schedule may differ, because any schedule that shows the race is valid.
bool is_minimum(const Plan& plan, const Minimum& minimum, const TargetSpec& target);

// Whether `signature` matches the expectation. Parts that the note omits match anything.
bool matches(const Expectation& expectation, const Signature& signature);

}  // namespace redzone::puzzles
