// The compiled kernels of Redzone's own (fat binaries) as bytes of the executable: nothing has to be
// installed beside it. A fat binary carries its own length.
    .macro kernels symbol, fatbin
    .global \symbol
    .balign 64
\symbol:
    .incbin "\fatbin"
    .endm

    .section .rodata
    kernels redzone_buffer_kernels, REDZONE_BUFFER_KERNELS
    kernels redzone_contention_kernel, REDZONE_CONTENTION_KERNEL
    .section .note.GNU-stack, "", @progbits
