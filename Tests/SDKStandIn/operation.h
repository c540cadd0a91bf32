#ifndef OPERATION_H
#define OPERATION_H

#include "ckc.h"

#define FACTS_MAXIMUM 64

struct fps_operation {
    struct fps_call *call;
    struct fps_operation *next;
    int makes_ckc;
    int checks_in;
    uint64_t id;
    int has_spc;
    struct buffer spc;
    int asset_count;
    struct asset asset;
    // The first problem of the members, or FPS_PANIC.
    int32_t problem;
    struct fault fault;
    struct fps_fact facts[FACTS_MAXIMUM];
    size_t fact_count;
};

struct fps_call {
    enum fps_flavour flavour;
    const char *request;
    size_t size;
    struct fps_operation *first;
    // The fault of the last operation that has one.
    struct fault fault;
};

void operation_free(struct fps_operation *operation);
// Writes the whole request to the standard error output, with the content key.
void call_print_request(const struct fps_call *call);

#endif
