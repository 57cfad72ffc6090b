/* cli_page_scene.c: triangles of scenes (scene.vtk) for the page of a report. */
#include "cli_page.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    SCENE_NUMBERS = 90000, /* of one scene: coordinates and corners, some 14,000 triangles */
    MOST_BYTES = 64 << 20  /* of a file that is read */
};

typedef struct scene {
    char *bytes;
    size_t n_points, n_triangles;
    double *at;  /* [point][3] */
    int *corner; /* [triangle][3] */
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
    if (3 * (s->n_points + s->n_triangles) > room)
        return "it has too many triangles for a page";
    return read_points(s, points) && read_triangles(s, triangles)
               ? NULL
               : "its file is none of points and triangles";
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
