// Fills and checks of buffers on the CPU: optimized arithmetic of buffer_math.h.
#pragma once

#include "device/buffer_job.h"

namespace redzone::device {

void fill_buffer(const BufferJob& job);
BufferCheck check_buffer(const BufferJob& job);

}  // namespace redzone::device
