// Linux system calls that Swift's Glibc module does not import: each a static inline wrapper of one call.
#ifndef LATCHKEY_CLINUX_SHIM_H
#define LATCHKEY_CLINUX_SHIM_H

#include <sys/epoll.h>
#include <sys/eventfd.h>

#endif
