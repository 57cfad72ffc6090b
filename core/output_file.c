#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* False while another process holds the lock; a file system without locks has none to wait for. */
static bool take_lock(int file)
{
    return flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

/* Removes a file that nobody writes any more; false while somebody does. */
static bool remove_left(const char *part)
{
    struct stat opened, named;
    int file = open(part, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);

    if (file < 0) /* gone, a link, or another user's: removed where that is allowed */
        return unlink(part) == 0 || errno == ENOENT;
    bool left = take_lock(file);
    /* It may have been renamed to its place meanwhile, and the name be a third one's. */
    if (left && fstat(file, &opened) == 0 && lstat(part, &named) == 0 &&
        opened.st_ino == named.st_ino && opened.st_dev == named.st_dev)
        left = unlink(part) == 0;
    close(file);
    return left;
}

/* A new, locked file; -1 with errno. */
static int create_part(const char *part)
{
    enum { TRIES = 500 };
    const struct timespec pause = {0, 20000000};

    for (int i = 0; i < TRIES; i++) {
        struct stat info;
        int file = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0 && errno != EEXIST)
            return -1;
        /* Another one may have taken it for a left one before it was locked. */
        if (file >= 0 && take_lock(file) && fstat(file, &info) == 0 && info.st_nlink > 0)
            return file;
        bool again = file >= 0;
        if (again)
            close(file);
        else
            again = remove_left(part);
        if (!again)
            nanosleep(&pause, NULL);
    }
    errno = EBUSY;
    return -1;
}

int ec_output_file_open(const char *path, ec_output_file *file)
{
    struct stat info;

    memset(file, 0, sizeof *file);
    if (strlen(path) >= sizeof file->path)
        return ec_fail(EC_ERR_FILE, "'%.80s...' cannot be written: the path is too long", path);
    strcpy(file->path, path);
    snprintf(file->part, sizeof file->part, "%s.part", path);
    /* what is renamed to it would take the place of a device, or of a pipe */
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return ec_fail(EC_ERR_FILE, "'%s' cannot be written: it is %s", path,
                       S_ISDIR(info.st_mode) ? "a folder" : "no file");
    int handle = create_part(file->part);
    file->stream = handle < 0 ? NULL : fdopen(handle, "wb");
    if (file->stream)
        return EC_OK;
    ec_fail(EC_ERR_FILE, "'%s' cannot be written: %s", path, strerror(errno));
    if (handle >= 0) {
        unlink(file->part);
        close(handle);
    }
    return EC_ERR_FILE;
}

int ec_output_file_close(ec_output_file *file)
{
    errno = 0;
    bool whole = fflush(file->stream) == 0 && !ferror(file->stream);
    int reason = errno ? errno : EIO;
    /* Renamed while the lock is held: nobody can take it for a left one. */
    if (whole && rename(file->part, file->path) != 0) {
        reason = errno;
        whole = false;
    }
    if (!whole)
        unlink(file->part);
    if (fclose(file->stream) != 0 && whole) {
        reason = errno;
        whole = false;
    }
    file->stream = NULL;
    if (!whole)
        return ec_fail(EC_ERR_FILE, "'%s' cannot be written: %s", file->path, strerror(reason));
    return EC_OK;
}

void ec_output_file_drop(ec_output_file *file)
{
    unlink(file->part); /* while the lock is held */
    fclose(file->stream);
    file->stream = NULL;
}
