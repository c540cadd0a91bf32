// What a request grants, the rules for it, and the CKC.
#ifndef CKC_H
#define CKC_H

#include "buffer.h"
#include "spc.h"

enum content_type { CONTENT_UNKNOWN, CONTENT_AUDIO, CONTENT_SD, CONTENT_HD, CONTENT_UHD };

// The asset info of a request. What is missing is zero.
struct asset {
    uint8_t content_key[16];
    uint8_t content_iv[16];
    enum content_type content_type;
    // -1 for no HDCP, or the type.
    int hdcp_type;
    uint32_t lease_seconds;
    int is_cbcs;
    int is_offline;
    int has_stream_id;
    int has_title_id;
    uint8_t stream_id[16];
    uint8_t title_id[16];
    uint32_t rental_seconds;
    uint32_t playback_seconds;
};

// Applies the rules of the library to a request for a CKC, or to a check-in. Returns FPS_OK or a status.
int32_t check_rules(const struct spc *spc, const struct asset *asset, int checks_in);

// Writes a CKC. Returns FPS_OK or a status.
int32_t ckc_write(
    const struct spc *spc, const struct asset *asset, enum fps_flavour flavour, struct fault fault,
    struct buffer *ckc);

#endif
