// An observation in which every member differs from its default, for tests of the wire format and
// the store.
#pragma once

#include <limits>

#include "core/trial.h"

namespace redzone::testing {

inline SanitizerReport sample_sanitizer_report() {
  SanitizerRecord race;
  race.kind = "race";
  return {.tool = SanitizerTool::memcheck,
          .records = {{.kind = "invalid-write",
                       .warning = true,
                       .space = "global",
                       .access = Access::write,
                       .size_bytes = 4,
                       .kernel = "scan",
                       .call = 0,
                       .buffer = "k",
                       .side = Side::before,
                       .distance_bytes = 8,
                       .address = 0x7fffffffffffffff,
                       .thread = "1,0,0",
                       .block = "2,0,0",
                       .location = "scan.cu:7",
                       .other = "write at scan.cu:5 by thread (0,0,0) of block (1,0,0)",
                       .text = "Invalid __global__ write of \"4\" bytes",
                       .count = 3},
                      race},
          .dropped = 5,
          .problem = "the log ends early"};
}

// Its call indices are below 6.
inline Observation sample_observation() {
  Observation o;
  o.end = End::fault;
  o.message = "a message";
  o.fault = Fault{.code = "SIGSEGV",
                  .call = 0,
                  .kernel = "scan",
                  .buffer = "k",
                  .side = Side::after,
                  .access = Access::read,
                  .distance_bytes = 4,
                  .detail = "at 0x7f00",
                  .known_by = "progress markers"};
  CallObservation call;
  call.call = 0;
  call.buffers = {{.name = "x",
                   .role = Role::in,
                   .scratch = true,
                   .surrounded = true,
                   .digest = 0xffffffffffffffffu,
                   .numel = 5,
                   .dirty_before = 6,
                   .dirty_after = 7,
                   .dirty_gaps = 8,
                   .changed = 3,
                   .first_dirty_byte = -9},
                  {.name = "io", .role = Role::inout}};
  call.references = {{.tensor = "y",
                      .numel = 10,
                      .mismatches = 1,
                      .first_index = 3,
                      .got = std::numeric_limits<double>::infinity(),
                      .want = -0.1,
                      .worst = 1e300,
                      .of = 4096}};
  call.launches = {{.kernel = "scan", .grid = {1, 2, 3}, .block = {4, 5, 6}, .shared_bytes = 7}};
  call.scratch = {{.name = "s",
                   .bytes = 256,
                   .align = 128,
                   .bytes_per_cta = 16,
                   .grid = {4, 3, 2},
                   .num_ctas = 2,
                   .need_align = 64}};
  call.comparison = Comparison::left_out;
  call.reference_us = 11;
  o.calls = {call, CallObservation{.call = 4, .buffers = {}, .references = {}, .launches = {}}};
  o.encodes = {{.call = 4,
                .name = "q",
                .code = 801,
                .rule = "stride-alignment",
                .dim = 1,
                .degenerate = true,
                .text = "2 bytes"},
               {.call = 5, .name = "", .rule = "", .text = ""}};
  o.wall_us = 12;
  o.mapping_calls = 13;
  o.idle = true;
  o.bytes = 14;
  o.sanitizer = sample_sanitizer_report();
  o.own_memory = OwnMemory{.blocks = 1,
                           .bytes = 2,
                           .left_out_blocks = 3,
                           .left_out_bytes = 4,
                           .other_blocks = 5,
                           .other_bytes = 6,
                           .unpoisoned_blocks = 7,
                           .unguarded_trials = 8};
  o.order = OrderObservation{
      .candidates = {{.problem = OrderProblem::freed_use,
                      .buffer = "tmp",
                      .buffer_call = 4,
                      .first = {.number = 9,
                                .kind = OperationKind::free,
                                .name = "free",
                                .call = 4,
                                .stream = 0},
                      .second = {.number = 10, .name = "scan", .stream = 1, .side = true}}},
      .directed = true};
  return o;
}

}  // namespace redzone::testing
