#include "scene_xml.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <expat.h>

#include "../../core/status.h"

enum { TEXT = 512, DEFAULTS = 64 };

/* What the elements that are open have said so far. */
typedef struct reader {
    const char *path;
    const ec_mesh_import_info *info;
    ec_scene_xml *scene;
    XML_Parser parser;
    int rc;

    struct {
        char name[64], value[64];
    } defaults[DEFAULTS]; /* <default name= value=>, for $name */
    int n_defaults;

    int skipped;   /* depth within an element that is passed over */
    bool in_shape; /* at most one is open */
    char shape_type[32], shape_id[TEXT], file[TEXT], bsdf[TEXT];
    double world[3][4];
    bool in_transform;

    int bsdf_depth; /* within a bsdf */
    char bsdf_id[TEXT], bsdf_type[64], itu_type[64];
    double eps_r, conductivity, thickness;
} reader;

/* ---- values -------------------------------------------------------------------------------------- */

static void fail(reader *r, int status, const char *what, const char *value)
{
    if (r->rc != EC_OK)
        return;
    r->rc = ec_fail(status, "'%s', line %lu: %s '%s'", r->path,
                    (unsigned long)XML_GetCurrentLineNumber(r->parser), what, value);
    XML_StopParser(r->parser, XML_FALSE);
}

/* The attribute's value, $name replaced; NULL when it is absent. */
static const char *get(reader *r, const char **attribute, const char *name)
{
    for (int i = 0; attribute[i]; i += 2)
        if (strcmp(attribute[i], name) == 0) {
            const char *value = attribute[i + 1];
            for (int d = 0; value[0] == '$' && d < r->n_defaults; d++)
                if (strcmp(value + 1, r->defaults[d].name) == 0)
                    return r->defaults[d].value;
            return value;
        }
    return NULL;
}

static void copy(reader *r, char *to, size_t size, const char *value)
{
    if (strlen(value) >= size)
        fail(r, EC_ERR_FORMAT, "too long a value:", value);
    else
        memcpy(to, value, strlen(value) + 1);
}

/* n numbers, separated by blanks or commas. */
static bool numbers(const char *text, int n, double *to)
{
    for (int i = 0; i < n; i++) {
        char *end;
        to[i] = strtod(text, &end);
        if (end == text || !isfinite(to[i]))
            return false;
        for (text = end;
             *text == ',' || *text == ' ' || *text == '\t' || *text == '\n' || *text == '\r';)
            text++;
    }
    return *text == 0;
}

/* Number of an attribute; initial when it is absent. */
static double number(reader *r, const char **attribute, const char *name, double initial)
{
    const char *text = get(r, attribute, name);
    double value = initial;
    if (text && !numbers(text, 1, &value))
        fail(r, EC_ERR_FORMAT, "not a number:", text);
    return value;
}

/* x, y, z by themselves, or all in value (one number for all three where `same` allows it). */
static void vector(reader *r, const char **attribute, double initial, bool same, double to[3])
{
    const char *value = get(r, attribute, "value");
    if (value && same && numbers(value, 1, to))
        to[1] = to[2] = to[0];
    else if (value && !numbers(value, 3, to))
        fail(r, EC_ERR_FORMAT, "not three numbers:", value);
    if (value)
        return;
    to[0] = number(r, attribute, "x", initial);
    to[1] = number(r, attribute, "y", initial);
    to[2] = number(r, attribute, "z", initial);
}

/* ---- transforms ---------------------------------------------------------------------------------- */

/* Each further element of a transform comes after those before it. */
static void then(reader *r, const double m[3][4])
{
    double old[3][4];
    memcpy(old, r->world, sizeof old);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            r->world[i][j] = m[i][0] * old[0][j] + m[i][1] * old[1][j] + m[i][2] * old[2][j] +
                             (j == 3 ? m[i][3] : 0);
}

static void rotate(reader *r, const char **attribute)
{
    double a[3], m[3][4] = {{0}};
    vector(r, attribute, 0, false, a);
    double angle = number(r, attribute, "angle", 0) * EC_PI / 180, c = cos(angle), s = sin(angle);
    double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    if (!(length > 0)) {
        fail(r, EC_ERR_FORMAT, "a rotation without an axis in", "rotate");
        return;
    }
    for (int i = 0; i < 3; i++)
        a[i] /= length;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        m[i][i] = c + (1 - c) * a[i] * a[i];
        m[i][j] = (1 - c) * a[i] * a[j] - s * a[k];
        m[i][k] = (1 - c) * a[i] * a[k] + s * a[j];
    }
    then(r, m);
}

static void transform(reader *r, const char *element, const char **attribute)
{
    double v[16], m[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    if (strcmp(element, "matrix") == 0) {
        const char *value = get(r, attribute, "value");
        if (!value || !numbers(value, 16, v)) {
            fail(r, EC_ERR_FORMAT, "not sixteen numbers:", value ? value : "");
            return;
        }
        memcpy(m, v, sizeof m);
        then(r, m);
    } else if (strcmp(element, "translate") == 0) {
        vector(r, attribute, 0, false, v);
        for (int i = 0; i < 3; i++)
            m[i][3] = v[i];
        then(r, m);
    } else if (strcmp(element, "scale") == 0) {
        vector(r, attribute, 1, true, v);
        for (int i = 0; i < 3; i++)
            m[i][i] = v[i];
        then(r, m);
    } else if (strcmp(element, "rotate") == 0) {
        rotate(r, attribute);
    } else {
        fail(r, EC_ERR_FORMAT, "unknown transform", element);
    }
}

/* ---- materials ----------------------------------------------------------------------------------- */

static const char *without_mat(const char *id)
{
    return strncmp(id, "mat-", 4) == 0 ? id + 4 : id;
}

static void end_bsdf(reader *r)
{
    ec_material m;
    const char *name = without_mat(r->bsdf_id);
    int rc;
    if (strcmp(r->bsdf_type, "itu-radio-material") == 0) {
        rc = ec_material_by_name(r->itu_type, &m);
        m.thickness = rc == EC_OK ? r->thickness : 0;
        if (rc == EC_OK && !(r->thickness >= 0))
            rc = ec_fail(EC_ERR_ARGUMENT, "a thickness of %g m", r->thickness);
    } else if (strcmp(r->bsdf_type, "radio-material") == 0) {
        rc = ec_material_constant(name, r->eps_r, r->conductivity, 0, r->thickness, &m);
    } else {
        return;
    }
    if (rc != EC_OK) {
        char why[TEXT];
        snprintf(why, sizeof why, "%s", ec_error_text());
        fail(r, EC_ERR_FORMAT, why, name);
        return;
    }
    ec_material_rename(&m, name);
    if (r->scene->n_materials == r->scene->capacity) {
        int32_t room = r->scene->capacity ? 2 * r->scene->capacity : 16;
        ec_material *larger = realloc(r->scene->material, (size_t)room * sizeof *larger);
        if (!larger) {
            fail(r, EC_ERR_MEMORY, "no memory for material", name);
            return;
        }
        r->scene->material = larger;
        r->scene->capacity = room;
    }
    r->scene->material[r->scene->n_materials++] = m;
}

static void start_bsdf(reader *r, const char **attribute)
{
    const char *id = get(r, attribute, "id"), *type = get(r, attribute, "type");
    if (r->bsdf_depth++ > 0) /* what is inside another one has no name of its own */
        return;
    copy(r, r->bsdf_id, sizeof r->bsdf_id, id ? id : "");
    copy(r, r->bsdf_type, sizeof r->bsdf_type, type ? type : "");
    r->itu_type[0] = 0;
    r->eps_r = 1;
    r->conductivity = r->thickness = 0;
    if (r->in_shape && id)
        copy(r, r->bsdf, sizeof r->bsdf, id);
}

static void bsdf_property(reader *r, const char **attribute)
{
    const char *name = get(r, attribute, "name"), *value = get(r, attribute, "value");
    if (!name || !value)
        return;
    double *to = strcmp(name, "relative_permittivity") == 0 ? &r->eps_r
                 : strcmp(name, "conductivity") == 0        ? &r->conductivity
                 : strcmp(name, "thickness") == 0           ? &r->thickness
                                                            : NULL;
    if (to && !numbers(value, 1, to))
        fail(r, EC_ERR_FORMAT, "not a number:", value);
    if (strcmp(name, "type") == 0)
        copy(r, r->itu_type, sizeof r->itu_type, value);
}

/* ---- shapes -------------------------------------------------------------------------------------- */

static void start_shape(reader *r, const char **attribute)
{
    static const double none[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    const char *type = get(r, attribute, "type"), *id = get(r, attribute, "id");
    if (!type || (strcmp(type, "ply") != 0 && strcmp(type, "obj") != 0)) {
        fail(r, EC_ERR_FORMAT, "only shapes of type ply and obj are read, not", type ? type : "");
        return;
    }
    if (!id)
        id = get(r, attribute, "name");
    r->in_shape = true;
    copy(r, r->shape_type, sizeof r->shape_type, type);
    copy(r, r->shape_id, sizeof r->shape_id, id ? id : "");
    r->file[0] = r->bsdf[0] = 0;
    memcpy(r->world, none, sizeof none);
}

/* The file beside the scene's. */
static void full_path(const reader *r, char *to, size_t size)
{
    const char *slash = strrchr(r->path, '/');
    int folder = slash && r->file[0] != '/' ? (int)(slash - r->path) + 1 : 0;
    snprintf(to, size, "%.*s%s", folder, r->path, r->file);
}

static char *copy_text(const char *text)
{
    char *new = malloc(strlen(text) + 1);
    return new ? strcpy(new, text) : NULL;
}

/* The scene's names take the place of the file's. */
static bool rename_mesh(ec_mesh *mesh, const char *name, const char *material)
{
    char *new_name = copy_text(name[0] ? name : mesh->name);
    char *new_material = copy_text(without_mat(material[0] ? material : mesh->material));
    if (!new_name || !new_material) {
        free(new_name);
        free(new_material);
        return false;
    }
    free(mesh->name);
    free(mesh->material);
    mesh->name = new_name;
    mesh->material = new_material;
    return true;
}

static void end_shape(reader *r)
{
    char file[4096];
    ec_mesh_import_info info = *r->info;
    const double s = r->info->unit;
    const double up[3][4] = {{s, 0, 0, 0},
                             {0, r->info->y_up ? 0 : s, r->info->y_up ? -s : 0, 0},
                             {0, r->info->y_up ? s : 0, r->info->y_up ? 0 : s, 0}};
    r->in_shape = false;
    if (!r->file[0]) {
        fail(r, EC_ERR_FORMAT, "no file name in shape", r->shape_id);
        return;
    }
    full_path(r, file, sizeof file);
    info.unit = 1; /* the file is placed in the scene's unit, then all of it scaled */
    info.y_up = false;
    int32_t before = r->scene->meshes.count;
    int rc = ec_mesh_import(file, &info, &r->scene->meshes);
    if (rc != EC_OK) {
        char why[TEXT];
        snprintf(why, sizeof why, "%s; in shape", ec_error_text());
        fail(r, rc, why, r->shape_id);
        return;
    }
    then(r, up);
    for (int32_t i = before; i < r->scene->meshes.count; i++) {
        ec_mesh *mesh = &r->scene->meshes.mesh[i];
        ec_mesh_transform(mesh, (const double(*)[4])r->world);
        if (!rename_mesh(mesh, r->shape_id, r->bsdf))
            fail(r, EC_ERR_MEMORY, "no memory for shape", r->shape_id);
    }
}

static void shape_property(reader *r, const char *element, const char **attribute)
{
    const char *name = get(r, attribute, "name"), *value = get(r, attribute, "value");
    if (strcmp(element, "string") == 0 && name && strcmp(name, "filename") == 0 && value)
        copy(r, r->file, sizeof r->file, value);
    const char *id = get(r, attribute, "id");
    if (strcmp(element, "ref") == 0 && id && (!name || strcmp(name, "bsdf") == 0))
        copy(r, r->bsdf, sizeof r->bsdf, id);
}

/* ---- elements ------------------------------------------------------------------------------------ */

static void add_default(reader *r, const char **attribute)
{
    const char *name = get(r, attribute, "name"), *value = get(r, attribute, "value");
    if (!name || !value || r->n_defaults == DEFAULTS)
        return;
    copy(r, r->defaults[r->n_defaults].name, sizeof r->defaults->name, name);
    copy(r, r->defaults[r->n_defaults].value, sizeof r->defaults->value, value);
    r->n_defaults++;
}

static void start_element(void *user, const char *element, const char **attribute)
{
    static const char *const passed_over[] = {"emitter", "sensor",  "integrator", "film",
                                              "sampler", "texture", "medium"};
    reader *r = user;
    bool skip = r->skipped > 0;
    for (size_t i = 0; !skip && i < sizeof passed_over / sizeof *passed_over; i++)
        skip = strcmp(element, passed_over[i]) == 0;
    if (skip) {
        r->skipped++;
        return;
    }
    if (strcmp(element, "default") == 0)
        add_default(r, attribute);
    else if (strcmp(element, "bsdf") == 0)
        start_bsdf(r, attribute);
    else if (r->bsdf_depth > 0)
        bsdf_property(r, attribute);
    else if (strcmp(element, "shape") == 0 && !r->in_shape)
        start_shape(r, attribute);
    else if (strcmp(element, "include") == 0)
        fail(r, EC_ERR_FORMAT, "included files are not read:",
             get(r, attribute, "filename") ? get(r, attribute, "filename") : "");
    else if (r->in_transform)
        transform(r, element, attribute);
    else if (r->in_shape && strcmp(element, "transform") == 0)
        r->in_transform = true;
    else if (r->in_shape)
        shape_property(r, element, attribute);
}

static void end_element(void *user, const char *element)
{
    reader *r = user;
    if (r->skipped > 0) {
        r->skipped--;
        return;
    }
    if (strcmp(element, "bsdf") == 0 && --r->bsdf_depth == 0)
        end_bsdf(r);
    else if (strcmp(element, "transform") == 0)
        r->in_transform = false;
    else if (strcmp(element, "shape") == 0 && r->in_shape && r->rc == EC_OK)
        end_shape(r);
}

static int parse(reader *r, FILE *file)
{
    enum { BLOCK = 65536 };
    for (;;) {
        void *block = XML_GetBuffer(r->parser, BLOCK);
        if (!block)
            return ec_fail(EC_ERR_MEMORY, "no memory to read '%s'", r->path);
        size_t n = fread(block, 1, BLOCK, file);
        if (ferror(file))
            return ec_fail(EC_ERR_FILE, "'%s' cannot be read: %s", r->path, strerror(errno));
        enum XML_Status status = XML_ParseBuffer(r->parser, (int)n, n == 0);
        if (r->rc != EC_OK)
            return r->rc;
        if (status != XML_STATUS_OK)
            return ec_fail(EC_ERR_FORMAT, "'%s', line %lu: %s", r->path,
                           (unsigned long)XML_GetCurrentLineNumber(r->parser),
                           XML_ErrorString(XML_GetErrorCode(r->parser)));
        if (n == 0)
            return EC_OK;
    }
}

int ec_scene_xml_read(const char *path, const ec_mesh_import_info *info, ec_scene_xml *scene)
{
    if (info->may_read && !info->may_read(info->user, path))
        return ec_fail(EC_ERR_FILE, "'%s' may not be read", path);
    FILE *file = fopen(path, "rb");
    if (!file)
        return ec_fail(EC_ERR_FILE, "'%s' cannot be read: %s", path, strerror(errno));
    reader *r = calloc(1, sizeof *r);
    XML_Parser parser = r ? XML_ParserCreate(NULL) : NULL;
    int rc = parser ? EC_OK : ec_fail(EC_ERR_MEMORY, "no memory to read '%s'", path);
    if (parser) {
        *r = (reader){.path = path, .info = info, .scene = scene, .parser = parser};
        XML_SetUserData(parser, r);
        XML_SetElementHandler(parser, start_element, end_element);
        rc = parse(r, file);
        XML_ParserFree(parser);
    }
    free(r);
    fclose(file);
    if (rc == EC_OK && scene->meshes.count == 0)
        return ec_fail(EC_ERR_FORMAT, "'%s' has no shape", path);
    return rc;
}

void ec_scene_xml_clear(ec_scene_xml *scene)
{
    ec_mesh_list_clear(&scene->meshes);
    free(scene->material);
    *scene = (ec_scene_xml){0};
}
