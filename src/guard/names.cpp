#include "guard/names.h"

namespace redzone::guard {
namespace {

using interpose::Counter;

struct Row {
  Counter counter;
  std::string_view key, meaning;
};

constexpr Row kRows[] = {
    {Counter::device_blocks, "device_blocks", ""},
    {Counter::device_frees, "device_frees", ""},
    {Counter::slots_mapped, "slots_mapped", ""},
    {Counter::slots_reused, "slots_reused", ""},
    {Counter::slots_retired, "slots_retired", ""},
    {Counter::canaries_checked, "canaries_checked", ""},
    {Counter::frees_deferred, "frees_deferred", ""},
    {Counter::launches, "launches", ""},
    {Counter::launches_unnamed, "launches_unnamed",
     "launches of kernels that --kernels does not name: none was waited for, checked after or "
     "held"},
    {Counter::streams_held, "streams_held", ""},
    {Counter::faults_survived, "faults_survived",
     "guard pages were replaced by memory after an access (--on-error continue)"},
    {Counter::export_tables, "export_tables",
     "tables of functions of the driver were handed out, as to each program with the CUDA runtime: "
     "calls through them are not seen"},
    {Counter::next_lookups, "next_lookups",
     "lookups of the next definition of a driver's function: calls through them are not seen"},
    {Counter::newer_versions, "newer_versions",
     "functions of the driver were handed out in a version that the guard does not know: calls of "
     "them are not seen"},
    {Counter::deep_binds, "deep_binds",
     "libraries were opened with RTLD_DEEPBIND: what they call is not seen"},
    {Counter::namespaces, "namespaces",
     "libraries were opened into another namespace: what they call is not seen"},
    {Counter::ipc_refused, "ipc_refused",
     "handles for other processes were refused, because the memory is guarded"},
    {Counter::host_blocks, "host_blocks", ""},
    {Counter::host_frees, "host_frees", ""},
    {Counter::host_unpoisoned, "host_unpoisoned",
     "blocks were too large to be poisoned; they have guard pages"},
    {Counter::findings_dropped, "findings_dropped",
     "findings had no room in the record: no mark covers them"},
    {Counter::lines_dropped, "lines_dropped",
     "places in stacks of Python have no line: the record has room for 8,192 different ones, 2,048 "
     "of them for the program's own"},
    {Counter::left_out_capture, "left_out_capture",
     "allocations in or during the capture of a graph"},
    {Counter::left_out_no_vmm, "left_out_no_vmm",
     "allocations on a device without virtual memory management"},
    {Counter::left_out_memory, "left_out_memory", "allocations without memory for a slot"},
    {Counter::left_out_refused, "left_out_refused", "allocations whose slot the driver refused"},
    {Counter::left_out_managed, "left_out_managed", "allocations of managed memory"},
    {Counter::left_out_pool, "left_out_pool",
     "allocations from a pool of the host, of another device or for other processes"},
    {Counter::left_out_pinned, "left_out_pinned", "allocations of pinned memory of the host"},
    {Counter::left_out_mapped, "left_out_mapped", "allocations that the program maps itself"},
    {Counter::left_out_shared, "left_out_shared",
     "small allocations over --max-memory, between canaries instead of guard pages"},
    {Counter::left_out_mappings, "left_out_mappings",
     "allocations for which the system allows no more mappings (vm.max_map_count)"},
    {Counter::left_out_chosen, "left_out_chosen", "allocations that --only or --skip leave out"},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < std::size(kRows); ++i)
    if (kRows[i].counter != static_cast<Counter>(i)) return false;
  return std::size(kRows) == interpose::kCounters;
}
static_assert(in_order(), "each counter has a row, in their order");

}  // namespace

std::string_view key_of(Counter counter) {
  return kRows[static_cast<std::size_t>(counter)].key;
}

std::string_view meaning_of(Counter counter) {
  return kRows[static_cast<std::size_t>(counter)].meaning;
}

// The CUDA runtime requests internal tables when it starts: 7 in a program that does nothing more.
// Which ones is undocumented, so tables that the program itself requests cannot be distinguished.
bool is_usual(Counter counter) {
  return counter == Counter::export_tables;
}

}  // namespace redzone::guard
