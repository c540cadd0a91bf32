// A library for tests that takes the place of Intel's crypto_mb: the functions that Latchkey uses, with the same types,
// statuses and checks of their arguments, computed by OpenSSL one lane after another. It runs on every processor, and
// is never installed.
//
// It can be told to compute wrongly: by an order of the test (stand_in_order), or when it is loaded, by the environment
// variable STAND_IN_ORDER ("wrong-lane", "wrong-half", "failed-lane", "unsuited", "refused-signature" or
// "accepted-signatures") or the macro STAND_IN_ORDER (a number of enum order). With the variable STAND_IN_AFTER (a
// number), the first calls for decryption are right, and with STAND_IN_AFTER_CHECKS the first calls for checks of
// signatures. The library notes what it was given, so that a test can look at it.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/obj_mac.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef STAND_IN_ORDER
#define STAND_IN_ORDER 0
#endif

enum order {
    COMPUTE = 0,
    // One bit of the result of one lane is wrong.
    WRONG_LANE = 1,
    // One half of the computation of one lane is wrong, as by a fault of the processor.
    WRONG_HALF = 2,
    // The status of one lane says that it failed, and its result is zero.
    FAILED_LANE = 3,
    // The library says that it cannot run on this processor.
    UNSUITED = 4,
    // The status of one lane says that its signature is invalid.
    REFUSED_SIGNATURE = 5,
    // The status says that every signature is valid.
    ACCEPTED_SIGNATURES = 6,
    // The first function that is called has bytes that are no instruction, as in a damaged file.
    NO_INSTRUCTION = 7,
};

enum { LANES = 8, SIZE_MAXIMUM = 256, CALLS_MAXIMUM = 64, NULL_PARAMETER = 2, MISMATCH = 1, FAILED = 4, BAD_SIGNATURE = 8 };

typedef uint32_t status_t;
typedef struct {
    int bits;
    int is_private;
} method_t;

static const method_t private1024 = {1024, 1}, private2048 = {2048, 1}, public1024 = {1024, 0}, public2048 = {2048, 0};

static struct {
    int order, lane;
    // How many more calls are right.
    int right_calls, right_checks;
    int check_count;
    // A bit for each lane that had an invalid signature.
    int forged_lanes;
    int call_count;
    // The number of lanes of each private call.
    int lane_counts[CALLS_MAXIMUM];
    // What the last private call was given.
    unsigned char inputs[LANES][SIZE_MAXIMUM];
    const unsigned char *input_memory[LANES];
    const unsigned char *output_memory[LANES];
    const unsigned char *work;
    int size;
} noted = {.order = STAND_IN_ORDER};

// --- What a test calls -----------------------------------------------------------------------------------------------

void stand_in_order(int order, int lane) {
    noted.order = order;
    noted.lane = lane;
}

// Writes the numbers of lanes of the private calls since the last call of this function, and returns how many there
// are.
int stand_in_take_lane_counts(int *counts) {
    int count = noted.call_count;
    memcpy(counts, noted.lane_counts, sizeof(int) * (size_t)count);
    noted.call_count = 0;
    return count;
}

// Returns the number of calls for checks of signatures since the last call of this function.
int stand_in_take_check_count(void) {
    int count = noted.check_count;
    noted.check_count = 0;
    return count;
}

// Returns the lanes that had an invalid signature since the last call of this function, a bit for each.
int stand_in_take_forged_lanes(void) {
    int lanes = noted.forged_lanes;
    noted.forged_lanes = 0;
    return lanes;
}

// Copies what one lane of the last private call was given.
void stand_in_input(int lane, unsigned char *input) { memcpy(input, noted.inputs[lane], SIZE_MAXIMUM); }

// The number of bytes that are not zero in the memory of the last private call: inputs, results and work.
int stand_in_leftovers(void) {
    int count = 0;
    for (int lane = 0; lane < LANES; lane++) {
        for (int byte = 0; noted.input_memory[lane] && byte < noted.size; byte++) {
            count += noted.input_memory[lane][byte] != 0;
            count += noted.output_memory[lane][byte] != 0;
        }
    }
    for (int byte = 0; noted.work && byte < 4096; byte++) count += noted.work[byte] != 0;
    return count;
}

// --- crypto_mb/cpu_features.h and version.h --------------------------------------------------------------------------

__attribute__((constructor)) static void read_order(void) {
    static const char *const names[] = {
        "", "wrong-lane", "wrong-half", "failed-lane", "unsuited", "refused-signature", "accepted-signatures"};
    const char *name = getenv("STAND_IN_ORDER");
    for (int order = 1; name && order <= ACCEPTED_SIGNATURES; order++) {
        if (strcmp(name, names[order]) == 0) noted.order = order;
    }
    const char *after = getenv("STAND_IN_AFTER");
    noted.right_calls = after ? atoi(after) : 0;
    const char *after_checks = getenv("STAND_IN_AFTER_CHECKS");
    noted.right_checks = after_checks ? atoi(after_checks) : 0;
}

int mbx_is_crypto_mb_applicable(uint64_t features) {
    if (noted.order == NO_INSTRUCTION) __builtin_trap();
    return noted.order != UNSUITED;
}

const int *mbx_getversion(void) {
    static const int numbers[] = {99, 0, 1};
    return numbers;
}

// --- crypto_mb/rsa.h -------------------------------------------------------------------------------------------------

const method_t *mbx_RSA1K_private_crt_Method(void) { return &private1024; }
const method_t *mbx_RSA2K_private_crt_Method(void) { return &private2048; }
const method_t *mbx_RSA1K_pub65537_Method(void) { return &public1024; }
#ifndef STAND_IN_WITHOUT_PUBLIC
const method_t *mbx_RSA2K_pub65537_Method(void) { return &public2048; }
#endif
int mbx_RSA_Method_BufSize(const method_t *method) { return method->bits * 50; }

static status_t with_lane(status_t status, int lane, status_t value) {
    return (status & ~(UINT32_C(0xF) << (lane * 4))) | (value << (lane * 4));
}

static status_t all_lanes(status_t value) {
    status_t status = 0;
    for (int lane = 0; lane < LANES; lane++) status = with_lane(status, lane, value);
    return status;
}

static BIGNUM *number(const uint64_t *words, int size) {
    return BN_lebin2bn((const unsigned char *)words, size, NULL);
}

// to = from^d, by the Chinese remainder theorem. `fault` is added to one half.
static void decrypt(
    const unsigned char *from, unsigned char *to, const uint64_t *const parts[5], int size, BN_ULONG fault) {
    BN_CTX *context = BN_CTX_new();
    BIGNUM *p = number(parts[0], size / 2), *q = number(parts[1], size / 2), *dp = number(parts[2], size / 2);
    BIGNUM *dq = number(parts[3], size / 2), *coefficient = number(parts[4], size / 2);
    BIGNUM *input = BN_bin2bn(from, size, NULL), *half = BN_new(), *result = BN_new();
    BN_mod_exp(half, input, dp, p, context);
    BN_add_word(half, fault);
    BN_mod_exp(result, input, dq, q, context);
    BN_mod_sub(half, half, result, p, context);
    BN_mod_mul(half, half, coefficient, p, context);
    BN_mul(half, half, q, context);
    BN_add(result, result, half);
    BN_bn2binpad(result, to, size);
    BIGNUM *all[] = {p, q, dp, dq, coefficient, input, half, result};
    for (size_t index = 0; index < sizeof all / sizeof *all; index++) BN_clear_free(all[index]);
    BN_CTX_free(context);
}

static void encrypt(const unsigned char *from, unsigned char *to, const uint64_t *modulus, int size) {
    BN_CTX *context = BN_CTX_new();
    BIGNUM *n = number(modulus, size), *input = BN_bin2bn(from, size, NULL), *exponent = BN_new();
    BN_set_word(exponent, 65537);
    BN_mod_exp(input, input, exponent, n, context);
    BN_bn2binpad(input, to, size);
    BN_free(n);
    BN_free(input);
    BN_free(exponent);
    BN_CTX_free(context);
}

// Fills the memory to work in as the library does, so that memory that is too small shows under a sanitizer, and memory
// that is not wiped shows in `stand_in_leftovers`.
static void use(unsigned char *work, const method_t *method) {
    memset(work, 0xA5, (size_t)mbx_RSA_Method_BufSize(method));
}

status_t mbx_rsa_private_crt_mb8(
    const unsigned char *const from[LANES], unsigned char *const to[LANES], const uint64_t *const p[LANES],
    const uint64_t *const q[LANES], const uint64_t *const dp[LANES], const uint64_t *const dq[LANES],
    const uint64_t *const coefficient[LANES], int bits, const method_t *method, unsigned char *work) {
    if (!from || !to || !p || !q || !dp || !dq || !coefficient) return all_lanes(NULL_PARAMETER);
    if (!method || !method->is_private || method->bits != bits || (uintptr_t)work % 64 != 0) return all_lanes(MISMATCH);
    status_t status = 0;
    int count = 0;
    noted.size = bits / 8;
    noted.work = work;
    for (int lane = 0; lane < LANES; lane++) {
        noted.input_memory[lane] = NULL;
        const uint64_t *const parts[5] = {p[lane], q[lane], dp[lane], dq[lane], coefficient[lane]};
        if (!from[lane] || !to[lane] || !parts[0] || !parts[1] || !parts[2] || !parts[3] || !parts[4]) {
            status = with_lane(status, lane, NULL_PARAMETER);
            continue;
        }
        count++;
        memcpy(noted.inputs[lane], from[lane], (size_t)noted.size);
        noted.input_memory[lane] = from[lane];
        noted.output_memory[lane] = to[lane];
        const int is_chosen = lane == noted.lane && noted.right_calls == 0;
        decrypt(from[lane], to[lane], parts, noted.size, is_chosen && noted.order == WRONG_HALF);
        if (is_chosen && noted.order == WRONG_LANE) to[lane][noted.size - 1] ^= 1;
        if (is_chosen && noted.order == FAILED_LANE) {
            memset(to[lane], 0, (size_t)noted.size);
            status = with_lane(status, lane, FAILED);
        }
    }
    use(work, method);
    if (noted.right_calls > 0) noted.right_calls--;
    if (noted.call_count < CALLS_MAXIMUM) noted.lane_counts[noted.call_count++] = count;
    return status;
}

status_t mbx_rsa_public_mb8(
    const unsigned char *const from[LANES], unsigned char *const to[LANES], const uint64_t *const n[LANES], int bits,
    const method_t *method, unsigned char *work) {
    if (!from || !to || !n) return all_lanes(NULL_PARAMETER);
    if (!method || method->is_private || method->bits != bits) return all_lanes(MISMATCH);
    status_t status = 0;
    for (int lane = 0; lane < LANES; lane++) {
        if (from[lane] && to[lane] && n[lane]) {
            encrypt(from[lane], to[lane], n[lane], bits / 8);
        } else {
            status = with_lane(status, lane, NULL_PARAMETER);
        }
    }
    use(work, method);
    return status;
}

// --- crypto_mb/ec_nistp256.h -----------------------------------------------------------------------------------------

// Whether a signature is valid, by the functions that take numbers. OpenSSL refuses a point that is not on the curve.
static int is_valid(
    const unsigned char *r, const unsigned char *s, const unsigned char *digest, const uint64_t *x, const uint64_t *y) {
    EC_KEY *key = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
    ECDSA_SIG *signature = ECDSA_SIG_new();
    BIGNUM *point[] = {number(x, 32), number(y, 32)};
    ECDSA_SIG_set0(signature, BN_bin2bn(r, 32, NULL), BN_bin2bn(s, 32, NULL));
    const int is_valid = EC_KEY_set_public_key_affine_coordinates(key, point[0], point[1]) == 1 &&
        ECDSA_do_verify(digest, 32, signature, key) == 1;
    BN_free(point[0]);
    BN_free(point[1]);
    ECDSA_SIG_free(signature);
    EC_KEY_free(key);
    return is_valid;
}

status_t mbx_nistp256_ecdsa_verify_mb8(
    const unsigned char *const r[LANES], const unsigned char *const s[LANES], const unsigned char *const digest[LANES],
    const uint64_t *const x[LANES], const uint64_t *const y[LANES], const uint64_t *const z[LANES],
    unsigned char *work) {
    // Latchkey passes affine points, and no memory to work in.
    if (!r || !s || !digest || !x || !y || z || work) return all_lanes(NULL_PARAMETER);
    const int is_right = noted.right_checks > 0;
    status_t status = 0;
    for (int lane = 0; lane < LANES; lane++) {
        if (!r[lane] || !s[lane] || !digest[lane] || !x[lane] || !y[lane]) {
            status = with_lane(status, lane, NULL_PARAMETER);
            continue;
        }
        int verdict = is_valid(r[lane], s[lane], digest[lane], x[lane], y[lane]);
        if (!verdict) noted.forged_lanes |= 1 << lane;
        if (!is_right && noted.order == REFUSED_SIGNATURE && lane == noted.lane) verdict = 0;
        if (!is_right && noted.order == ACCEPTED_SIGNATURES) verdict = 1;
        if (!verdict) status = with_lane(status, lane, BAD_SIGNATURE);
    }
    if (noted.right_checks > 0) noted.right_checks--;
    noted.check_count++;
    return status;
}
