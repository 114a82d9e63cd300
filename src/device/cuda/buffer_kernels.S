// The compiled fill and check kernels (a fat binary) as bytes of the executable: nothing has to be
// installed beside it. A fat binary carries its own length.
    .section .rodata
    .global redzone_buffer_kernels
    .balign 64
redzone_buffer_kernels:
    .incbin REDZONE_FATBIN
    .section .note.GNU-stack, "", @progbits
