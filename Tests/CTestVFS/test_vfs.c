// For memmem.
#define _GNU_SOURCE

#include "test_vfs.h"

#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The recorded state of a file. It exists until the process ends, because connections are opened and closed.
typedef struct disk_file {
    char *path;
    uint8_t *durable;
    sqlite3_int64 durable_size;
    struct change *first;
    struct change *last;
    struct disk_file *next;
} disk_file;

// A write or truncation that is not durable.
typedef struct change {
    int is_truncation;
    int is_lost;
    sqlite3_int64 offset;
    int count;
    uint8_t *bytes;
    struct change *next;
} change;

typedef struct event {
    enum { EVENT_WRITE, EVENT_SYNC, EVENT_MARK } kind;
    disk_file *file;
    uint8_t *bytes;
    size_t count;
} event;

typedef struct test_file {
    sqlite3_file base;
    disk_file *disk;
    // SQLite's own file structure follows this structure in memory.
} test_file;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sqlite3_vfs *below;
static sqlite3_vfs vfs;
static disk_file *files;
static enum latchkey_test_fault armed;
static uint64_t operations_left, failures_left, failed, cut_seed;
static int is_tracing;
static event *events;
static uint64_t event_count, event_room;

static sqlite3_file *real(sqlite3_file *file) { return (sqlite3_file *)((test_file *)file + 1); }

// --- The trace ---

static void note(int kind, disk_file *file, const void *bytes, size_t count) {
    if (!is_tracing) return;
    if (event_count == event_room) {
        event_room = event_room ? 2 * event_room : 1024;
        events = realloc(events, event_room * sizeof(event));
    }
    event *added = &events[event_count++];
    added->kind = kind;
    added->file = file;
    added->count = count;
    added->bytes = count ? memcpy(malloc(count), bytes, count) : NULL;
}

void latchkey_test_vfs_trace(int is_on) {
    pthread_mutex_lock(&mutex);
    is_tracing = is_on;
    pthread_mutex_unlock(&mutex);
}

uint64_t latchkey_test_vfs_mark(void) {
    pthread_mutex_lock(&mutex);
    note(EVENT_MARK, NULL, NULL, 0);
    uint64_t place = event_count;
    pthread_mutex_unlock(&mutex);
    return place;
}

uint64_t latchkey_test_vfs_find_write(const uint8_t *bytes, size_t count) {
    uint64_t place = 0;
    pthread_mutex_lock(&mutex);
    for (uint64_t index = 0; index < event_count && place == 0; index++) {
        if (events[index].kind == EVENT_WRITE && memmem(events[index].bytes, events[index].count, bytes, count)) {
            place = index + 1;
        }
    }
    pthread_mutex_unlock(&mutex);
    return place;
}

uint64_t latchkey_test_vfs_find_sync(uint64_t write) {
    uint64_t place = 0;
    pthread_mutex_lock(&mutex);
    for (uint64_t index = write; write && index < event_count && place == 0; index++) {
        if (events[index].kind == EVENT_SYNC && events[index].file == events[write - 1].file) place = index + 1;
    }
    pthread_mutex_unlock(&mutex);
    return place;
}

// --- Durable bytes ---

static void apply(disk_file *file, const change *made) {
    sqlite3_int64 end = made->is_truncation ? made->offset : made->offset + made->count;
    if (made->is_truncation ? end != file->durable_size : end > file->durable_size) {
        file->durable = realloc(file->durable, end ? end : 1);
        if (end > file->durable_size) memset(file->durable + file->durable_size, 0, end - file->durable_size);
        file->durable_size = end;
    }
    if (!made->is_truncation) memcpy(file->durable + made->offset, made->bytes, made->count);
}

static void append_change(disk_file *file, int is_truncation, const void *bytes, int count, sqlite3_int64 offset) {
    change *added = calloc(1, sizeof(change));
    added->is_truncation = is_truncation;
    added->offset = offset;
    added->count = count;
    if (count) added->bytes = memcpy(malloc(count), bytes, count);
    if (file->last) file->last->next = added; else file->first = added;
    file->last = added;
}

static void make_durable(disk_file *file) {
    change **link = &file->first;
    file->last = NULL;
    while (*link) {
        change *made = *link;
        if (made->is_lost) {
            file->last = made;
            link = &made->next;
            continue;
        }
        apply(file, made);
        *link = made->next;
        free(made->bytes);
        free(made);
    }
}

// SplitMix64.
static uint64_t next_random(uint64_t *state) {
    uint64_t mixed = *state += 0x9E3779B97F4A7C15;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
    return mixed ^ (mixed >> 31);
}

static void cut(uint64_t seed) {
    for (disk_file *file = files; file; file = file->next) {
        for (change *made = file->first; made; made = made->next) {
            // The disk may have written any of them, in any order. This chooses one possibility.
            if (seed && next_random(&seed) & 1) apply(file, made);
        }
        FILE *left = fopen(file->path, "r+");
        if (!left) continue;
        if (ftruncate(fileno(left), 0) == 0 && file->durable_size) {
            fwrite(file->durable, 1, file->durable_size, left);
        }
        fclose(left);
    }
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

void latchkey_test_vfs_cut(uint64_t seed) {
    pthread_mutex_lock(&mutex);
    cut(seed);
}

void latchkey_test_vfs_arm(enum latchkey_test_fault fault, uint64_t nth, uint64_t times, uint64_t seed) {
    pthread_mutex_lock(&mutex);
    armed = fault;
    operations_left = nth;
    failures_left = times;
    failed = 0;
    cut_seed = seed;
    pthread_mutex_unlock(&mutex);
}

uint64_t latchkey_test_vfs_failed(void) {
    pthread_mutex_lock(&mutex);
    uint64_t count = failed;
    pthread_mutex_unlock(&mutex);
    return count;
}

// Whether this operation must fail.
static int is_failing(void) {
    if (operations_left > 1) {
        operations_left--;
        return 0;
    }
    if (failures_left == 0) return 0;
    failures_left--;
    failed++;
    return 1;
}

// --- The methods of a file ---

static int test_close(sqlite3_file *file) {
    int code = real(file)->pMethods ? real(file)->pMethods->xClose(real(file)) : SQLITE_OK;
    file->pMethods = NULL;
    return code;
}

static int test_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    return real(file)->pMethods->xRead(real(file), bytes, count, offset);
}

static int test_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    disk_file *disk = ((test_file *)file)->disk;
    int code = SQLITE_OK;
    pthread_mutex_lock(&mutex);
    if (armed == LATCHKEY_FAULT_POWER && is_failing()) cut(cut_seed);
    if (armed == LATCHKEY_FAULT_WRITE_ENOSPC && is_failing()) code = SQLITE_FULL;
    if (armed == LATCHKEY_FAULT_WRITE_EIO && is_failing()) code = SQLITE_IOERR_WRITE;
    if (code == SQLITE_OK) code = real(file)->pMethods->xWrite(real(file), bytes, count, offset);
    if (code == SQLITE_OK && disk) {
        append_change(disk, 0, bytes, count, offset);
        note(EVENT_WRITE, disk, bytes, count);
    }
    pthread_mutex_unlock(&mutex);
    return code;
}

static int test_truncate(sqlite3_file *file, sqlite3_int64 size) {
    disk_file *disk = ((test_file *)file)->disk;
    pthread_mutex_lock(&mutex);
    int code = real(file)->pMethods->xTruncate(real(file), size);
    if (code == SQLITE_OK && disk) append_change(disk, 1, NULL, 0, size);
    pthread_mutex_unlock(&mutex);
    return code;
}

static int test_sync(sqlite3_file *file, int flags) {
    disk_file *disk = ((test_file *)file)->disk;
    int code = SQLITE_OK;
    (void)flags;
    pthread_mutex_lock(&mutex);
    if (armed == LATCHKEY_FAULT_POWER && is_failing()) cut(cut_seed);
    if (armed == LATCHKEY_FAULT_SYNC_EIO && is_failing()) code = SQLITE_IOERR_FSYNC;
    // The tests do not need the real disk to sync.
    if (disk && code == SQLITE_OK) {
        make_durable(disk);
        note(EVENT_SYNC, disk, NULL, 0);
    } else if (disk) {
        for (change *made = disk->first; made; made = made->next) made->is_lost = 1;
    }
    pthread_mutex_unlock(&mutex);
    return code;
}

static int test_file_size(sqlite3_file *file, sqlite3_int64 *size) {
    return real(file)->pMethods->xFileSize(real(file), size);
}

static int test_lock(sqlite3_file *file, int level) { return real(file)->pMethods->xLock(real(file), level); }
static int test_unlock(sqlite3_file *file, int level) { return real(file)->pMethods->xUnlock(real(file), level); }

static int test_check_reserved_lock(sqlite3_file *file, int *is_locked) {
    return real(file)->pMethods->xCheckReservedLock(real(file), is_locked);
}

static int test_file_control(sqlite3_file *file, int operation, void *argument) {
    return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int test_sector_size(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }

static int test_device_characteristics(sqlite3_file *file) {
    return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

static int test_shm_map(sqlite3_file *file, int page, int size, int is_extending, void volatile **memory) {
    return real(file)->pMethods->xShmMap(real(file), page, size, is_extending, memory);
}

static int test_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}

static void test_shm_barrier(sqlite3_file *file) { real(file)->pMethods->xShmBarrier(real(file)); }
static int test_shm_unmap(sqlite3_file *file, int is_deleting) {
    return real(file)->pMethods->xShmUnmap(real(file), is_deleting);
}

// Version 2 has no memory-mapped reads, which would not see a write that is not durable yet.
static const sqlite3_io_methods methods = {
    2, test_close, test_read, test_write, test_truncate, test_sync, test_file_size, test_lock, test_unlock,
    test_check_reserved_lock, test_file_control, test_sector_size, test_device_characteristics, test_shm_map,
    test_shm_lock, test_shm_barrier, test_shm_unmap, NULL, NULL,
};

// --- The methods of the file system ---

static disk_file *disk_of(const char *path) {
    for (disk_file *file = files; file; file = file->next) {
        if (strcmp(file->path, path) == 0) return file;
    }
    disk_file *added = calloc(1, sizeof(disk_file));
    added->path = strdup(path);
    FILE *present = fopen(path, "r");
    if (present) {
        fseek(present, 0, SEEK_END);
        added->durable_size = ftell(present);
        rewind(present);
        added->durable = malloc(added->durable_size + 1);
        if (fread(added->durable, 1, added->durable_size, present) != (size_t)added->durable_size) abort();
        fclose(present);
    }
    added->next = files;
    files = added;
    return added;
}

static int test_open(sqlite3_vfs *self, const char *path, sqlite3_file *file, int flags, int *flags_given) {
    (void)self;
    test_file *opened = (test_file *)file;
    memset(opened, 0, sizeof(test_file));
    pthread_mutex_lock(&mutex);
    // This is done before SQLite opens the file, because closing another descriptor of it would drop SQLite's locks.
    if (path && flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)) opened->disk = disk_of(path);
    int code = below->xOpen(below, path, real(file), flags, flags_given);
    pthread_mutex_unlock(&mutex);
    opened->base.pMethods = code == SQLITE_OK || real(file)->pMethods ? &methods : NULL;
    return code;
}

static int test_delete(sqlite3_vfs *self, const char *path, int sync_folder) {
    (void)self;
    pthread_mutex_lock(&mutex);
    int code = below->xDelete(below, path, sync_folder);
    for (disk_file *file = files; code == SQLITE_OK && file; file = file->next) {
        if (strcmp(file->path, path) != 0) continue;
        // A new file with the same name begins empty.
        while (file->first) {
            change *made = file->first;
            file->first = made->next;
            free(made->bytes);
            free(made);
        }
        file->last = NULL;
        file->durable_size = 0;
    }
    pthread_mutex_unlock(&mutex);
    return code;
}

int latchkey_test_vfs_install(void) {
    below = sqlite3_vfs_find(NULL);
    if (!below || below == &vfs) return below ? 0 : 1;
    vfs = *below;
    vfs.zName = "latchkey-test";
    vfs.szOsFile = (int)sizeof(test_file) + below->szOsFile;
    vfs.pNext = NULL;
    vfs.xOpen = test_open;
    vfs.xDelete = test_delete;
    return sqlite3_vfs_register(&vfs, 1);
}
