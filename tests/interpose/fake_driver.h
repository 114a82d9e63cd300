// A stand-in for libcuda.so.1, for tests alone. It has the calls that a guard and the programs of
// these tests make, in the memory of the host: addresses are addresses of this process, and mapping
// is mmap(). It runs no kernels but those that tests plant, which write, read or wait.
//
// Streams are lazy: work runs when something waits for it, in the order of its stream, so a test
// decides how far the device has got. Access to memory that is not mapped gives the context error
// 700, as on a device. While a stream captures, each call that would invalidate a capture does.
#pragma once

#include "interpose/driver_abi.h"

extern "C" {

// Planted kernels. cuModuleGetFunction() and cuLibraryGetKernel() give out the first two, named
// "_Z9fakeWritePhmi" (address, bytes, value) and "_Z8fakeReadPhm" (address, bytes), and
// cuLaunchKernel() launches them; other names are kernels that do nothing.
int fakeLaunchWrite(unsigned long long address, std::size_t bytes, int value,
                    redzone::interpose::CuStream stream);
int fakeLaunchRead(unsigned long long address, std::size_t bytes,
                   redzone::interpose::CuStream stream);

// The handle is that of another kernel from now on, which does nothing and has one parameter of 8
// bytes.
void fakeReuseKernel(void* handle, const char* name);

// Ends once fakeOpenGate() has been called.
int fakeLaunchGate(redzone::interpose::CuStream stream);
void fakeOpenGate();

// cuStreamSynchronize() or cuCtxSynchronize() does not return until fakeLetGo() is called.
void fakeHold(const char* function);
void fakeLetGo();

// The next `times` calls of the function return `code` and do nothing.
void fakeFail(const char* function, int code, int times);
// Calls of the function since fakeReset().
int fakeCalls(const char* function);

// Asking for an event lets its streams run: the device gets on by itself.
void fakeSetEager(bool is);
// Memory that cuMemCreate and cuMemAlloc may give out.
void fakeLimitMemory(std::size_t bytes);
// Without virtual memory management, without cuCtxRecordEvent: older drivers.
void fakeSetVirtualMemory(bool has);
// cuGetProcAddress gives out other addresses than dlsym().
void fakeSetPrivateEntries(bool has);
// True if the memory can be accessed.
bool fakeIsMapped(unsigned long long address, std::size_t bytes);
// True if it is mapped for that device. There are two, 0 with the context 0x1000 and 1 with 0x2000.
bool fakeCanAccess(unsigned long long address, int device);
// Allocations of the driver itself (not mapped by cuMemMap) that are live.
int fakePlainBlocks();
// Without names and parameters of kernels: drivers before CUDA 12.3.
void fakeSetKernelNames(bool has);
// Forgets everything: memory, streams, errors and counts.
void fakeReset();
}
