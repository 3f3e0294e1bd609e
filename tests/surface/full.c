/* Preloaded by a test: while the file that FULL_SWITCH names exists, writing to files whose path begins with
   FULL_FOR fails with the error that it holds (`fsync`: only the flush fails). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int fault(int fd, int flush) {
    const char *name = getenv("FULL_SWITCH"), *path = getenv("FULL_FOR");
    char word[16] = "", link[64], target[4096];
    FILE *file;
    ssize_t length;
    if (!name || !path || !(file = fopen(name, "r"))) return 0;
    if (!fgets(word, sizeof word, file)) word[0] = 0;
    fclose(file);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, target, sizeof target - 1);
    if (length < 0) return 0;
    target[length] = 0;
    if (strncmp(target, path, strlen(path))) return 0;
    if (!strcmp(word, "fsync")) return flush ? EIO : 0;
    if (flush) return 0;
    return !strcmp(word, "EIO") ? EIO : !strcmp(word, "EROFS") ? EROFS : ENOSPC;
}

#define WRITES(name, offset)                                                   \
    ssize_t name(int fd, const void *bytes, size_t count, offset at) {         \
        static ssize_t (*real)(int, const void *, size_t, offset);             \
        int error = fault(fd, 0);                                              \
        if (error) { errno = error; return -1; }                               \
        if (!real) real = dlsym(RTLD_NEXT, #name);                             \
        return real(fd, bytes, count, at);                                     \
    }
WRITES(pwrite, off_t)
WRITES(pwrite64, off64_t)

ssize_t write(int fd, const void *bytes, size_t count) {
    static ssize_t (*real)(int, const void *, size_t);
    int error = fd > 2 ? fault(fd, 0) : 0;
    if (error) { errno = error; return -1; }
    if (!real) real = dlsym(RTLD_NEXT, "write");
    return real(fd, bytes, count);
}

#define FLUSHES(name)                                                          \
    int name(int fd) {                                                         \
        static int (*real)(int);                                               \
        int error = fault(fd, 1);                                              \
        if (error) { errno = error; return -1; }                               \
        if (!real) real = dlsym(RTLD_NEXT, #name);                             \
        return real(fd);                                                       \
    }
FLUSHES(fsync)
FLUSHES(fdatasync)
