#include "mesh_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "status.h"

enum { NAME = 64, PROPERTIES = 64, ELEMENTS = 16, MOST_CORNERS = 100000 };

typedef enum number_type { I8, U8, I16, U16, I32, U32, F32, F64, NO_TYPE } number_type;

static const struct {
    const char *name, *other;
    int size;
} types[] = {{"char", "int8", 1},     {"uchar", "uint8", 1},   {"short", "int16", 2},
             {"ushort", "uint16", 2}, {"int", "int32", 4},     {"uint", "uint32", 4},
             {"float", "float32", 4}, {"double", "float64", 8}};

typedef struct property {
    char name[NAME];
    number_type type, count; /* count: of a list, else NO_TYPE */
} property;

typedef struct element {
    char name[NAME];
    int64_t n;
    int n_properties;
    property property[PROPERTIES];
} element;

typedef struct reader {
    const char *path;
    char *bytes, *at, *end;
    bool text, swap;
    int n_elements;
    element element[ELEMENTS];
    ec_mesh_list *list;
    ec_mesh *mesh;
    int32_t *corner; /* of the face at hand */
    int32_t capacity;
    int32_t (*triangle)[3];
    int64_t n_triangles, triangle_capacity;
} reader;

static int bad(const reader *r, const char *what)
{
    return ec_fail(EC_ERR_FORMAT, "'%s' is not understood: %s", r->path, what);
}

/* ---- header -------------------------------------------------------------------------------------- */

/* The next line, ended by a zero; NULL at the file's end. */
static char *next_line(reader *r)
{
    char *line = r->at;
    char *feed = memchr(line, '\n', (size_t)(r->end - line));
    if (!feed)
        return NULL;
    r->at = feed + 1;
    *feed = 0;
    if (feed > line && feed[-1] == '\r')
        feed[-1] = 0;
    return line;
}

/* The word at *line, which moves behind it; "" when there is none. */
static const char *next_word(char **line)
{
    *line += strspn(*line, " \t");
    char *word = *line;
    *line += strcspn(*line, " \t");
    if (**line)
        *(*line)++ = 0;
    return word;
}

static number_type type_of(const char *word)
{
    for (int i = 0; i < NO_TYPE; i++)
        if (strcmp(word, types[i].name) == 0 || strcmp(word, types[i].other) == 0)
            return (number_type)i;
    return NO_TYPE;
}

static bool copy_name(char to[NAME], const char *word)
{
    size_t n = strlen(word);
    if (n == 0 || n >= NAME)
        return false;
    memcpy(to, word, n + 1);
    return true;
}

static int read_element(reader *r, char *line)
{
    char *stop;
    if (r->n_elements == ELEMENTS)
        return bad(r, "too many elements");
    element *e = &r->element[r->n_elements++];
    *e = (element){0};
    bool named = copy_name(e->name, next_word(&line));
    const char *count = next_word(&line);
    e->n = strtoll(count, &stop, 10);
    /* each has a byte at least */
    if (!named || stop == count || *stop || e->n < 0 || e->n > r->end - r->bytes ||
        e->n > INT32_MAX / 3)
        return bad(r, "an element's name or number");
    return EC_OK;
}

static int read_property(reader *r, char *line)
{
    if (r->n_elements == 0 || r->element[r->n_elements - 1].n_properties == PROPERTIES)
        return bad(r, "a property without an element, or too many");
    element *e = &r->element[r->n_elements - 1];
    property *p = &e->property[e->n_properties++];
    const char *word = next_word(&line);
    bool list = strcmp(word, "list") == 0;
    p->count = list ? type_of(next_word(&line)) : NO_TYPE;
    p->type = type_of(list ? next_word(&line) : word);
    if (p->type == NO_TYPE || (list && (p->count == NO_TYPE || p->count >= F32)) ||
        !copy_name(p->name, next_word(&line)))
        return bad(r, "a property's type or name");
    return EC_OK;
}

static int read_format(reader *r, char *line)
{
    const uint16_t one = 1;
    bool little = *(const uint8_t *)&one == 1;
    const char *word = next_word(&line);
    r->text = strcmp(word, "ascii") == 0;
    if (strcmp(word, "binary_little_endian") == 0)
        r->swap = !little;
    else if (strcmp(word, "binary_big_endian") == 0)
        r->swap = little;
    else if (!r->text)
        return bad(r, "its format is not ascii, binary_little_endian or binary_big_endian");
    return EC_OK;
}

static int read_header(reader *r)
{
    char *line = next_line(r);
    bool formatted = false;
    if (!line || strcmp(line, "ply") != 0)
        return bad(r, "it does not begin with ply");
    while ((line = next_line(r))) {
        const char *word = next_word(&line);
        int rc = EC_OK;
        if (strcmp(word, "end_header") == 0)
            return formatted ? EC_OK : bad(r, "it states no format");
        if (strcmp(word, "format") == 0) {
            rc = read_format(r, line);
            formatted = true;
        } else if (strcmp(word, "element") == 0) {
            rc = read_element(r, line);
        } else if (strcmp(word, "property") == 0) {
            rc = read_property(r, line);
        } else if (strcmp(word, "comment") != 0 && strcmp(word, "obj_info") != 0 && word[0]) {
            rc = bad(r, "an unknown line in its header");
        }
        if (rc != EC_OK)
            return rc;
    }
    return bad(r, "its header has no end");
}

/* ---- numbers -------------------------------------------------------------------------------------- */

static bool read_text(reader *r, double *value)
{
    char *stop;
    while (r->at < r->end && strchr(" \t\r\n", *r->at))
        r->at++;
    if (r->at == r->end) /* the byte behind the end is a zero */
        return false;
    *value = strtod(r->at, &stop);
    bool good = stop > r->at && strchr(" \t\r\n", *stop);
    r->at = stop;
    return good;
}

static bool read_number(reader *r, number_type type, double *value)
{
    uint8_t b[8];
    if (r->text)
        return read_text(r, value);
    int size = types[type].size;
    if (r->end - r->at < size)
        return false;
    for (int i = 0; i < size; i++)
        b[i] = (uint8_t)r->at[r->swap ? size - 1 - i : i];
    r->at += size;
    union {
        int8_t i8;
        uint8_t u8;
        int16_t i16;
        uint16_t u16;
        int32_t i32;
        uint32_t u32;
        float f32;
        double f64;
    } x;
    memcpy(&x, b, (size_t)size);
    switch (type) {
    case I8:
        *value = x.i8;
        break;
    case U8:
        *value = x.u8;
        break;
    case I16:
        *value = x.i16;
        break;
    case U16:
        *value = x.u16;
        break;
    case I32:
        *value = x.i32;
        break;
    case U32:
        *value = x.u32;
        break;
    case F32:
        *value = (double)x.f32;
        break;
    default:
        *value = x.f64;
    }
    return true;
}

static bool skip_property(reader *r, const property *p)
{
    double count = 1, unused;
    if (p->count != NO_TYPE && (!read_number(r, p->count, &count) || !(count >= 0)))
        return false;
    for (double i = 0; i < count; i++)
        if (!read_number(r, p->type, &unused))
            return false;
    return true;
}

/* ---- vertices and faces --------------------------------------------------------------------------- */

static int read_vertices(reader *r, const element *e, const char *name)
{
    int axis[PROPERTIES], found = 0;
    for (int i = 0; i < e->n_properties; i++) {
        const char *p = e->property[i].name;
        axis[i] = e->property[i].count == NO_TYPE && p[1] == 0 && p[0] >= 'x' && p[0] <= 'z'
                      ? p[0] - 'x'
                      : -1;
        found |= axis[i] >= 0 ? 1 << axis[i] : 0;
    }
    if (found != 7)
        return bad(r, "its vertices have no x, y, z");
    int rc = ec_mesh_list_add(r->list, name, NULL, (int32_t)e->n, 0, &r->mesh);
    for (int32_t v = 0; rc == EC_OK && v < e->n; v++)
        for (int i = 0; i < e->n_properties; i++) {
            double value = 0;
            if (axis[i] < 0 ? !skip_property(r, &e->property[i])
                            : !read_number(r, e->property[i].type, &value))
                return bad(r, "it ends within its vertices, or has what is no number");
            if (axis[i] >= 0 && !isfinite(value))
                return ec_fail(EC_ERR_FORMAT, "'%s': vertex %d is no finite number", r->path,
                               (int)v + 1);
            if (axis[i] >= 0)
                r->mesh->vertex[v][axis[i]] = value;
        }
    return rc;
}

static int add_triangle(reader *r, int32_t a, int32_t b, int32_t c)
{
    if (r->n_triangles == r->triangle_capacity) {
        int64_t room = r->triangle_capacity ? 2 * r->triangle_capacity : 1024;
        int32_t(*larger)[3] = realloc(r->triangle, (size_t)room * sizeof *larger);
        if (!larger || room > INT32_MAX) {
            r->triangle = larger ? larger : r->triangle;
            return ec_fail(EC_ERR_MEMORY, "no memory for %lld triangles of '%s'", (long long)room,
                           r->path);
        }
        r->triangle = larger;
        r->triangle_capacity = room;
    }
    int32_t *t = r->triangle[r->n_triangles++];
    t[0] = a;
    t[1] = b;
    t[2] = c;
    return EC_OK;
}

/* Twice the area of a b c along the normal. */
static double area_along(const reader *r, const double normal[3], int32_t a, int32_t b, int32_t c)
{
    const double(*p)[3] = (const double(*)[3])r->mesh->vertex;
    double u[3], v[3];
    for (int k = 0; k < 3; k++) {
        u[k] = p[b][k] - p[a][k];
        v[k] = p[c][k] - p[a][k];
    }
    return normal[0] * (u[1] * v[2] - u[2] * v[1]) + normal[1] * (u[2] * v[0] - u[0] * v[2]) +
           normal[2] * (u[0] * v[1] - u[1] * v[0]);
}

/* Whether corner i of n is convex and its triangle holds no other corner. */
static bool is_ear(const reader *r, const double normal[3], int32_t n, int32_t i)
{
    int32_t a = r->corner[(i + n - 1) % n], b = r->corner[i], c = r->corner[(i + 1) % n];
    if (!(area_along(r, normal, a, b, c) > 0))
        return false;
    for (int32_t j = 0; j < n; j++) {
        int32_t p = r->corner[j];
        if (p != a && p != b && p != c && area_along(r, normal, a, b, p) >= 0 &&
            area_along(r, normal, b, c, p) >= 0 && area_along(r, normal, c, a, p) >= 0)
            return false;
    }
    return true;
}

/* A polygon by cutting off ears (Meisters 1975); what has none (it crosses itself) as a fan. */
static int cut_polygon(reader *r, int32_t n)
{
    double normal[3] = {0};
    const double(*p)[3] = (const double(*)[3])r->mesh->vertex;
    for (int32_t i = 0; n > 3 && i < n; i++) { /* Newell's */
        const double *a = p[r->corner[i]], *b = p[r->corner[(i + 1) % n]];
        for (int k = 0; k < 3; k++)
            normal[k] += (a[(k + 1) % 3] - b[(k + 1) % 3]) * (a[(k + 2) % 3] + b[(k + 2) % 3]);
    }
    while (n > 3) {
        int32_t ear = 0;
        while (ear < n && !is_ear(r, normal, n, ear))
            ear++;
        ear = ear == n ? 1 : ear;
        int rc =
            add_triangle(r, r->corner[(ear + n - 1) % n], r->corner[ear], r->corner[(ear + 1) % n]);
        if (rc != EC_OK)
            return rc;
        memmove(&r->corner[ear], &r->corner[ear + 1], (size_t)(n - ear - 1) * sizeof *r->corner);
        n--;
    }
    return add_triangle(r, r->corner[0], r->corner[1], r->corner[2]);
}

static int read_face(reader *r, const property *p)
{
    double count, value;
    if (!read_number(r, p->count, &count) || !(count >= 0 && count <= MOST_CORNERS))
        return bad(r, "it ends within its faces, or a face has no proper number of corners");
    int32_t n = (int32_t)count;
    if (n > r->capacity) {
        int32_t *larger = realloc(r->corner, (size_t)n * sizeof *larger);
        if (!larger)
            return ec_fail(EC_ERR_MEMORY, "no memory for a face of '%s'", r->path);
        r->corner = larger;
        r->capacity = n;
    }
    for (int32_t i = 0; i < n; i++) {
        if (!read_number(r, p->type, &value))
            return bad(r, "it ends within its faces, or has what is no number");
        if (!(value >= 0 && value < r->mesh->n_vertices && value == floor(value)))
            return ec_fail(EC_ERR_FORMAT, "'%s' is not understood: a face has a vertex %g of %d",
                           r->path, value, (int)r->mesh->n_vertices);
        r->corner[i] = (int32_t)value;
    }
    if (n < 3) {
        r->list->left_out++;
        return EC_OK;
    }
    return cut_polygon(r, n);
}

static int read_faces(reader *r, const element *e)
{
    int corners = -1;
    for (int i = 0; i < e->n_properties; i++)
        if (e->property[i].count != NO_TYPE &&
            (strcmp(e->property[i].name, "vertex_indices") == 0 ||
             strcmp(e->property[i].name, "vertex_index") == 0))
            corners = i;
    if (corners < 0 || !r->mesh)
        return bad(r, "its faces have no vertex_indices, or come before its vertices");
    for (int64_t f = 0; f < e->n; f++)
        for (int i = 0; i < e->n_properties; i++) {
            int rc = i == corners                        ? read_face(r, &e->property[i])
                     : skip_property(r, &e->property[i]) ? EC_OK
                                                         : bad(r, "it ends within its faces");
            if (rc != EC_OK)
                return rc;
        }
    return EC_OK;
}

/* ---- the file -------------------------------------------------------------------------------------- */

static int load(reader *r)
{
    FILE *file = fopen(r->path, "rb");
    long size = 0;
    if (!file)
        return ec_fail(EC_ERR_FILE, "'%s' cannot be read: %s", r->path, strerror(errno));
    if (fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0 ||
        fseek(file, 0, SEEK_SET) != 0) {
        int rc = ec_fail(EC_ERR_FILE, "'%s' cannot be read: %s", r->path, strerror(errno));
        fclose(file);
        return rc;
    }
    r->bytes = malloc((size_t)size + 1);
    size_t got = r->bytes ? fread(r->bytes, 1, (size_t)size, file) : 0;
    bool failed = ferror(file);
    fclose(file);
    if (!r->bytes)
        return ec_fail(EC_ERR_MEMORY, "no memory for the %ld bytes of '%s'", size, r->path);
    if (failed)
        return ec_fail(EC_ERR_FILE, "'%s' cannot be read", r->path);
    r->at = r->bytes;
    r->end = r->bytes + got;
    *r->end = 0;
    return EC_OK;
}

/* The file's name without folders and ending. */
static void plain_name(const char *path, char *name, size_t size)
{
    const char *slash = strrchr(path, '/');
    snprintf(name, size, "%s", slash ? slash + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot && dot > name)
        *dot = 0;
}

static int read_elements(reader *r)
{
    char name[256];
    plain_name(r->path, name, sizeof name);
    int rc = EC_OK;
    for (int i = 0; rc == EC_OK && i < r->n_elements; i++) {
        const element *e = &r->element[i];
        if (strcmp(e->name, "vertex") == 0 && !r->mesh) {
            rc = read_vertices(r, e, name);
        } else if (strcmp(e->name, "face") == 0) {
            rc = read_faces(r, e);
        } else {
            for (int64_t j = 0; rc == EC_OK && j < e->n; j++)
                for (int k = 0; rc == EC_OK && k < e->n_properties; k++)
                    if (!skip_property(r, &e->property[k]))
                        rc = bad(r, "it ends too early");
        }
    }
    if (rc == EC_OK && r->n_triangles == 0)
        rc = ec_fail(EC_ERR_FORMAT, "'%s' holds no triangle", r->path);
    return rc;
}

int ec_mesh_import_ply(const char *path, const ec_mesh_import_info *info, ec_mesh_list *list)
{
    const double s = info->unit;
    const double z_up[3][4] = {{s, 0, 0, 0}, {0, s, 0, 0}, {0, 0, s, 0}};
    const double y_up[3][4] = {{s, 0, 0, 0}, {0, 0, -s, 0}, {0, s, 0, 0}};
    int32_t before = list->count;
    int64_t left_out = list->left_out;
    reader *r = calloc(1, sizeof *r);
    if (!r)
        return ec_fail(EC_ERR_MEMORY, "no memory to read '%s'", path);
    r->path = path;
    r->list = list;
    int rc = load(r);
    if (rc == EC_OK)
        rc = read_header(r);
    if (rc == EC_OK)
        rc = read_elements(r);
    if (rc == EC_OK) {
        free(r->mesh->triangle);
        r->mesh->triangle = r->triangle;
        r->mesh->n_triangles = (int32_t)r->n_triangles;
        r->triangle = NULL;
        ec_mesh_transform(r->mesh, info->y_up ? y_up : z_up);
    } else {
        ec_mesh_list_cut(list, before);
        list->left_out = left_out;
    }
    free(r->bytes);
    free(r->corner);
    free(r->triangle);
    free(r);
    return rc;
}
