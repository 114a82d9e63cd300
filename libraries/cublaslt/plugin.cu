// The plugin `cublaslt`.
#include "common/plugin_entry.h"
#include "cublaslt/library.h"
#include "cublaslt/matmul.h"

REDZONE_LIBRARY_ENTRY {
  using namespace redzone::libraries;
  return plugin_info<cublaslt::add_matmuls, prepare<cublaslt::library>>();
}
