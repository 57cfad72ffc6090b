/* cli_page_scene.c: triangles of scenes (scene.vtk) for the page of a report. */
#include "cli_page.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    SCENE_NUMBERS = 90000, /* of one scene: coordinates and corners, some 14,000 triangles */
    MOST_BYTES = 64 << 20  /* of a file that is read */
};

typedef struct scene {
    char *bytes;
    size_t n_points, n_triangles, n_all; /* n_all: triangles of the file */
    double *at;                          /* [point][3] */
    int *corner;                         /* [triangle][3] */
} scene;

static void release(scene *s)
{
    free(s->bytes);
    free(s->at);
    free(s->corner);
}

/* The count behind a word at the begin of a line, and where its line ends; NULL: it is not there. */
static char *find_list(char *text, const char *word, size_t *n)
{
    char *found = strstr(text, word), *end = NULL;

    if (!found)
        return NULL;
    long value = strtol(found + strlen(word), &end, 10);
    *n = value > 0 && value < INT_MAX / 4 ? (size_t)value : 0;
    return *n > 0 ? strchr(end, '\n') : NULL;
}

static bool read_points(scene *s, char *at)
{
    char *end = NULL;

    s->at = malloc(sizeof *s->at * 3 * s->n_points);
    for (size_t i = 0; s->at && i < 3 * s->n_points; i++, at = end) {
        s->at[i] = strtod(at, &end);
        if (end == at)
            return false;
    }
    return s->at != NULL;
}

static bool read_triangles(scene *s, char *at)
{
    char *end = NULL;

    s->corner = malloc(sizeof *s->corner * 3 * s->n_triangles);
    for (size_t i = 0; s->corner && i < 4 * s->n_triangles; i++, at = end) {
        long value = strtol(at, &end, 10);
        if (end == at || (i % 4 == 0 ? value != 3 : value < 0 || (size_t)value >= s->n_points))
            return false;
        if (i % 4 > 0)
            s->corner[i / 4 * 3 + i % 4 - 1] = (int)value;
    }
    return s->corner != NULL;
}

/* ---- coarser ---- */

/* Boxes of one size that hold the points, `along` of them along the longest side. */
typedef struct lattice {
    double low[3], width;
    size_t n[3];
} lattice;

static lattice lay(const scene *s, size_t along)
{
    lattice l = {.width = 0};

    for (int c = 0; c < 3; c++) {
        double high = l.low[c] = s->at[c];
        for (size_t i = 0; i < s->n_points; i++) {
            l.low[c] = fmin(l.low[c], s->at[3 * i + (size_t)c]);
            high = fmax(high, s->at[3 * i + (size_t)c]);
        }
        l.n[c] = 1;
        l.width = fmax(l.width, (high - l.low[c]) / (double)along);
    }
    for (size_t i = 0; i < 3 * s->n_points && l.width > 0; i++) {
        size_t at = (size_t)((s->at[i] - l.low[i % 3]) / l.width);
        l.n[i % 3] = at + 1 > l.n[i % 3] ? at + 1 : l.n[i % 3];
    }
    return l;
}

/* Points in one box become one, the first of them; triangles that are none any more fall away. J. Rossignac,
 * P. Borrel, Multi-resolution 3D approximations for rendering complex scenes, 1993. */
static bool cluster(scene *s, size_t along)
{
    const lattice l = lay(s, along);
    int *first = l.width > 0 ? malloc(sizeof *first * l.n[0] * l.n[1] * l.n[2]) : NULL;
    int *as = malloc(sizeof *as * s->n_points);
    size_t points = 0, triangles = 0;

    if (!first || !as) {
        free(first);
        free(as);
        return false;
    }
    memset(first, -1, sizeof *first * l.n[0] * l.n[1] * l.n[2]);
    for (size_t i = 0; i < s->n_points; i++) {
        size_t box = 0;
        for (size_t c = 3; c-- > 0;)
            box = box * l.n[c] + (size_t)((s->at[3 * i + c] - l.low[c]) / l.width);
        if (first[box] < 0) {
            memmove(s->at + 3 * points, s->at + 3 * i, 3 * sizeof *s->at);
            first[box] = (int)points++;
        }
        as[i] = first[box];
    }
    for (size_t i = 0; i < s->n_triangles; i++) {
        const int *corner = s->corner + 3 * i;
        const int now[3] = {as[corner[0]], as[corner[1]], as[corner[2]]};
        if (now[0] != now[1] && now[1] != now[2] && now[2] != now[0])
            memcpy(s->corner + 3 * triangles++, now, sizeof now);
    }
    s->n_points = points;
    s->n_triangles = triangles;
    free(first);
    free(as);
    return true;
}

static bool fits(const scene *s, size_t room)
{
    return 3 * (s->n_points + s->n_triangles) <= room;
}

/* Less and less points until what is left fits. */
static bool coarsen(scene *s, size_t room)
{
    enum { FINEST = 192, COARSEST = 12 };

    for (size_t along = FINEST; !fits(s, room) && along >= COARSEST; along = along * 3 / 4)
        if (!cluster(s, along))
            return false;
    return fits(s, room) && s->n_triangles > 0;
}

/* Why a scene is not drawn, NULL: it is. As ec_scene_save writes it: points, then triangles. */
static const char *read_scene(const char *path, size_t room, scene *s)
{
    struct stat info;

    memset(s, 0, sizeof *s);
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > MOST_BYTES)
        return "its file is too large";
    FILE *file = fopen(path, "rb");
    s->bytes = file ? malloc((size_t)info.st_size + 1) : NULL;
    size_t n = s->bytes ? fread(s->bytes, 1, (size_t)info.st_size, file) : 0;
    if (file)
        fclose(file);
    if (!s->bytes)
        return "its file cannot be read";
    s->bytes[n] = 0;
    char *points = find_list(s->bytes, "\nPOINTS ", &s->n_points);
    char *triangles = points ? find_list(points, "\nPOLYGONS ", &s->n_triangles) : NULL;
    if (!triangles)
        return "its file is none of points and triangles";
    s->n_all = s->n_triangles;
    if (!read_points(s, points) || !read_triangles(s, triangles))
        return "its file is none of points and triangles";
    return coarsen(s, room) ? NULL : "it has too many triangles for a page";
}

static int put_scene(ec_page *page, void *user, const char *name)
{
    static const char *const axes[] = {"x", "y", "z"}, *const corners[] = {"i", "j", "k"};
    FILE *to = page->to;
    int *written = user;
    char path[4700];
    scene s;

    snprintf(path, sizeof path, "%s/%s", page->folder, name);
    const char *why = read_scene(path, page->room < SCENE_NUMBERS ? page->room : SCENE_NUMBERS, &s);
    fputs((*written)++ == 0 ? "{\"name\":" : ",\n{\"name\":", to);
    ec_page_text(to, name);
    fputs(",\"why\":", to);
    ec_page_text(to, why);
    if (!why)
        fprintf(to, ",\"total\":%zu,\"shown\":%zu", s.n_all, s.n_triangles);
    for (int c = 0; c < 3 && !why; c++) {
        fprintf(to, ",\n\"%s\":", axes[c]);
        ec_page_list(to, s.at + c, s.n_points, 3, EC_PAGE_DRAWN);
        fprintf(to, ",\n\"%s\":[", corners[c]);
        for (size_t i = 0; i < s.n_triangles; i++)
            fprintf(to, i ? ",%d" : "%d", s.corner[3 * i + (size_t)c]);
        fputc(']', to);
    }
    ec_page_measure(page);
    fputc('}', to);
    release(&s);
    return EC_OK;
}

/* scene.vtk, scene_2.vtk, ... */
static int is_scene(const struct dirent *entry)
{
    const char *ending = strrchr(entry->d_name, '.');

    return strncmp(entry->d_name, "scene", 5) == 0 && ending && strcmp(ending, ".vtk") == 0;
}

int ec_page_scenes(ec_page *page)
{
    int written = 0;

    fputs(",\n\"scenes\":[", page->to);
    int status = ec_page_each_file(page, is_scene, put_scene, &written);
    fputc(']', page->to);
    return status;
}
