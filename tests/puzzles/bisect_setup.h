// The reduced plan of a puzzle, with real workers to run it and an oracle to judge it.
#pragma once

#include <algorithm>
#include <fstream>
#include <iterator>

#include "bisect/bisect.h"
#include "bisect/evaluator_runner.h"
#include "core/repro.h"
#include "core/validate.h"
#include "puzzles/causes.h"
#include "puzzles/notes.h"
#include "puzzles/puzzle_pool.h"
#include "puzzles/shipped.h"

namespace redzone::puzzles {

inline Repro stored_repro(const Note& note) {
  std::ifstream in(std::filesystem::path(REPROS) / (note.name + ".toml"));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  auto repro = parse_repro(text, note.name);
  RZ_CHECK(repro && repro->signature);
  complete(repro->plan, shipped_spec(note.puzzle()));
  return std::move(*repro);
}

class BisectSetup {
 public:
  explicit BisectSetup(const Note& note)
      : repro_(stored_repro(note)), spec_(shipped_spec(note.puzzle())) {
    // A hang costs its deadline each time; all other failures end much sooner.
    const bool hangs = repro_.signature->kind == FailKind::hang;
    evaluator_.set_deadline(hangs ? std::chrono::milliseconds(300) : kDeadline);
    options_.axes = {catalog_.axes(), catalog_.find(repro_.oracle)->varies()};
  }

  bisect::Runner& runner() { return runner_; }
  const Plan& plan() const { return repro_.plan; }
  const TargetSpec& spec() const { return spec_; }
  const bisect::BisectOptions& options() const { return options_; }

 private:
  Repro repro_;
  const TargetSpec& spec_;
  exec::Pool pool_{puzzle_pool(0)};
  oracles::Catalog catalog_;
  campaign::Evaluator evaluator_{pool_, spec_, kDeadline};
  bisect::EvaluatorRunner runner_{evaluator_, catalog_, *catalog_.find(repro_.oracle),
                                  *repro_.signature};
  bisect::BisectOptions options_;
};

// The rows that the bisection reports as mattering, ascending.
inline std::vector<std::string> answer_of(const bisect::Bisection& b) {
  std::vector<std::string> rows;
  for (const auto& row : b.rows)
    if (row.relevance() != bisect::Relevance::irrelevant &&
        row.relevance() != bisect::Relevance::unknown)
      rows.push_back(row.axis);
  std::sort(rows.begin(), rows.end());
  return rows;
}

// The rows that the bisection could not decide.
inline std::vector<std::string> unknown_in(const bisect::Bisection& b) {
  std::vector<std::string> rows;
  for (const auto& row : b.rows)
    if (row.relevance() == bisect::Relevance::unknown) rows.push_back(row.axis);
  return rows;
}

// Sorted in ascending order, like answer_of().
inline std::vector<std::string> cause_of(const Note& note) {
  auto cause = causes().at(note.name);
  std::sort(cause.begin(), cause.end());
  return cause;
}

inline std::vector<std::string> unknown_of(const Note& note) {
  const auto known = unknown_causes().find(note.name);
  return known == unknown_causes().end() ? std::vector<std::string>{} : known->second;
}

}  // namespace redzone::puzzles
