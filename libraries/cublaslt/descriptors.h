// Owning handles of cuBLASLt's descriptors, and the values of the attributes that are used here
// (cublasLt.h of CUDA 13.0; plugin.cu compares them with the header).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "cublaslt/library.h"

namespace redzone::libraries::cublaslt {

inline constexpr int kBatchCount = 5, kBatchStride = 6;  // attributes of a matrix layout
inline constexpr int kTransA = 3, kTransB = 4, kEpilogue = 7, kBias = 8, kBiasType = 26;
inline constexpr int kBiasBatchStride = 10;  // attributes of a product, with the line above
inline constexpr int kWorkspaceBytes = 1, kAlignmentOfA = 5;  // attributes of a preference

// Layout of cublasLtMatmulHeuristicResult_t.
struct Heuristic {
  std::uint64_t algorithm[8];
  std::size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

// A descriptor of the kind "MatmulDesc", "MatrixLayout" or "MatmulPreference". After a failed step,
// status() keeps its result and later steps do nothing.
class Descriptor {
 public:
  template <class... A>
  explicit Descriptor(std::string kind, A... args) : kind_(std::move(kind)) {
    status_ =
        library().function<int(void**, A...)>("cublasLt" + kind_ + "Create")(&handle_, args...);
  }
  ~Descriptor() {
    if (handle_ != nullptr) library().function<int(void*)>("cublasLt" + kind_ + "Destroy")(handle_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  template <class T>
  void set(int attribute, const T& value) {
    if (status_ != 0) return;
    status_ = library().function<int(void*, int, const void*, std::size_t)>(
        "cublasLt" + kind_ + "SetAttribute")(handle_, attribute, &value, sizeof value);
  }
  void* get() const { return handle_; }
  int status() const { return status_; }

 private:
  std::string kind_;
  void* handle_ = nullptr;
  int status_ = 0;
};

}  // namespace redzone::libraries::cublaslt
