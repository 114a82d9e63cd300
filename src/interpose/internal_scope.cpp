#include "interpose/internal_scope.h"

namespace redzone::interpose {

thread_local constinit int InternalScope::depth_ = 0;

}  // namespace redzone::interpose
