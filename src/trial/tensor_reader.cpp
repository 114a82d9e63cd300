#include "trial/tensor_reader.h"

#include <algorithm>

#include "device/buffer_math.h"
#include "device/element_loops.h"
#include "trial/reference_values.h"

namespace redzone::trial {
namespace {

// Reading in windows of this size limits the number of copies and, if rows are far apart, the bytes
// copied, too.
constexpr std::size_t kReadWindowBytes = 256 * 1024;

class Reader {
 public:
  // `fetched`: a copy of the tensor's storage, or null.
  Reader(Session& session, const TensorBuffer& tensor, std::vector<std::byte>& buffer,
         const std::byte* fetched)
      : session_(session),
        storage_(tensor.at.storage),
        end_(storage_ + tensor.storage.bytes),
        fetched_(fetched),
        buffer_(buffer) {}

  // Returns a pointer to a copy of `bytes` at `from`; null if the session stopped. Addresses must
  // ascend.
  const std::byte* get(const std::byte* from, std::size_t bytes) {
    if (fetched_ != nullptr) return fetched_ + (from - storage_);
    if (window_ == 0 || from < from_ || from + bytes > from_ + window_) {
      from_ = from;
      window_ = std::min<std::size_t>(static_cast<std::size_t>(end_ - from),
                                      std::max(bytes, kReadWindowBytes));
      if (buffer_.size() < window_) buffer_.resize(window_);
      if (!session_.read(buffer_.data(), from, window_)) return nullptr;
    }
    return buffer_.data() + (from - from_);
  }

 private:
  Session& session_;
  const std::byte* storage_;
  const std::byte* end_;
  const std::byte* fetched_;
  const std::byte* from_ = nullptr;
  std::size_t window_ = 0;  // valid bytes of the copy
  std::vector<std::byte>& buffer_;
};

}  // namespace

const std::vector<double>* TensorReader::read(Session& session, const TensorBuffer& tensor,
                                              const std::byte* fetched) {
  const DType type = real_type(tensor.dtype);
  const std::size_t value_bytes = dtype_bytes(type);
  const std::int64_t run = tensor.job.size[tensor.job.rank - 1];
  const bool in_order = is_row_major(tensor.view);
  std::vector<double>& values = in_order ? values_ : in_memory_order_;
  values.resize(static_cast<std::size_t>(tensor.job.numel));
  Reader reader(session, tensor, bytes_, fetched);
  for (std::int64_t i = 0; i < tensor.job.numel; i += run) {
    const std::int64_t offset = device::run_offset(tensor.job, i / run);
    const std::byte* bytes =
        reader.get(tensor.at.data + offset * static_cast<std::int64_t>(value_bytes),
                   static_cast<std::size_t>(run) * value_bytes);
    if (bytes == nullptr) return nullptr;
    device::decode_elements(type, bytes, run, values.data() + i);
  }
  if (!in_order) put_in_order(tensor, values.data(), values_);
  return &values_;
}

void TensorReader::forget_large() {
  forget_if_large(in_memory_order_);
  forget_if_large(values_);
  forget_if_large(bytes_);
}

}  // namespace redzone::trial
