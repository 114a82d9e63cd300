// Field tables of Observation and of all structs that it contains, for sending and storing. The
// names are those of stores and of `--json`. A store of an earlier build lacks members that were
// added later, so new members are sparse.
#pragma once

#include "core/field_table.h"
#include "core/trial.h"

namespace redzone {

constexpr auto field_table(std::type_identity<Fault>) {
  return fields<Fault>(field("code", &Fault::code), field("call", &Fault::call),
                       sparse("kernel", &Fault::kernel), sparse("buffer", &Fault::buffer),
                       field("side", &Fault::side), field("access", &Fault::access),
                       sparse("distance_bytes", &Fault::distance_bytes),
                       sparse("detail", &Fault::detail), sparse("known_by", &Fault::known_by));
}

constexpr auto field_table(std::type_identity<BufferObservation>) {
  using B = BufferObservation;
  return fields<B>(field("name", &B::name), field("role", &B::role), sparse("scratch", &B::scratch),
                   sparse("surrounded", &B::surrounded), field("digest", &B::digest),
                   field("numel", &B::numel), sparse("dirty_before", &B::dirty_before),
                   sparse("dirty_after", &B::dirty_after), sparse("dirty_gaps", &B::dirty_gaps),
                   sparse("changed", &B::changed),
                   sparse("first_dirty_byte", &B::first_dirty_byte));
}

constexpr auto field_table(std::type_identity<ReferenceObservation>) {
  using R = ReferenceObservation;
  return fields<R>(field("tensor", &R::tensor), field("numel", &R::numel),
                   field("mismatches", &R::mismatches), field("first_index", &R::first_index),
                   field("got", &R::got), field("want", &R::want), field("worst", &R::worst),
                   sparse("of", &R::of));
}

constexpr auto field_table(std::type_identity<LaunchObservation>) {
  using L = LaunchObservation;
  return fields<L>(field("kernel", &L::kernel), field("grid", &L::grid), field("block", &L::block),
                   sparse("shared_bytes", &L::shared_bytes));
}

constexpr auto field_table(std::type_identity<ScratchObservation>) {
  using S = ScratchObservation;
  return fields<S>(field("name", &S::name), field("bytes", &S::bytes), field("align", &S::align),
                   field("bytes_per_cta", &S::bytes_per_cta), field("grid", &S::grid),
                   field("num_ctas", &S::num_ctas), field("need_align", &S::need_align));
}

constexpr auto field_table(std::type_identity<CallObservation>) {
  using C = CallObservation;
  return fields<C>(field("call", &C::call), sparse("buffers", &C::buffers),
                   sparse("references", &C::references), sparse("launches", &C::launches),
                   sparse("scratch", &C::scratch), sparse("comparison", &C::comparison),
                   sparse("reference_us", &C::reference_us));
}

constexpr auto field_table(std::type_identity<EncodeObservation>) {
  using E = EncodeObservation;
  return fields<E>(field("call", &E::call), field("name", &E::name), field("code", &E::code),
                   sparse("rule", &E::rule), field("dim", &E::dim),
                   sparse("degenerate", &E::degenerate), sparse("text", &E::text));
}

constexpr auto field_table(std::type_identity<SanitizerRecord>) {
  using R = SanitizerRecord;
  return fields<R>(field("kind", &R::kind), sparse("warning", &R::warning),
                   sparse("space", &R::space), field("access", &R::access),
                   sparse("size_bytes", &R::size_bytes), sparse("kernel", &R::kernel),
                   field("call", &R::call), sparse("buffer", &R::buffer), field("side", &R::side),
                   sparse("distance_bytes", &R::distance_bytes), sparse("address", &R::address),
                   sparse("thread", &R::thread), sparse("block", &R::block),
                   sparse("location", &R::location), sparse("other", &R::other),
                   sparse("text", &R::text), field("count", &R::count));
}

constexpr auto field_table(std::type_identity<SanitizerReport>) {
  using R = SanitizerReport;
  return fields<R>(field("tool", &R::tool), field("records", &R::records),
                   sparse("dropped", &R::dropped), sparse("problem", &R::problem));
}

constexpr auto field_table(std::type_identity<OwnMemory>) {
  using M = OwnMemory;
  return fields<M>(sparse("blocks", &M::blocks), sparse("bytes", &M::bytes),
                   sparse("left_out_blocks", &M::left_out_blocks),
                   sparse("left_out_bytes", &M::left_out_bytes),
                   sparse("other_blocks", &M::other_blocks), sparse("other_bytes", &M::other_bytes),
                   sparse("unpoisoned_blocks", &M::unpoisoned_blocks),
                   sparse("unguarded_trials", &M::unguarded_trials));
}

constexpr auto field_table(std::type_identity<OrderedOperation>) {
  using O = OrderedOperation;
  return fields<O>(field("number", &O::number), sparse("kind", &O::kind), field("name", &O::name),
                   field("call", &O::call), field("stream", &O::stream), sparse("side", &O::side));
}

constexpr auto field_table(std::type_identity<OrderCandidate>) {
  using C = OrderCandidate;
  return fields<C>(field("problem", &C::problem), field("buffer", &C::buffer),
                   field("buffer_call", &C::buffer_call), field("first", &C::first),
                   field("second", &C::second));
}

constexpr auto field_table(std::type_identity<OrderObservation>) {
  using O = OrderObservation;
  return fields<O>(sparse("candidates", &O::candidates), sparse("directed", &O::directed));
}

constexpr auto field_table(std::type_identity<Observation>) {
  using O = Observation;
  return fields<O>(field("end", &O::end), sparse("message", &O::message),
                   sparse("fault", &O::fault), sparse("calls", &O::calls),
                   sparse("encodes", &O::encodes), field("wall_us", &O::wall_us),
                   sparse("mapping_calls", &O::mapping_calls), sparse("bytes", &O::bytes),
                   sparse("idle", &O::idle), sparse("sanitizer", &O::sanitizer),
                   sparse("own_memory", &O::own_memory), sparse("order", &O::order));
}

}  // namespace redzone
