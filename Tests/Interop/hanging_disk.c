// A library for LD_PRELOAD that makes the disk of a process hang, be full or be read-only while a file exists.
//
//     HANGING_DISK_SWITCH  the file. Its first word is the fault: "hang", "full" or "readonly". Without
//                          the file, there is no fault.
//     HANGING_DISK_NAME    only files whose path contains this text are affected.
//
// A hanging sync continues when the file is removed.
#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum fault { FAULT_NONE, FAULT_HANG, FAULT_FULL, FAULT_READ_ONLY };

static enum fault fault_now(void) {
    const char *path = getenv("HANGING_DISK_SWITCH");
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file) return FAULT_NONE;
    char word[16] = "";
    int count = fscanf(file, "%15s", word);
    fclose(file);
    if (count != 1) return FAULT_NONE;
    if (strcmp(word, "hang") == 0) return FAULT_HANG;
    if (strcmp(word, "full") == 0) return FAULT_FULL;
    return strcmp(word, "readonly") == 0 ? FAULT_READ_ONLY : FAULT_NONE;
}

static int is_concerned(int descriptor) {
    const char *name = getenv("HANGING_DISK_NAME");
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (!name || size < 0) return 0;
    path[size] = 0;
    return strstr(path, name) != NULL;
}

static void hang(void) {
    struct timespec pause = {0, 20 * 1000 * 1000};
    while (fault_now() == FAULT_HANG) nanosleep(&pause, NULL);
}

static int sync_fault(int descriptor) {
    if (!is_concerned(descriptor)) return 0;
    hang();
    return 0;
}

int fsync(int descriptor) {
    static int (*below)(int);
    if (!below) below = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    sync_fault(descriptor);
    return below(descriptor);
}

int fdatasync(int descriptor) {
    static int (*below)(int);
    if (!below) below = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    sync_fault(descriptor);
    return below(descriptor);
}

static int write_fault(int descriptor) {
    enum fault fault = fault_now();
    if (fault == FAULT_NONE || fault == FAULT_HANG || !is_concerned(descriptor)) return 0;
    errno = fault == FAULT_FULL ? ENOSPC : EROFS;
    return -1;
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    static ssize_t (*below)(int, const void *, size_t, off64_t);
    if (!below) below = (ssize_t (*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
    return write_fault(descriptor) ? -1 : below(descriptor, bytes, count, offset);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    static ssize_t (*below)(int, const void *, size_t, off_t);
    if (!below) below = (ssize_t (*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
    return write_fault(descriptor) ? -1 : below(descriptor, bytes, count, offset);
}
