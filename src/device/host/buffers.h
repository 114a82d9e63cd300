// Fills and checks of buffers on the CPU: the arithmetic of buffer_math.h, made fast.
#pragma once

#include "device/buffer_job.h"

namespace redzone::device {

void fill_buffer(const BufferJob& job);
BufferCheck check_buffer(const BufferJob& job);

}  // namespace redzone::device
