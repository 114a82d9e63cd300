// The stored runs of earlier bisections of a finding.
#pragma once

#include "bisect/prober.h"
#include "store/store.h"

namespace redzone::engine {

// Provide a prober's memory: stored_runs() reads the stored runs of the key, and store_runs()
// stores new ones. `store` is borrowed.
Result<bisect::Memory> stored_runs(store::Store& store, const store::ProbeKey& key);
bisect::Record store_runs(store::Store& store, store::ProbeKey key);

}  // namespace redzone::engine
