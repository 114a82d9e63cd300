/* The C interface of libredzone_worker.so, with which a foreign process serves trials.
 *
 * The Redzone command starts such a process as a worker, with the flags of `redzone worker`. The
 * process describes its targets, passes callbacks, and calls rz_worker_main(), which runs plans
 * until the driver ends it. Redzone handles memory, fills, checks, references and reports; the
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
 * take an rz_call or an rz_reference must be called from that thread, within the callback that
 * received it.
 * rz_progress() and rz_compiling() may be called from any thread.
 *
 * Text is UTF-8 and ends with a zero byte. Results that are pointers belong to the library and live
 * as long as the rz_call or rz_reference that was passed; arguments are copied.
 *
 * An unknown name is a mistake of the caller: functions that take a name return -1 (or NULL) and
 * change nothing.
 */
#ifndef REDZONE_WORKER_H
#define REDZONE_WORKER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RZ_WORKER_ABI 2
#define RZ_MOST_RANK 5

/* Returns the library's RZ_WORKER_ABI. Compare it first, because the layouts of structs differ
 * between versions. */
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
  /* The bytes that belong to the tensor, including gaps between its rows. Memory beyond them is
   * guarded. */
  void* storage;
  uint64_t storage_bytes;
} rz_tensor;

/* No callback may be left by an exception or longjmp(). All callbacks get `user`. */
typedef struct {
  void* user;
  /* Makes an instance of a target: one for each trial, or one for the process if the description
   * has state = "process". Returns an id >= 0, or -1 after rz_error(). */
  int (*make)(void* user, const char* target);
  /* Called when the trial of the instance has ended and nothing runs any more. Never called for
   * state = "process". */
  void (*destroy)(void* user, int instance);
  /* Enqueues one call on rz_call_stream(), or runs it on the CPU. */
  void (*run)(void* user, int instance, rz_call* call);
  /* Copies the results of run() for this call into the outputs that the description marks with
   * `returned`, and releases the results. All calls of a part of the trial are enqueued before, so
   * that damage by a later call to the results of an earlier one is detected. Called once for each
   * run() that did not fail, in the same order. NULL if no target returns its outputs. */
  void (*collect)(void* user, int instance, rz_call* call);
  /* Computes the expected outputs. NULL if no target has a reference. */
  void (*reference)(void* user, const char* target, rz_reference* reference);
  /* 1: a trial begins; 0: it has ended, and its instance is destroyed. May be NULL. */
  void (*trial)(void* user, int begins);
} rz_callbacks;

/* Serves the driver that started this process, and returns the exit code of the process. `argv` has
 * the words behind the name of the program, as the driver wrote them: the flags of `redzone worker`
 * and --python-file, which only the caller uses. `description_json`: the description that `redzone`
 * reads of the same targets. An error is one line on stderr. Call it once per process. */
int rz_worker_main(int argc, const char* const* argv, const char* description_json,
                   const rz_callbacks* callbacks);

/* Records why make() failed; the failure ends the trial. For `code` see rz_call_fail(). */
void rz_error(const char* code, const char* message);

/* ---- functions for a call ---- */

/* The name of the call's target. */
const char* rz_call_target(const rz_call*);
/* The number of the call in its plan, from 0. One call may be run several times. */
int rz_call_index(const rz_call*);
/* The number of this run of the call, from 0. In collect(), the number of the corresponding run().
 */
int64_t rz_call_repeat(const rz_call*);
/* A number that depends on the plan and the call only, for generators of random numbers. */
uint64_t rz_call_seed(const rz_call*);

int64_t rz_dim(const rz_call*, const char* name);
/* 1 if the knob's value is text; 0 if it is an integer; -1 if the name is unknown. */
int rz_knob_is_text(const rz_call*, const char* name);
/* INT64_MIN if the knob is unknown or its value is text. */
int64_t rz_knob_integer(const rz_call*, const char* name);
/* NULL if the knob is unknown or its value is an integer. */
const char* rz_knob_text(const rz_call*, const char* name);

/* Returns 0, or -1 for an unknown name. */
int rz_call_tensor(rz_call*, const char* name, rz_tensor* out);

/* 0: host, tensors are memory of this process; 1: cuda; 2: dry run, nothing must run. */
int rz_call_device(const rz_call*);
/* The cudaStream_t to enqueue on; a meaningless handle on the host. */
void* rz_call_stream(rz_call*);

/* Uninitialized memory from the allocator of the plan, aligned to 256 bytes and valid until
 * rz_call_free() or the end of the trial; `name` is for reports. NULL once the call has failed, for
 * example because memory is exhausted. */
void* rz_call_allocate(rz_call*, const char* name, uint64_t bytes);
void rz_call_free(rz_call*, void*);

/* Ends the trial: the call failed, which is a finding. `code` groups findings ("exception:
 * ValueError"), `message` is for people ("my.py:12: ..."). The first of these two counts. */
void rz_call_fail(rz_call*, const char* code, const char* message);
/* Ends the trial: the target does not support this call, which is not a finding. */
void rz_call_unsupported(rz_call*, const char* reason);
/* 1 once the trial has ended: return from the callback. */
int rz_call_ended(const rz_call*);

/* ---- functions for a reference ---- */

int64_t rz_reference_dim(const rz_reference*, const char* name);
int rz_reference_knob_is_text(const rz_reference*, const char* name);
int64_t rz_reference_knob_integer(const rz_reference*, const char* name);
const char* rz_reference_knob_text(const rz_reference*, const char* name);
/* Inputs (in and inout) and outputs (out: zeros; inout: a copy) as doubles, contiguous and
 * row-major regardless of the layout of the call. `shape` must have room for RZ_MOST_RANK extents.
 * An element of a complex type is two doubles (its parts); `count` is then twice the product of
 * `shape`. Returns 0, or -1 for an unknown name. */
int rz_reference_input(rz_reference*, const char* name, const double** at, uint64_t* count,
                       int64_t* shape, int* rank);
int rz_reference_output(rz_reference*, const char* name, double** at, uint64_t* count,
                        int64_t* shape, int* rank);
/* Reports that the reference failed: a mistake of the target's author, never a finding. */
void rz_reference_fail(rz_reference*, const char* message);
/* Reports that the reference did not return values of the outputs: also a mistake of the author.
 * `what` completes "returned ...". */
void rz_reference_returned(rz_reference*, const char* what);

/* ---- functions for the process ---- */

/* Reports progress of the trial: restarts its deadline. A trial has at most 30 deadlines in all.
 * `what` is for the log. */
void rz_progress(const char* what);
/* Reports that this process compiles. Restarts the deadline like rz_progress(). In addition, the
 * time between two such calls does not count towards the 30 deadlines if it is at most 5 s, up to
 * 10 minutes per trial. Call it several times a second while compiling. Users are informed once
 * that the target compiles; `what` is for the log ("compiles triton kernel add"). */
void rz_compiling(const char* what);
/* Names memory of the process for reports about invalid accesses, until the trial ends. Has no
 * effect outside a trial. */
void rz_watch_memory(void* at, uint64_t bytes, const char* name);

/* ---- functions for the framework's allocator ----
 *
 * Memory that the framework of the process allocates on a GPU, in any thread. rz_allocate() and
 * rz_free() have the signatures of PyTorch's CUDAPluggableAllocator, rz_use_on() that of its
 * record_stream. In a trial the plan's mode determines the placement of a block: between guard
 * pages, poisoned, poisoned again once it is freed, and checked at the end. A block that is not
 * freed by the end of the trial stays unchanged. Blocks are aligned to 256 bytes. `device` is 0.
 */

/* Call before rz_worker_main() if the framework allocates by the functions below. */
void rz_use_allocator(void);
/* Allocates a block for use in the order of `stream`, a cudaStream_t. NULL if there is no memory,
 * or the device is lost. */
void* rz_allocate(int64_t bytes, int device, void* stream);
/* Frees a block; enqueued work may still use it. */
void rz_free(void* at, int64_t bytes, int device, void* stream);
/* Records that another stream uses the block, too, whose work may be unfinished at the free. */
void rz_use_on(void* at, void* stream);
/* Call before the thread waits for work of the device, which the gated mode would hold back. */
void rz_host_waits(void);

#ifdef __cplusplus
}
#endif

#endif
