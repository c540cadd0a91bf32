// nghttp2's header. All of it that is used here can be imported, so there is nothing to wrap.
#ifndef LATCHKEY_CNGHTTP2_SHIM_H
#define LATCHKEY_CNGHTTP2_SHIM_H

#include <nghttp2/nghttp2.h>

#endif
