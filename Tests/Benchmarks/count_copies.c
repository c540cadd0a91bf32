// Copies byte by byte, so that callgrind counts the bytes: a program that loads this (LD_PRELOAD) executes one
// instruction for each byte that memcpy and memmove copy. `instructions.py` knows how many instructions a call has
// besides these. Copies that the compiler writes in place of a call are not seen, nor those within the C library.

#if !defined __x86_64__
#error "only for x86-64: other processors have no instruction that callgrind counts once for each byte"
#endif

#define FUNCTION(name, body)                                                                                          \
    __asm__(".text\n.globl " name "\n.type " name ", @function\n" name ":\n" body ".size " name ", .-" name "\n")

// Eight instructions and one for each byte. A copy from the end to the beginning has four more. `memcpy` is the same
// function, as in the C library, so that programs that copy between overlapping places do not change.
#define MOVE                                                                                                          \
    "mov %rdi, %rax\n"                                                                                                \
    "mov %rdx, %rcx\n"                                                                                                \
    "mov %rdi, %r8\n"                                                                                                 \
    "sub %rsi, %r8\n"                                                                                                 \
    "cmp %rdx, %r8\n"                                                                                                 \
    "jb 1f\n"                                                                                                         \
    "rep movsb\n"                                                                                                     \
    "ret\n"                                                                                                           \
    "1: lea -1(%rsi,%rdx), %rsi\n"                                                                                    \
    "lea -1(%rdi,%rdx), %rdi\n"                                                                                       \
    "std\n"                                                                                                           \
    "rep movsb\n"                                                                                                     \
    "cld\n"                                                                                                           \
    "ret\n"

FUNCTION("memcpy", MOVE);
FUNCTION("__memcpy_chk", MOVE);
FUNCTION("memmove", MOVE);
FUNCTION("__memmove_chk", MOVE);
