/* The C interface of libredzone_worker.so: a process that is not Redzone's serves trials.
 *
 * The Redzone command starts such a process as a worker, with the flags of `redzone worker`. The
 * process describes its targets, hands over callbacks, and calls rz_worker_main(), which runs plans
 * until the driver has had enough. Memory, fills, checks, references and reports are Redzone's: the
 * callbacks only run code on the tensors of a call.
 *
 *     static void run(void* user, int instance, rz_call* call) {
 *       rz_tensor x, y;
 *       rz_call_tensor(call, "x", &x);
 *       rz_call_tensor(call, "y", &y);
 *       for (int64_t i = 0; i < rz_dim(call, "N"); ++i) ((float*)y.data)[i] = ((float*)x.data)[i];
 *     }
 *
 * Threads: rz_worker_main() runs in one thread, and calls all callbacks from it. Functions that
 * take an rz_call or an rz_reference are for that thread, within the callback that got it.
 * rz_progress() and rz_compiling() may be called from any thread.
 *
 * Text is UTF-8 and ends with a zero byte. What a function returns belongs to the library and lives
 * as long as the rz_call or rz_reference that it was asked of; what is passed to it is copied.
 *
 * An unknown name is a mistake of the caller: functions for names return -1 (or NULL), and change
 * nothing.
 */
#ifndef REDZONE_WORKER_H
#define REDZONE_WORKER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RZ_WORKER_ABI 2
#define RZ_MOST_RANK 5

/* RZ_WORKER_ABI of the library. Compare it first: a struct of another version has another layout.
 */
int rz_worker_abi(void);

typedef struct rz_call rz_call;           /* one call of a target */
typedef struct rz_reference rz_reference; /* the inputs and expected outputs of one call */

/* A tensor of a call. Element [i0, i1, ...] is at data + sum(i_k * strides[k]) elements. */
typedef struct {
  void* data;
  const char* dtype; /* "f32", "bf16", "i64", ...: the names of plans */
  int rank;
  int64_t shape[RZ_MOST_RANK];
  int64_t strides[RZ_MOST_RANK]; /* in elements; may be 0 or negative */
  /* The bytes that belong to the tensor, gaps between its rows included. Memory beyond them is
   * guarded. */
  void* storage;
  uint64_t storage_bytes;
} rz_tensor;

/* A callback must return: an exception or longjmp() must not leave it. All of them get `user`. */
typedef struct {
  void* user;
  /* Makes an instance of a target: one for each trial, or one for the process where the description
   * says state = "process". An id >= 0, or -1 after rz_error(). */
  int (*make)(void* user, const char* target);
  /* The trial of the instance is over, and nothing runs any more. Never for state = "process". */
  void (*destroy)(void* user, int instance);
  /* One call: enqueues it on rz_call_stream(), or runs it on the CPU. */
  void (*run)(void* user, int instance, rz_call* call);
  /* Copies what run() returned for this call into the outputs that the description marks with
   * `returned`, and forgets it. All calls of a part of the trial have been enqueued before, so what
   * a later call did to a result of an earlier one shows. Once for each run() that did not fail, in
   * their order. NULL if no target returns its outputs. */
  void (*collect)(void* user, int instance, rz_call* call);
  /* Computes the expected outputs. NULL if no target has a reference. */
  void (*reference)(void* user, const char* target, rz_reference* reference);
  /* 1: a trial begins; 0: it has ended, and its instance is destroyed. May be NULL. */
  void (*trial)(void* user, int begins);
} rz_callbacks;

/* Serves the driver that started this process, and returns the exit code for it. `argv` has the
 * words behind the name of the program, as the driver wrote them: the flags of `redzone worker`,
 * and
 * --python-file, which is for the caller alone. `description_json`: what `redzone` reads of the
 * same targets. An error is one line on stderr. Call it once in a process. */
int rz_worker_main(int argc, const char* const* argv, const char* description_json,
                   const rz_callbacks* callbacks);

/* Why make() failed, for the trial that it ends: `code` as of rz_call_fail(). */
void rz_error(const char* code, const char* message);

/* ---- of a call ---- */

/* The name of its target. */
const char* rz_call_target(const rz_call*);
/* The number of the call in its plan, from 0. One call may be run several times. */
int rz_call_index(const rz_call*);
/* Which of these times this is, from 0. collect() gets the number of its run(). */
int64_t rz_call_repeat(const rz_call*);
/* A number that depends on the plan and the call only, for generators of random numbers. */
uint64_t rz_call_seed(const rz_call*);

int64_t rz_dim(const rz_call*, const char* name);
/* 1: its value is text; 0: an integer; -1: unknown. */
int rz_knob_is_text(const rz_call*, const char* name);
/* INT64_MIN for a knob that is unknown or has text. */
int64_t rz_knob_integer(const rz_call*, const char* name);
/* NULL for a knob that is unknown or has an integer. */
const char* rz_knob_text(const rz_call*, const char* name);

/* 0, or -1 for an unknown name. */
int rz_call_tensor(rz_call*, const char* name, rz_tensor* out);

/* 0: host, tensors are memory of this process; 1: cuda; 2: dry run, nothing must run. */
int rz_call_device(const rz_call*);
/* The cudaStream_t to enqueue on; on the host a handle without a meaning. */
void* rz_call_stream(rz_call*);

/* Uninitialized memory from the allocator of the plan, 256-byte aligned, until rz_call_free() or
 * the end of the trial; `name` is for reports. NULL once the call has failed, as when memory is
 * exhausted. */
void* rz_call_allocate(rz_call*, const char* name, uint64_t bytes);
void rz_call_free(rz_call*, void*);

/* Ends the trial: the call failed, which is a finding. `code` groups findings ("exception:
 * ValueError"), `message` is for people ("my.py:12: ..."). The first of these two counts. */
void rz_call_fail(rz_call*, const char* code, const char* message);
/* Ends the trial: the target refuses such calls, which is none. */
void rz_call_unsupported(rz_call*, const char* reason);
/* 1 once the trial has ended: return from the callback. */
int rz_call_ended(const rz_call*);

/* ---- of a reference ---- */

int64_t rz_reference_dim(const rz_reference*, const char* name);
int rz_reference_knob_is_text(const rz_reference*, const char* name);
int64_t rz_reference_knob_integer(const rz_reference*, const char* name);
const char* rz_reference_knob_text(const rz_reference*, const char* name);
/* Inputs (in and inout) and outputs (out: zeros; inout: a copy) as doubles, contiguous and
 * row-major whatever the layout of the call was. `shape` has room for RZ_MOST_RANK extents. An
 * element of a complex type is two doubles, its parts: `count` is twice the product of `shape`
 * then. 0, or -1 for an unknown name. */
int rz_reference_input(rz_reference*, const char* name, const double** at, uint64_t* count,
                       int64_t* shape, int* rank);
int rz_reference_output(rz_reference*, const char* name, double** at, uint64_t* count,
                        int64_t* shape, int* rank);
/* The reference failed: a mistake of the target's author, never a finding. */
void rz_reference_fail(rz_reference*, const char* message);
/* It returned something else than values of the outputs: a mistake of the author as well. `what`
 * goes on after "returned". */
void rz_reference_returned(rz_reference*, const char* what);

/* ---- of the process ---- */

/* The trial makes progress: its deadline begins again. A trial has at most 30 deadlines in all.
 * `what` is for the log. */
void rz_progress(const char* what);
/* This process compiles. Does what rz_progress() does; in addition the time between two such calls
 * is not counted towards the 30 deadlines, if it is at most 5 s, up to 10 minutes a trial. Call it
 * several times a second while compiling. Users are told once that the target compiles; `what` is
 * for the log ("compiles triton kernel add"). */
void rz_compiling(const char* what);
/* Names memory of the process for reports about bad accesses, until the trial ends. No effect
 * outside a trial. */
void rz_watch_memory(void* at, uint64_t bytes, const char* name);

/* ---- of the framework's allocator ----
 *
 * Memory that the framework of the process allocates on a GPU, in any thread. The first two have
 * the signatures of PyTorch's CUDAPluggableAllocator, rz_use_on() that of its record_stream. In a
 * trial a block lies where the plan's mode puts it: between guard pages, poisoned, poisoned again
 * once it is freed, and checked at the end. A block that is not freed by the end of the trial stays
 * as it is. Blocks are aligned to 256 bytes. `device` is 0.
 */

/* Before rz_worker_main(): the framework allocates by the functions below. */
void rz_use_allocator(void);
/* To be used in the order of `stream`, a cudaStream_t. NULL if there is no memory, or the device is
 * lost. */
void* rz_allocate(int64_t bytes, int device, void* stream);
/* Work that is enqueued may still use the block. */
void rz_free(void* at, int64_t bytes, int device, void* stream);
/* Another stream uses the block, too, and need not be done when it is freed. */
void rz_use_on(void* at, void* stream);
/* The thread will wait for work of the device, which the gated mode would hold back. */
void rz_host_waits(void);

#ifdef __cplusplus
}
#endif

#endif
