/* The C interface of libredzone_memory.so, which is preloaded into a process that runs Python
 * targets on the CPU. It replaces posix_memalign() for calls from PyTorch's allocator (libc10.so),
 * and free() and realloc() for the blocks that these calls return; numpy allocates from it if its
 * handler (rz_memory_numpy_handler()) is set. All other calls go to the C library unchanged, as do
 * allocations of PyTorch and numpy outside of a call of a trial. Before rz_memory_arm() the process
 * behaves like one without the library.
 *
 * Look the functions up with dlsym(RTLD_DEFAULT, ...): a process without the library lacks them.
 *
 *     rz_memory_arm();
 *     for each trial {
 *       rz_memory_begin_trial(&trial);
 *       for each call { rz_memory_begin_call(index); run it; rz_memory_end_call(); }
 *       while (rz_memory_next_damaged(&damaged)) report it;
 *       rz_memory_end_trial();
 *     }
 *
 * Threads: any thread may allocate and free, also in a fork() of the process. All functions below
 * except rz_memory_find() must be called from one thread.
 */
#ifndef REDZONE_MEMORY_ABI_H
#define REDZONE_MEMORY_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RZ_MEMORY_ABI 2

/* Returns the library's RZ_MEMORY_ABI. */
int rz_memory_abi(void);

/* Reserves addresses, once. Returns 1 if PyTorch's allocator is loaded in the process, else 0; each
 * trial looks for the allocator again when it begins. */
int rz_memory_arm(void);

/* The allocators of a plan; same values as redzone::Allocator. */
enum { RZ_MEMORY_GUARD = 0, RZ_MEMORY_PLAIN = 1, RZ_MEMORY_POOL = 2, RZ_MEMORY_CACHING = 3 };
/* The side of a block with the guard page; same values as redzone::Placement. */
enum { RZ_MEMORY_GUARD_AFTER = 0, RZ_MEMORY_GUARD_BEFORE = 1 };

typedef struct {
  int32_t allocator;
  int32_t placement;
  uint32_t poison;      /* the word that new memory is filled with */
  uint32_t align_bytes; /* of blocks: a power of two up to 4096; 0: 64, as PyTorch promises */
  /* Limits for live blocks; blocks beyond them come from the C library and are counted. 0: the
   * default. */
  uint64_t most_blocks;
  uint64_t most_bytes;
  /* 1: with the guard allocator, 64 KiB of canaries on each side of a block, with the guard page
   * beyond them; see TrialSpec::wide_canaries. */
  int32_t wide_canaries;
} rz_memory_trial;

/* Returns 0, or -1 if the library is not armed or a value is out of range. */
int rz_memory_begin_trial(const rz_memory_trial* trial);
/* Blocks allocated from now on belong to this call. -1: to the target, but to no call. */
void rz_memory_begin_call(int32_t call);
void rz_memory_end_call(void);
/* Live blocks stay unchanged in all later trials until they are freed. */
void rz_memory_end_trial(void);

/* Counts of this trial so far; survivors are blocks of earlier trials. */
typedef struct {
  uint64_t blocks, bytes;                   /* from the plan's allocator */
  uint64_t plain_blocks, plain_bytes;       /* the plan requests the C library */
  uint64_t left_out_blocks, left_out_bytes; /* beyond the limits, or out of memory */
  uint64_t unpoisoned_blocks;               /* too large to be poisoned */
  uint64_t survivors, survivor_bytes;       /* alive now */
  uint64_t other_blocks, other_bytes;       /* aligned memory that code outside PyTorch's allocator
                                               took from the C library within calls */
} rz_memory_counts;
void rz_memory_count(rz_memory_counts* out);

/* A PyDataMem_Handler of numpy (NEP 49), for PyDataMem_SetHandler() in a capsule "mem_handler".
 * Arrays created while it is set keep it. */
const void* rz_memory_numpy_handler(void);

/* The library that allocated a block. */
enum { RZ_MEMORY_OF_TORCH = 0, RZ_MEMORY_OF_NUMPY = 1 };

/* A block; reports name it `torch#NUMBER` or `numpy#NUMBER`. `number`: the n-th block of its maker
 * in its call, from 1. */
typedef struct {
  int32_t call; /* in the trial that allocated the block */
  uint32_t number;
  int32_t maker;
  const void* begin;
  uint64_t bytes;
  int32_t freed; /* 1: freed in this trial */
} rz_memory_block;

/* Stores the block that contains the address or is nearest to it and returns 1; returns 0 if the
 * address does not belong to the library. May be called in a signal handler. */
int rz_memory_find(const void* address, rz_memory_block* out);

/* A block of the guard allocator with changed canaries. */
typedef struct {
  int32_t call; /* the call that allocated the block; -1: none, or one of an earlier trial */
  uint32_t number;
  int32_t maker;
  uint64_t bytes;
  uint64_t dirty_before, dirty_after; /* bytes */
  int64_t first_dirty_byte;           /* from the start of the block */
} rz_memory_damaged;

/* Stores the next damaged block, each once, and returns 1; returns 0 if there are no more. Checks
 * every live block, so call it once per trial instead of once per call. */
int rz_memory_next_damaged(rz_memory_damaged* out);

#ifdef __cplusplus
}
#endif

#endif
