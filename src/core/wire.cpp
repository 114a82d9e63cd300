#include "core/wire.h"

#include "core/spec_names.h"

namespace redzone {

using wire::Archive;

void fields(Archive& a, Layout& v) {
  a(v.row_padding_elems, v.transposed, v.offset_elems, v.unit_stride, v.hnd, v.slice_elems,
    v.broadcast_dim, v.reversed_dim);
}
void fields(Archive& a, PoolPolicy& v) {
  a(v.follow_event_dependencies, v.allow_opportunistic, v.allow_internal_dependencies,
    v.release_threshold_bytes);
}
void fields(Archive& a, Mode& v) {
  a.enumerated(v.launch);
  a.enumerated(v.allocator);
  a.enumerated(v.placement);
  a(v.poison, v.schedule_seed, v.pool);
  a.enumerated(v.sanitizer);
}
void fields(Archive& a, Call& v) {
  a(v.dims, v.config, v.layouts, v.seed);
}
void fields(Archive& a, CallStep& v) {
  a(v.call, v.repeat, v.stream, v.graph);
}
void fields(Archive&, SyncStep&) {}
void fields(Archive& a, WaitStep& v) {
  a(v.stream, v.on);
}
void fields(Archive& a, ReplayStep& v) {
  a(v.graph, v.repeat, v.stream);
}
void fields(Archive& a, Plan& v) {
  a(v.target, v.mode, v.steps);
}
void fields(Archive& a, TrialSpec& v) {
  a(v.mode, v.order, v.reference, v.plain_graphs, v.left_out);
}
void fields(Archive& a, Fault& v) {
  a(v.code, v.call, v.kernel, v.buffer);
  a.enumerated(v.side);
  a.enumerated(v.access);
  a(v.distance_bytes, v.detail, v.known_by);
}
void fields(Archive& a, BufferObservation& v) {
  a(v.name);
  a.enumerated(v.role);
  a(v.scratch, v.digest, v.numel, v.dirty_before, v.dirty_after, v.dirty_gaps, v.changed,
    v.first_dirty_byte);
}
void fields(Archive& a, ReferenceObservation& v) {
  a(v.tensor, v.numel, v.mismatches, v.first_index, v.got, v.want, v.worst);
}
void fields(Archive& a, LaunchObservation& v) {
  a(v.kernel);
  for (auto& g : v.grid) a(g);
  for (auto& b : v.block) a(b);
  a(v.shared_bytes);
}
void fields(Archive& a, ScratchObservation& v) {
  a(v.name, v.bytes, v.align, v.bytes_per_cta);
  for (auto& g : v.grid) a(g);
  a(v.num_ctas, v.need_align);
}
void fields(Archive& a, CallObservation& v) {
  a(v.call, v.buffers, v.references, v.launches, v.scratch);
  a.enumerated(v.comparison);
  a(v.reference_us);
}
void fields(Archive& a, EncodeObservation& v) {
  a(v.call, v.name, v.code, v.rule, v.dim, v.degenerate, v.text);
}
void fields(Archive& a, SanitizerRecord& v) {
  a(v.kind, v.warning, v.space);
  a.enumerated(v.access);
  a(v.size_bytes, v.kernel, v.call, v.buffer);
  a.enumerated(v.side);
  a(v.distance_bytes, v.address, v.thread, v.block, v.location, v.text, v.count);
}
void fields(Archive& a, SanitizerReport& v) {
  a.enumerated(v.tool);
  a(v.records, v.dropped, v.problem);
}
void fields(Archive& a, Observation& v) {
  a.enumerated(v.end);
  a(v.message, v.fault, v.calls, v.encodes, v.wall_us, v.mapping_calls, v.bytes, v.sanitizer);
}

}  // namespace redzone
