// The runs of earlier bisections of a finding, as the store keeps them.
#pragma once

#include "bisect/prober.h"
#include "store/store.h"

namespace redzone::engine {

// A prober's memory of what is stored under the key, and what adds to it; `store` is borrowed.
Result<bisect::Memory> stored_runs(store::Store& store, const store::ProbeKey& key);
bisect::Record store_runs(store::Store& store, store::ProbeKey key);

}  // namespace redzone::engine
