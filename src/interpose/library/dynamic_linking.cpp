// Replaces dlsym(), dlopen() and dlmopen() for the program. The C library derives the scope of a
// lookup from the caller's return address. Therefore calls that are not answered here continue by a
// jump that leaves the caller's stack unchanged, so that the real function sees the program as its
// caller.
#include <dlfcn.h>

#include <cstdint>
#include <cstring>

#include "interpose/internal_scope.h"
#include "interpose/library/export.h"
#include "interpose/library/guard.h"
#include "interpose/library/real_symbols.h"
#include "interpose/python_stack.h"

#ifndef __x86_64__
#error "the jumps below are written for x86-64"
#endif

extern "C" {

// Targets of the jumps below.
__attribute__((visibility("hidden"))) void* redzone_real_dlsym = nullptr;
__attribute__((visibility("hidden"))) void* redzone_real_dlopen = nullptr;
__attribute__((visibility("hidden"))) void* redzone_real_dlmopen = nullptr;

// 1: `*out` is the result. 0: call the real dlsym().
__attribute__((visibility("hidden"), used)) int redzone_answer_dlsym(void* handle, const char* name,
                                                                     void** out);
__attribute__((visibility("hidden"), used)) void redzone_note_dlopen(const char* file, int flags);
__attribute__((visibility("hidden"), used)) void redzone_note_dlmopen();
}

// Each function saves its arguments, calls a function above, restores the arguments and jumps. At
// entry the stack is 8 bytes off the alignment that a call requires.
asm(R"(
.text
.globl dlsym
.type dlsym, @function
dlsym:
  .cfi_startproc
  endbr64
  subq $24, %rsp
  .cfi_adjust_cfa_offset 24
  movq %rdi, (%rsp)
  movq %rsi, 8(%rsp)
  leaq 16(%rsp), %rdx
  call redzone_answer_dlsym
  testl %eax, %eax
  movq 16(%rsp), %rax
  movq (%rsp), %rdi
  movq 8(%rsp), %rsi
  leaq 24(%rsp), %rsp
  .cfi_adjust_cfa_offset -24
  jne 1f
  jmp *redzone_real_dlsym(%rip)
1:
  ret
  .cfi_endproc
.size dlsym, .-dlsym

.globl dlopen
.type dlopen, @function
dlopen:
  .cfi_startproc
  endbr64
  subq $24, %rsp
  .cfi_adjust_cfa_offset 24
  movq %rdi, (%rsp)
  movq %rsi, 8(%rsp)
  call redzone_note_dlopen
  movq (%rsp), %rdi
  movq 8(%rsp), %rsi
  addq $24, %rsp
  .cfi_adjust_cfa_offset -24
  jmp *redzone_real_dlopen(%rip)
  .cfi_endproc
.size dlopen, .-dlopen

.globl dlmopen
.type dlmopen, @function
dlmopen:
  .cfi_startproc
  endbr64
  subq $24, %rsp
  .cfi_adjust_cfa_offset 24
  movq %rdi, (%rsp)
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  call redzone_note_dlmopen
  movq (%rsp), %rdi
  movq 8(%rsp), %rsi
  movq 16(%rsp), %rdx
  addq $24, %rsp
  .cfi_adjust_cfa_offset -24
  jmp *redzone_real_dlmopen(%rip)
  .cfi_endproc
.size dlmopen, .-dlmopen
)");

namespace redzone::interpose {
namespace {

using Dlsym = void* (*)(void*, const char*);

// dlvsym() is not replaced. The version of the dlsym() symbol depends on the age of the C library.
Dlsym find_dlsym() {
  if (void* const known = __atomic_load_n(&redzone_real_dlsym, __ATOMIC_ACQUIRE))
    return reinterpret_cast<Dlsym>(known);
  void* found = nullptr;
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5"})
    if (found == nullptr) found = dlvsym(RTLD_NEXT, "dlsym", version);
  if (found == nullptr) __builtin_trap();  // without dlsym() the program could not look up anything
  __atomic_store_n(&redzone_real_dlsym, found, __ATOMIC_RELEASE);
  return reinterpret_cast<Dlsym>(found);
}

void find_target(void** target, const char* name) {
  if (__atomic_load_n(target, __ATOMIC_ACQUIRE) == nullptr)
    __atomic_store_n(target, find_dlsym()(RTLD_NEXT, name), __ATOMIC_RELEASE);
}

}  // namespace

void* real_dlsym(void* handle, const char* name) {
  return find_dlsym()(handle, name);
}

void* real_function(const char* name) {
  return find_dlsym()(RTLD_NEXT, name);
}

void* real_dlopen(const char* file, int flags) {
  find_target(&redzone_real_dlopen, "dlopen");
  return reinterpret_cast<void* (*)(const char*, int)>(redzone_real_dlopen)(file, flags);
}

}  // namespace redzone::interpose

extern "C" {

int redzone_answer_dlsym(void* handle, const char* name, void** out) {
  using namespace redzone::interpose;
  find_dlsym();
  if (name == nullptr || name[0] != 'c' || name[1] != 'u' || InternalScope::active()) return 0;
  const InternalScope scope;
  return answer_driver_lookup(handle, name, out) ? 1 : 0;
}

void redzone_note_dlopen(const char* file, int flags) {
  using namespace redzone::interpose;
  find_target(&redzone_real_dlopen, "dlopen");
  if (InternalScope::active()) return;
  if ((flags & RTLD_DEEPBIND) != 0) recorder().count(Counter::deep_binds);
  if (file != nullptr && std::strstr(file, "libcuda.so") != nullptr)
    recorder().note(Fact::driver_present);
  // An interpreter that loads an extension module holds its lock here.
  learn_python();
}

void redzone_note_dlmopen() {
  using namespace redzone::interpose;
  find_target(&redzone_real_dlmopen, "dlmopen");
  recorder().count(Counter::namespaces);
}
}
