/* The profile that NOVA_PROFILE=1 asks for: the number of launches of each kernel of a program, their
 * time and their bytes, and the same of copies. It is printed as a table on the standard error when the
 * process ends or the program is unloaded.
 *
 * A call notes each operation that it puts into its queue, with a span (nova_span) that later tells its
 * time. It adds them to the table of its device when all of them have ended. Without a profile a call
 * asks once whether there is one, and each operation asks whether the call has one. */
#ifndef NOVA_PROFILE_H
#define NOVA_PROFILE_H

/* Included after the definitions of memory, queues and spans. */
#include "pool.h"

/* The number of operations that a call notes before it waits for them. */
#define NOVA_NOTED 64

/* The number of bytes that are copied to measure a device: at first, and at least, if there is less
 * memory. NOVA_COPIES is the number of copies. The first copy each way only touches the memory. */
#ifndef NOVA_COPIED
#define NOVA_COPIED ((size_t)256 << 20)
#endif
#define NOVA_COPIED_LEAST ((size_t)1 << 20)
#define NOVA_COPIES 6

/* The names of operations that are not kernels; these have no place. */
#define NOVA_COPY_TO_DEVICE "host to device"
#define NOVA_COPY_TO_HOST "device to host"
#define NOVA_COPY_ON_DEVICE "device to device"

/* An operation that is not in the table yet. */
typedef struct nova_noted {
    const char *name, *place;
    nova_span span;
    uint64_t read, written; /* bytes of the device's memory */
} nova_noted;

/* A row of the table: the operations of one name and place. */
typedef struct nova_profile_row {
    const char *name, *place;
    int64_t launches;
    int64_t timed;          /* launches of known duration, */
    double seconds;         /* their total time, */
    uint64_t moved;         /* and the bytes that they read and wrote */
    uint64_t read, written; /* by all launches */
} nova_profile_row;

/* The profile of a device. */
typedef struct nova_profile {
    pthread_mutex_t lock;      /* for all fields below except the last one */
    bool measured, printed;
    char device[128];          /* its name, */
    double bandwidth;          /* and the bytes that a copy reads and writes in a second there;
                                * 0: not known */
    nova_profile_row *rows;
    int count, room;
    struct nova_profile *next; /* of another device */
} nova_profile;

/* The profiles of the program, one for each device, and the lock of this list. */
static nova_profile *nova_profiles;
static pthread_mutex_t nova_profiles_lock = PTHREAD_MUTEX_INITIALIZER;

/* The row of a name and place, which may be a new one; null if there is no memory. The lock is held. */
static nova_profile_row *nova_row_of(nova_profile *profile, const char *name, const char *place)
{
    for (int k = 0; k < profile->count; k++) {
        nova_profile_row *row = &profile->rows[k];
        bool both = place != NULL && row->place != NULL;
        if (strcmp(row->name, name) == 0
            && (both ? strcmp(row->place, place) == 0 : row->place == place))
            return row;
    }
    if (profile->count == profile->room) {
        int room = 2 * profile->room + 16;
        void *rows = realloc(profile->rows, (size_t)room * sizeof(nova_profile_row));
        if (rows == NULL)
            return NULL;
        profile->rows = (nova_profile_row *)rows;
        profile->room = room;
    }
    nova_profile_row *row = &profile->rows[profile->count++];
    memset(row, 0, sizeof *row);
    row->name = name;
    row->place = place;
    return row;
}

/* Adds the noted operations of a call to the table, after all of them have ended. */
static void nova_settle(nova_session *session)
{
    nova_profile *profile = session->profile;
    nova_finish(session->queue);
    pthread_mutex_lock(&profile->lock);
    for (int k = 0; k < session->noted_count; k++) {
        const nova_noted *noted = &session->noted[k];
        double seconds = 0;
        bool known = nova_end_span(noted->span, &seconds);
        nova_profile_row *row =
            profile->printed ? NULL : nova_row_of(profile, noted->name, noted->place);
        if (row == NULL)
            continue;
        row->launches++;
        row->read += noted->read;
        row->written += noted->written;
        if (known) {
            row->timed++;
            row->seconds += seconds;
            row->moved += noted->read + noted->written;
        }
    }
    pthread_mutex_unlock(&profile->lock);
    session->noted_count = 0;
}

/* Notes an operation that a call has put into its queue: a kernel with its place, or a copy. Also notes
 * the bytes that it reads and writes in the device's memory. */
static void nova_note(nova_session *session, const char *name, const char *place, nova_span span,
                      uint64_t read, uint64_t written)
{
    if (session->profile == NULL)
        return;
    if (session->noted_count == NOVA_NOTED)
        nova_settle(session);
    nova_noted noted = {name, place, span, read, written};
    session->noted[session->noted_count++] = noted;
}

/* The order of rows: kernels before copies, longer times before shorter times. */
static int nova_compare_rows(const void *first, const void *second)
{
    const nova_profile_row *a = (const nova_profile_row *)first;
    const nova_profile_row *b = (const nova_profile_row *)second;
    if ((a->place == NULL) != (b->place == NULL))
        return a->place == NULL ? 1 : -1;
    if (a->seconds != b->seconds)
        return a->seconds < b->seconds ? 1 : -1;
    return strcmp(a->name, b->name);
}

/* Prints a number that may be unknown; zero stands for unknown. */
static void nova_print_known(FILE *out, int width, int digits, double number, const char *unit)
{
    if (number > 0)
        fprintf(out, "  %*.*f%s", width, digits, number, unit);
    else
        fprintf(out, "  %*s%*s", width, "-", (int)strlen(unit), "");
}

/* Prints a row, with these widths of names and places. */
static void nova_print_row(FILE *out, const nova_profile *profile, const nova_profile_row *row,
                           int name_width, int place_width)
{
    const char *place = row->place == NULL || *row->place == '\0' ? "-" : row->place;
    double speed = row->seconds > 0 ? (double)row->moved / row->seconds : 0;
    /* The device's memory does not limit copies to and from the host. */
    bool on_device = row->place != NULL || strcmp(row->name, NOVA_COPY_ON_DEVICE) == 0;
    bool compared = on_device && profile->bandwidth > 0;
    fprintf(out, "%-*s  %-*s  %10" PRId64, name_width, row->name, place_width, place, row->launches);
    nova_print_known(out, 12, 3, row->seconds * 1e3, "");
    nova_print_known(out, 12, 1, row->timed > 0 ? row->seconds / (double)row->timed * 1e6 : 0, "");
    fprintf(out, "  %15" PRIu64 "  %15" PRIu64, row->read, row->written);
    nova_print_known(out, 8, 1, speed * 1e-9, "");
    nova_print_known(out, 8, 1, compared ? 100 * speed / profile->bandwidth : 0, " %");
    fprintf(out, "\n");
}

/* Prints the table of a device, and empties it. */
static void nova_print_profile(FILE *out, nova_profile *profile)
{
    int name_width = 16, place_width = 5;
    pthread_mutex_lock(&profile->lock);
    profile->printed = true;
    if (profile->count > 0) {
        qsort(profile->rows, (size_t)profile->count, sizeof *profile->rows, nova_compare_rows);
        fprintf(out, "profile of %s", profile->device);
        if (profile->bandwidth > 0)
            fprintf(out, ", whose copies have %.1f GB/s", profile->bandwidth * 1e-9);
        fprintf(out, "\n");
    }
    for (int k = 0; k < profile->count; k++) {
        const nova_profile_row *row = &profile->rows[k];
        int name = (int)strlen(row->name), place = row->place == NULL ? 0 : (int)strlen(row->place);
        name_width = name > name_width ? name : name_width;
        place_width = place > place_width ? place : place_width;
    }
    if (profile->count > 0)
        fprintf(out, "%-*s  %-*s  %10s  %12s  %12s  %15s  %15s  %8s  %10s\n", name_width,
                "kernel or copy", place_width, "place", "launches", "total, ms", "mean, us",
                "bytes read", "written", "GB/s", "of copies");
    for (int k = 0; k < profile->count; k++)
        nova_print_row(out, profile, &profile->rows[k], name_width, place_width);
    free(profile->rows);
    profile->rows = NULL;
    profile->count = profile->room = 0;
    pthread_mutex_unlock(&profile->lock);
}

/* Prints the tables of all devices of the program. */
static void nova_print_profiles(void)
{
    pthread_mutex_lock(&nova_profiles_lock);
    for (nova_profile *profile = nova_profiles; profile != NULL; profile = profile->next)
        nova_print_profile(stderr, profile);
    pthread_mutex_unlock(&nova_profiles_lock);
}

/* A new profile, which is printed when the process ends; null if there is no memory. */
static nova_profile *nova_make_profile(void)
{
    nova_profile *profile = (nova_profile *)calloc(1, sizeof *profile);
    if (profile == NULL || pthread_mutex_init(&profile->lock, NULL) != 0) {
        free(profile);
        return NULL;
    }
    pthread_mutex_lock(&nova_profiles_lock);
    if (nova_profiles == NULL)
        atexit(nova_print_profiles);
    profile->next = nova_profiles;
    nova_profiles = profile;
    pthread_mutex_unlock(&nova_profiles_lock);
    return profile;
}

/* The profile of a device if the user wants one, else null. The environment is read once. The lock is
 * held. */
static nova_profile *nova_profile_of(nova_pool_of_device *pool)
{
    if (!pool->asked) {
        const char *wanted = getenv("NOVA_PROFILE");
        pool->asked = true;
        if (wanted != NULL && *wanted != '\0' && strcmp(wanted, "0") != 0)
            pool->profile = nova_make_profile();
    }
    return pool->profile;
}

/* Prepares a call that has a queue for notes. The first call measures the device: its name, and the
 * time of copies. time_copy returns the seconds of a copy of this many bytes there, or 0 if it cannot
 * be made. */
static void nova_open_profile(nova_session *session,
                              void (*name)(nova_session *session, char *text, size_t size),
                              double (*time_copy)(nova_session *session, size_t bytes))
{
    nova_profile *profile = session->profile;
    if (profile == NULL)
        return;
    session->noted = (nova_noted *)malloc(NOVA_NOTED * sizeof(nova_noted));
    if (session->noted == NULL) {
        session->profile = NULL;
        return;
    }
    pthread_mutex_lock(&profile->lock);
    if (!profile->measured) {
        profile->measured = true;
        name(session, profile->device, sizeof profile->device);
        for (size_t bytes = NOVA_COPIED; bytes >= NOVA_COPIED_LEAST && profile->bandwidth <= 0;
             bytes /= 2) {
            double seconds = time_copy(session, bytes);
            profile->bandwidth = seconds > 0 ? 2 * (double)bytes / seconds : 0;
        }
    }
    pthread_mutex_unlock(&profile->lock);
}

/* Adds the noted operations of a call to the table, and ends its notes. */
static void nova_close_profile(nova_session *session)
{
    if (session->profile == NULL)
        return;
    nova_settle(session);
    free(session->noted);
    session->noted = NULL;
    session->profile = NULL;
}

#endif
