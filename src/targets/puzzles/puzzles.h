// The puzzles: each function adds one pair (or one control) and lives in the file of its name.
#pragma once

#include <redzone/target.h>

namespace redzone::puzzles {

void add_any_not_cleared(Registrar& registrar);
void add_argument_block(Registrar& registrar);
void add_atomic_float(Registrar& registrar);
void add_cache_key(Registrar& registrar);
void add_complex_pitch(Registrar& registrar);
void add_dirty_counter(Registrar& registrar);
void add_double_buffer(Registrar& registrar);
void add_empty_keys(Registrar& registrar);
void add_empty_row_hang(Registrar& registrar);
void add_far_write(Registrar& registrar);
void add_float8_tail(Registrar& registrar);
void add_freed_elsewhere(Registrar& registrar);
void add_freed_too_soon(Registrar& registrar);
void add_global_race(Registrar& registrar);
void add_graph_ended_thread(Registrar& registrar);
void add_graph_first_shape(Registrar& registrar);
void add_graph_freed_pointer(Registrar& registrar);
void add_index32(Registrar& registrar);
void add_kept_by_address(Registrar& registrar);
void add_last_tile(Registrar& registrar);
void add_lazy_grid_frozen(Registrar& registrar);
void add_lazy_key_without_n(Registrar& registrar);
void add_lazy_scratch_first_call(Registrar& registrar);
void add_lazy_scratch_null(Registrar& registrar);
void add_lazy_scratch_num_ctas(Registrar& registrar);
void add_lazy_scratch_per_cta(Registrar& registrar);
void add_lazy_tuning_accumulates(Registrar& registrar);
void add_masked_garbage(Registrar& registrar);
void add_missing_edge(Registrar& registrar);
void add_missing_wait(Registrar& registrar);
void add_negative_stride(Registrar& registrar);
void add_odd_phase(Registrar& registrar);
void add_odd_shapes(Registrar& registrar);
void add_pair_read(Registrar& registrar);
void add_pitch_ignored(Registrar& registrar);
void add_pool_overrun(Registrar& registrar);
void add_read_past_end(Registrar& registrar);
void add_row_minus_one(Registrar& registrar);
void add_shared_counter(Registrar& registrar);
void add_shared_race(Registrar& registrar);
void add_shared_reuse(Registrar& registrar);
void add_shared_static(Registrar& registrar);
void add_short_memset(Registrar& registrar);
void add_stale_event(Registrar& registrar);
void add_stale_grid(Registrar& registrar);
void add_stale_page(Registrar& registrar);
void add_stale_pointer(Registrar& registrar);
void add_stream_reuse(Registrar& registrar);
void add_strides_ignored(Registrar& registrar);
void add_thread_setup(Registrar& registrar);
void add_tma_base(Registrar& registrar);
void add_tma_box(Registrar& registrar);
void add_tma_cached_map(Registrar& registrar);
void add_tma_next_rows(Registrar& registrar);
void add_tma_unit_stride(Registrar& registrar);
void add_triangle32(Registrar& registrar);
void add_uninit_scratch(Registrar& registrar);
void add_unset_flag(Registrar& registrar);
void add_unset_floor(Registrar& registrar);
void add_unset_shared(Registrar& registrar);
void add_vectors_by_input(Registrar& registrar);
void add_vectors_by_length(Registrar& registrar);
void add_wrong_barrier(Registrar& registrar);

}  // namespace redzone::puzzles
