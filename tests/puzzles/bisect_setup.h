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

// The rows with one of these relevances, ascending.
inline std::vector<std::string> rows_with(const bisect::Bisection& b,
                                          std::initializer_list<bisect::Relevance> relevances) {
  std::vector<std::string> rows;
  for (const auto& row : b.rows)
    for (const auto relevance : relevances)
      if (row.relevance() == relevance) rows.push_back(row.axis);
  std::sort(rows.begin(), rows.end());
  return rows;
}

// The rows that the bisection reports as mattering, ascending.
inline std::vector<std::string> answer_of(const bisect::Bisection& b) {
  using enum bisect::Relevance;
  return rows_with(b, {necessary, sufficient, both, conditional});
}

// Of a table of causes.h, ascending.
inline std::vector<std::string> rows_of(
    const std::map<std::string, std::vector<std::string>>& table, const Note& note) {
  const auto known = table.find(note.name);
  auto rows = known == table.end() ? std::vector<std::string>{} : known->second;
  std::sort(rows.begin(), rows.end());
  return rows;
}

}  // namespace redzone::puzzles
