// The rows that a bisection of each puzzle's plan in repros/ must report as mattering, those that
// it must report as unknown, and no others. Only the tests contain this, never the tool.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace redzone::puzzles {

// By puzzle, in words of `redzone bisect`. A fault or a canary of the guard arena needs its
// allocator, and its placement; what an oracle compares along an axis needs that axis.
inline const std::map<std::string, std::vector<std::string>>& causes() {
  static const std::map<std::string, std::vector<std::string>> all{
      // In a row of 16 columns a value may be large, and then the flag is right.
      {"any_not_cleared", {"C", "data", "poison"}},
      // The second call writes other arguments before the first has read its own.
      {"argument_block", {"call 1", "call 2", "scale", "call 1: scale", "call 2: scale", "launch"}},
      {"cache_key", {"call 1", "call 2", "call 1: D", "call 2: D"}},
      {"complex_pitch", {"R"}},
      // The schedule decides which tile of the second call is left out, if it has several; its part
      // is read either way.
      {"dirty_counter", {"call 1", "call 2", "call 1: N", "poison"}},
      {"double_buffer", {"N", "schedule"}},
      {"empty_row_hang", {"N"}},
      {"far_write", {"N"}},
      {"float8_tail", {"N", "poison"}},
      {"freed_elsewhere", {"launch"}},
      {"freed_too_soon", {"launch"}},
      {"global_race", {"C", "schedule"}},
      {"graph_ended_thread", {"graph", "callers", "allocator"}},
      {"graph_first_shape", {"call 1", "call 2", "call 1: N", "call 2: N"}},
      {"graph_freed_pointer", {"call 1", "call 2", "call 1: N", "call 2: N", "graph", "allocator"}},
      {"index32", {"R", "x layout"}},
      {"kept_by_address",
       {"call 1", "call 2", "call 1: M", "call 2: M", "call 1: N", "call 2: N", "addresses"}},
      {"last_tile", {"N", "allocator"}},
      {"empty_keys", {"N"}},
      {"negative_stride", {"R", "x layout"}},
      {"tma_base", {"x layout"}},
      {"tma_box", {"D"}},
      {"tma_cached_map", {"call 1", "call 2", "call 1: N", "call 2: N"}},
      // Lengths are data: where the first sequence has all rows, none come behind it.
      {"tma_next_rows", {"B", "N", "data"}},
      // Either of two dims of size 1 is enough.
      {"tma_unit_stride", {"TQ", "HQ", "q layout"}},
      // With tiles of 64 columns one tile is enough for both calls.
      {"lazy_grid_frozen", {"call 1", "call 2", "call 1: N", "call 2: N", "tiles"}},
      {"lazy_key_without_n",
       {"call 1", "call 2", "call 1: N", "call 2: N", "call 1: M", "call 2: M", "tiles"}},
      // The second call must find what the first has frozen, so their shapes are the same.
      {"lazy_scratch_first_call",
       {"call 1", "call 2", "N", "call 1: N", "call 2: N", "call 1: M", "call 2: M", "tiles"}},
      {"lazy_scratch_null", {}},
      {"lazy_scratch_num_ctas", {"num_ctas"}},
      {"lazy_scratch_per_cta", {"M", "tiles"}},
      {"lazy_tuning_accumulates", {"tiles"}},
      // Rows of segment 0 are not written: of one row it is always the one, and among more rows
      // there is one in the data that are tried.
      {"masked_garbage", {"poison"}},
      // Where memory holds zeros, nothing that is read too soon is wrong.
      {"missing_edge", {"launch", "poison"}},
      {"missing_wait", {"launch"}},
      // A sequence of two tiles leaves the phase as it was.
      {"odd_phase", {"N", "S"}},
      {"pair_read", {"N", "allocator", "placement", "alignment"}},
      {"pitch_ignored", {"R", "x layout", "poison"}},
      {"pool_overrun", {"N"}},
      {"read_past_end", {"N", "allocator"}},
      // Of a cache of one row the list holds nothing but -1, whatever the data.
      {"row_minus_one", {"R", "allocator"}},
      // It counts positive elements: of data without any a lost count is no loss.
      {"shared_counter", {"call 1", "call 2", "streams", "data", "launch"}},
      {"shared_race", {"N", "schedule"}},
      {"shared_reuse", {"C", "schedule"}},
      {"shared_static", {"call 1", "call 2", "call 1: R", "call 2: R"}},
      {"short_memset", {"poison"}},
      {"stale_event", {"launch"}},
      {"stale_grid", {"call 1", "call 2", "call 1: N", "call 2: N", "poison"}},
      {"stale_page", {"call 1", "call 2", "call 1: P", "call 2: P"}},
      {"stale_pointer", {"call 1", "call 2", "poison"}},
      {"stream_reuse", {"launch"}},
      {"strides_ignored", {"R", "C", "x layout"}},
      {"thread_setup", {"call 1", "call 2", "callers"}},
      {"triangle32", {"N"}},
      {"uninit_scratch", {"K", "poison"}},
      {"unset_flag", {"N", "data", "poison"}},
      {"unset_floor", {"N", "stack"}},
      {"unset_shared", {"N", "poison"}},
      {"vectors_by_input", {"N", "alignment"}},
      {"vectors_by_length", {"N", "alignment"}},
      // A copy that arrives at once is there, whatever is waited for.
      {"wrong_barrier", {"schedule"}},
  };
  return all;
}

// The settings with whose other values it always fails, but otherwise. By puzzle; those that are
// not named have none.
inline const std::map<std::string, std::vector<std::string>>& otherwise_causes() {
  static const std::map<std::string, std::vector<std::string>> all{
      // Over another allocator the request itself is seen to be too small; so it is where the write
      // lands before it.
      {"lazy_scratch_first_call", {"allocator"}},
      {"lazy_scratch_num_ctas", {"allocator"}},
      {"lazy_scratch_per_cta", {"allocator", "placement"}},
      // It reads other wrong values, which are none of the poison.
      {"pitch_ignored", {"allocator"}},
      {"read_past_end", {"placement"}},
      // It reads what another length of the earlier call has left.
      {"stale_pointer", {"call 2: N"}},
  };
  return all;
}

// By puzzle; those that are not named have none.
inline const std::map<std::string, std::vector<std::string>>& unknown_causes() {
  static const std::map<std::string, std::vector<std::string>> all{
      // It writes after its scratch, which is seen in canaries. The other allocators have none, so
      // a run under them does not show that nothing was written.
      {"pool_overrun", {"allocator"}},
  };
  return all;
}

}  // namespace redzone::puzzles
