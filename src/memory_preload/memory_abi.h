/* The C interface of libredzone_memory.so, which is preloaded into a process that runs Python
 * targets on the CPU. It stands in for posix_memalign() where PyTorch's allocator (libc10.so) calls
 * it, and for free() and realloc() of what that returned; numpy takes memory from it where its
 * handler (rz_memory_numpy_handler()) is set. Every other call goes to the C library untouched, and
 * so do those of both outside of a call of a trial; before rz_memory_arm() nothing differs from a
 * process without the library.
 *
 * Look the functions up with dlsym(RTLD_DEFAULT, ...): a process without the library has none.
 *
 *     rz_memory_arm();
 *     for each trial {
 *       rz_memory_begin_trial(&trial);
 *       for each call { rz_memory_begin_call(index); run it; rz_memory_end_call(); }
 *       while (rz_memory_next_damaged(&damaged)) report it;
 *       rz_memory_end_trial();
 *     }
 *
 * Threads: any thread may allocate and free, in a fork() of the process, too. The functions below
 * are for one thread, but for rz_memory_find().
 */
#ifndef REDZONE_MEMORY_ABI_H
#define REDZONE_MEMORY_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RZ_MEMORY_ABI 2

/* RZ_MEMORY_ABI of the library. */
int rz_memory_abi(void);

/* Reserves addresses, once. 1 if PyTorch's allocator is in the process. 0 if it is not yet: it is
 * looked for again when a trial begins. */
int rz_memory_arm(void);

/* The allocators of a plan, with the numbers of redzone::Allocator. */
enum { RZ_MEMORY_GUARD = 0, RZ_MEMORY_PLAIN = 1, RZ_MEMORY_POOL = 2, RZ_MEMORY_CACHING = 3 };
/* The side of a block with the guard page, as redzone::Placement. */
enum { RZ_MEMORY_GUARD_AFTER = 0, RZ_MEMORY_GUARD_BEFORE = 1 };

typedef struct {
  int32_t allocator;
  int32_t placement;
  uint32_t poison;      /* the word that new memory is filled with */
  uint32_t align_bytes; /* of blocks: a power of two up to 4096; 0: 64, as PyTorch promises */
  /* Limits of what is alive; what exceeds them is the C library's, and counted. 0: the default. */
  uint64_t most_blocks;
  uint64_t most_bytes;
  /* 1: with the guard allocator, 64 KiB of canaries on each side of a block, and the guard page
   * beyond them, as TrialSpec::wide_canaries. */
  int32_t wide_canaries;
} rz_memory_trial;

/* 0, or -1 if the library is not armed or a value is out of its range. */
int rz_memory_begin_trial(const rz_memory_trial* trial);
/* Blocks allocated from here on are named after this call. -1: of the target, but of no call. */
void rz_memory_begin_call(int32_t call);
void rz_memory_end_call(void);
/* Blocks that are alive stay as they are, in all later trials, until they are freed. */
void rz_memory_end_trial(void);

/* Of the trial since it began; survivors: of earlier ones. */
typedef struct {
  uint64_t blocks, bytes;                   /* from the plan's allocator */
  uint64_t plain_blocks, plain_bytes;       /* the plan asks for the C library's */
  uint64_t left_out_blocks, left_out_bytes; /* over the limits, or no memory was left */
  uint64_t unpoisoned_blocks;               /* too large to be filled */
  uint64_t survivors, survivor_bytes;       /* alive now */
  uint64_t other_blocks, other_bytes;       /* aligned memory that others than PyTorch's allocator
                                               took from the C library within calls */
} rz_memory_counts;
void rz_memory_count(rz_memory_counts* out);

/* A PyDataMem_Handler of numpy (NEP 49), for PyDataMem_SetHandler() in a capsule "mem_handler".
 * Arrays that are made while it is set keep it. */
const void* rz_memory_numpy_handler(void);

/* Who has allocated a block. */
enum { RZ_MEMORY_OF_TORCH = 0, RZ_MEMORY_OF_NUMPY = 1 };

/* A block by the name `torch#NUMBER` or `numpy#NUMBER`: the n-th of them in its call, from 1. */
typedef struct {
  int32_t call; /* of its own trial */
  uint32_t number;
  int32_t maker;
  const void* begin;
  uint64_t bytes;
  int32_t freed; /* 1: freed in this trial */
} rz_memory_block;

/* 1 and the block that the address lies in, or is nearest to; 0 if the address is none of the
 * library's. A signal handler may call it. */
int rz_memory_find(const void* address, rz_memory_block* out);

/* A block of the guard allocator with bytes changed beside it, before the guard page. */
typedef struct {
  int32_t call; /* that has allocated it; -1: none, or of an earlier trial */
  uint32_t number;
  int32_t maker;
  uint64_t bytes;
  uint64_t dirty_before, dirty_after; /* bytes */
  int64_t first_dirty_byte;           /* from the start of the block */
} rz_memory_damaged;

/* 1 and the next one, each once; 0: no more. It looks at every block that is alive, so call it once
 * a trial rather than once a call. */
int rz_memory_next_damaged(rz_memory_damaged* out);

#ifdef __cplusplus
}
#endif

#endif
