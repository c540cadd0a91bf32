// nghttp2's header. Swift can import everything that is used of it, so there are no wrappers.
#ifndef LATCHKEY_CNGHTTP2_SHIM_H
#define LATCHKEY_CNGHTTP2_SHIM_H

#include <nghttp2/nghttp2.h>

#endif
