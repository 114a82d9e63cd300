// The plugin `puzzles`: small targets with one planted bug each, their fixed variants, and
// controls.
#include "puzzles.h"

REDZONE_PLUGIN(registrar) {
  using namespace redzone::puzzles;
  for (auto add : {add_argument_block,
                   add_atomic_float,
                   add_cache_key,
                   add_dirty_counter,
                   add_empty_keys,
                   add_empty_row_hang,
                   add_far_write,
                   add_global_race,
                   add_graph_first_shape,
                   add_graph_freed_pointer,
                   add_index32,
                   add_last_tile,
                   add_lazy_grid_frozen,
                   add_lazy_key_without_n,
                   add_lazy_scratch_first_call,
                   add_lazy_scratch_null,
                   add_lazy_scratch_num_ctas,
                   add_lazy_scratch_per_cta,
                   add_lazy_tuning_accumulates,
                   add_masked_garbage,
                   add_missing_edge,
                   add_negative_stride,
                   add_odd_shapes,
                   add_pitch_ignored,
                   add_pool_overrun,
                   add_read_past_end,
                   add_row_minus_one,
                   add_shared_counter,
                   add_shared_race,
                   add_shared_static,
                   add_stale_grid,
                   add_stale_pointer,
                   add_stream_reuse,
                   add_strides_ignored,
                   add_tma_base,
                   add_tma_box,
                   add_tma_cached_map,
                   add_tma_next_rows,
                   add_tma_unit_stride,
                   add_uninit_scratch})
    add(registrar);
}
