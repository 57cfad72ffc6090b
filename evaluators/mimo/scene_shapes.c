/* Built-in shapes as meshes, and what they are exactly. */
#include "scene_internal.h"

/* ---- checks ------------------------------------------------------------------------------------- */

static const char *const kind_names[] = {"plate",  "box",  "wedge",  "cylinder",
                                         "sphere", "cone", "ground", "canyon"};

static int need(const char *name, ec_shape_kind kind, const char *what, double value, bool good,
                const char *wanted)
{
    return good ? EC_OK
                : ec_fail(EC_ERR_ARGUMENT, "%s '%s': %s is %g; it must be %s", kind_names[kind],
                          name, what, value, wanted);
}

static int check_shape(const char *name, const ec_shape *s)
{
    static const char positive[] = "above 0";
    ec_shape_kind k = s->kind;
    bool round = k == EC_SHAPE_CYLINDER || k == EC_SHAPE_SPHERE || k == EC_SHAPE_CONE;
    int sizes = k == EC_SHAPE_BOX || k == EC_SHAPE_CANYON     ? 3
                : k == EC_SHAPE_PLATE || k == EC_SHAPE_GROUND ? 2
                                                              : 0;
    bool has_length = k == EC_SHAPE_CYLINDER || k == EC_SHAPE_CONE || k == EC_SHAPE_WEDGE;
    int rc = EC_OK;
    for (int i = 0; rc == EC_OK && i < sizes; i++)
        rc =
            need(name, k, "its size", s->size[i], s->size[i] > 0 && isfinite(s->size[i]), positive);
    for (int i = 0; rc == EC_OK && i < 3; i++)
        rc = need(name, k, "its place", s->at[i], isfinite(s->at[i]), "finite");
    if (rc == EC_OK && round)
        rc = need(name, k, "its radius", s->radius, s->radius > 0 && isfinite(s->radius), positive);
    if (rc == EC_OK && has_length)
        rc = need(name, k, "its length", s->length, s->length > 0 && isfinite(s->length), positive);
    if (rc == EC_OK && k == EC_SHAPE_WEDGE)
        rc = need(name, k, "its width", s->width, s->width > 0 && isfinite(s->width), positive);
    if (rc == EC_OK && k == EC_SHAPE_WEDGE)
        rc = need(name, k, "its angle", s->angle_deg, s->angle_deg > 0 && s->angle_deg < 180,
                  "above 0 and below 180 degrees");
    if (rc == EC_OK && round)
        rc = need(name, k, "sides", s->sides, s->sides >= 3 && s->sides <= 100000,
                  "from 3 to 100000");
    if (rc == EC_OK)
        rc = need(name, k, "divisions", s->divisions, s->divisions >= 1 && s->divisions <= 10000,
                  "from 1 to 10000");
    double axis = ec_length3(s->axis);
    if (rc == EC_OK)
        rc = need(name, k, "the length of its axis", axis, axis > 0 && isfinite(axis), positive);
    return rc;
}

/* ---- meshes ------------------------------------------------------------------------------------- */

/* A mesh under construction, with a tag for each triangle (1: of the exact shape). */
typedef struct maker {
    ec_mesh mesh;
    int32_t *tag;
} maker;

static int make_room(maker *m, int64_t vertices, int64_t triangles)
{
    if (triangles > INT32_MAX / 3)
        return ec_fail(EC_ERR_ARGUMENT, "a shape of %lld triangles; at most %d are possible",
                       (long long)triangles, INT32_MAX / 3);
    m->mesh.vertex = malloc((size_t)vertices * sizeof *m->mesh.vertex);
    m->mesh.triangle = malloc((size_t)triangles * sizeof *m->mesh.triangle);
    m->tag = malloc((size_t)triangles * sizeof *m->tag);
    return m->mesh.vertex && m->mesh.triangle && m->tag
               ? EC_OK
               : ec_scene_no_memory("triangles", triangles);
}

static void free_maker(maker *m)
{
    free(m->mesh.vertex);
    free(m->mesh.triangle);
    free(m->tag);
}

static int32_t add_vertex(maker *m, const double p[3])
{
    memcpy(m->mesh.vertex[m->mesh.n_vertices], p, sizeof *m->mesh.vertex);
    return m->mesh.n_vertices++;
}

static void add_triangle(maker *m, int32_t a, int32_t b, int32_t c, int32_t tag)
{
    int32_t *t = m->mesh.triangle[m->mesh.n_triangles];
    t[0] = a;
    t[1] = b;
    t[2] = c;
    m->tag[m->mesh.n_triangles++] = tag;
}

/* (d + 1)^2 vertices and 2 d^2 triangles on the parallelogram at corner along u and v; outside is
 * where u x v points. */
static void add_face(maker *m, const double corner[3], const double u[3], const double v[3], int d)
{
    int32_t first = m->mesh.n_vertices;
    for (int i = 0; i <= d; i++)
        for (int j = 0; j <= d; j++) {
            double p[3];
            for (int k = 0; k < 3; k++)
                p[k] = corner[k] + u[k] * ((double)j / d) + v[k] * ((double)i / d);
            add_vertex(m, p);
        }
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) {
            int32_t a = first + i * (d + 1) + j, b = a + d + 1;
            add_triangle(m, a, a + 1, b + 1, 0);
            add_triangle(m, a, b + 1, b, 0);
        }
}

/* A face about its middle. */
static void add_centred_face(maker *m, const double at[3], const double u[3], const double v[3],
                             int d)
{
    double corner[3];
    for (int k = 0; k < 3; k++)
        corner[k] = at[k] - (u[k] + v[k]) / 2;
    add_face(m, corner, u, v, d);
}

void ec_scene_horizontal(const double n[3], double u[3], double v[3])
{
    double level = n[0] * n[0] + n[1] * n[1];
    u[0] = level > 1e-20 ? -n[1] : 1;
    u[1] = level > 1e-20 ? n[0] : 0;
    u[2] = 0;
    ec_normalize3(u);
    ec_cross3(n, u, v);
}

static void scaled(const double a[3], double factor, double to[3])
{
    for (int k = 0; k < 3; k++)
        to[k] = a[k] * factor;
}

static int make_plate(maker *m, const ec_shape *s, const double normal[3])
{
    double u[3], v[3];
    int64_t d = s->divisions;
    int rc = make_room(m, (d + 1) * (d + 1), 2 * d * d);
    if (rc != EC_OK)
        return rc;
    ec_scene_horizontal(normal, u, v);
    scaled(u, s->size[0], u);
    scaled(v, s->size[1], v);
    add_centred_face(m, s->at, u, v, s->divisions);
    return EC_OK;
}

static int make_box(maker *m, const ec_shape *s)
{
    int64_t d = s->divisions;
    double c = cos(s->rotate_deg * EC_PI / 180), sn = sin(s->rotate_deg * EC_PI / 180);
    if (fmod(s->rotate_deg, 90) == 0) { /* without the rounding of pi */
        c = round(c);
        sn = round(sn);
    }
    const double side[3][3] = {{s->size[0] * c, s->size[0] * sn, 0},
                               {-s->size[1] * sn, s->size[1] * c, 0},
                               {0, 0, s->size[2]}};
    int rc = make_room(m, 6 * (d + 1) * (d + 1), 12 * d * d);
    if (rc != EC_OK)
        return rc;
    for (int i = 0; i < 3; i++)
        for (int end = -1; end <= 1; end += 2) {
            const double *u = side[(i + 1) % 3], *v = side[(i + 2) % 3];
            double middle[3];
            for (int k = 0; k < 3; k++)
                middle[k] = s->at[k] + side[i][k] * (end * 0.5);
            add_centred_face(m, middle, end > 0 ? u : v, end > 0 ? v : u, s->divisions);
        }
    return EC_OK;
}

/* The edge and the two faces that meet in it, closed by a third one and two ends. */
static int make_wedge(maker *m, const ec_shape *s, const double axis[3])
{
    int64_t d = s->divisions;
    double towards[3], across[3], arm[2][3], edge[3], base[3], along = ec_dot3(s->towards, axis);
    for (int k = 0; k < 3; k++)
        towards[k] = s->towards[k] - along * axis[k];
    if (!ec_normalize3(towards))
        return ec_fail(EC_ERR_ARGUMENT, "a wedge's body cannot lie along its edge: give a "
                                        "direction across it");
    int rc = make_room(m, 3 * (d + 1) * (d + 1) + 6, 6 * d * d + 2);
    if (rc != EC_OK)
        return rc;
    double half = s->angle_deg * EC_PI / 360;
    ec_cross3(axis, towards, across);
    scaled(axis, s->length, edge);
    for (int k = 0; k < 3; k++) {
        base[k] = s->at[k] - edge[k] / 2;
        for (int i = 0; i < 2; i++)
            arm[i][k] = s->width * (cos(half) * towards[k] + (i ? 1 : -1) * sin(half) * across[k]);
    }
    double corner[3], third[3];
    ec_sub3(arm[1], arm[0], third);
    for (int k = 0; k < 3; k++)
        corner[k] = base[k] + arm[0][k];
    add_face(m, base, arm[0], edge, s->divisions); /* arm 0 x axis looks away from arm 1 */
    add_face(m, base, edge, arm[1], s->divisions);
    add_face(m, corner, third, edge, s->divisions);
    int32_t end[2][3];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++) {
            double p[3];
            for (int k = 0; k < 3; k++)
                p[k] = base[k] + i * edge[k] + (j > 0 ? arm[j - 1][k] : 0);
            end[i][j] = add_vertex(m, p);
        }
    add_triangle(m, end[0][0], end[0][2], end[0][1], 0);
    add_triangle(m, end[1][0], end[1][1], end[1][2], 0);
    return EC_OK;
}

/* ---- round ones --------------------------------------------------------------------------------- */

/* Point of a circle about p; the first one is along u. */
static void ring_point(const double p[3], const double u[3], const double v[3], double radius,
                       int32_t i, int32_t sides, double to[3])
{
    double angle = 2 * EC_PI * i / sides, c = radius * cos(angle), s = radius * sin(angle);
    for (int k = 0; k < 3; k++)
        to[k] = p[k] + c * u[k] + s * v[k];
}

static int32_t add_ring(maker *m, const double p[3], const double u[3], const double v[3],
                        double radius, int32_t sides)
{
    int32_t first = m->mesh.n_vertices;
    for (int32_t i = 0; i < sides; i++) {
        double q[3];
        ring_point(p, u, v, radius, i, sides, q);
        add_vertex(m, q);
    }
    return first;
}

/* Between two rings, the second one farther along u x v. */
static void join_rings(maker *m, int32_t a, int32_t b, int32_t sides)
{
    for (int32_t i = 0; i < sides; i++) {
        int32_t next = (i + 1) % sides;
        add_triangle(m, a + i, a + next, b + next, 1);
        add_triangle(m, a + i, b + next, b + i, 1);
    }
}

/* Between a ring and a point; up: the point lies along u x v of the ring, or the outside does. */
static void join_point(maker *m, int32_t ring, int32_t point, int32_t sides, bool up, int32_t tag)
{
    for (int32_t i = 0; i < sides; i++) {
        int32_t next = (i + 1) % sides;
        add_triangle(m, ring + (up ? i : next), ring + (up ? next : i), point, tag);
    }
}

static void along_axis(const double at[3], const double axis[3], double s, double to[3])
{
    for (int k = 0; k < 3; k++)
        to[k] = at[k] + s * axis[k];
}

static int make_cylinder(maker *m, const ec_shape *s, const double axis[3])
{
    int64_t n = s->sides, d = s->divisions;
    double u[3], v[3], p[3];
    int rc = make_room(m, n * (d + 1) + 2, 2 * n * d + 2 * n);
    if (rc != EC_OK)
        return rc;
    ec_scene_frame(axis, u, v);
    int32_t first = 0, last = 0;
    for (int32_t i = 0; i <= s->divisions; i++) {
        along_axis(s->at, axis, s->length * ((double)i / s->divisions - 0.5), p);
        int32_t ring = add_ring(m, p, u, v, s->radius, s->sides);
        if (i == 0)
            first = ring;
        else
            join_rings(m, last, ring, s->sides);
        last = ring;
    }
    if (s->open)
        return EC_OK;
    join_point(m, last, add_vertex(m, p), s->sides, true, 0);
    along_axis(s->at, axis, -s->length / 2, p);
    join_point(m, first, add_vertex(m, p), s->sides, false, 0);
    return EC_OK;
}

static int make_cone(maker *m, const ec_shape *s, const double axis[3])
{
    int64_t n = s->sides, d = s->divisions;
    double u[3], v[3], p[3];
    int rc = make_room(m, n * d + 2, 2 * n * (d - 1) + 2 * n);
    if (rc != EC_OK)
        return rc;
    ec_scene_frame(axis, u, v);
    int32_t first = 0, last = 0;
    for (int32_t i = 0; i < s->divisions; i++) {
        double part = (double)i / s->divisions;
        along_axis(s->at, axis, s->length * part, p);
        int32_t ring = add_ring(m, p, u, v, s->radius * (1 - part), s->sides);
        if (i == 0)
            first = ring;
        else
            join_rings(m, last, ring, s->sides);
        last = ring;
    }
    along_axis(s->at, axis, s->length, p);
    join_point(m, last, add_vertex(m, p), s->sides, true, 1);
    if (!s->open)
        join_point(m, first, add_vertex(m, s->at), s->sides, false, 0);
    return EC_OK;
}

static int make_sphere(maker *m, const ec_shape *s)
{
    static const double u[3] = {1, 0, 0}, v[3] = {0, 1, 0}, axis[3] = {0, 0, 1};
    int32_t rows = s->sides / 2 < 2 ? 2 : s->sides / 2, last = 0;
    int64_t n = s->sides;
    double p[3];
    int rc = make_room(m, n * (rows - 1) + 2, 2 * n * (rows - 1));
    if (rc != EC_OK)
        return rc;
    along_axis(s->at, axis, -s->radius, p);
    int32_t bottom = add_vertex(m, p);
    for (int32_t i = 1; i < rows; i++) {
        double angle = EC_PI * i / rows;
        along_axis(s->at, axis, -s->radius * cos(angle), p);
        int32_t ring = add_ring(m, p, u, v, s->radius * sin(angle), s->sides);
        if (i == 1)
            join_point(m, ring, bottom, s->sides, false, 1);
        else
            join_rings(m, last, ring, s->sides);
        last = ring;
    }
    along_axis(s->at, axis, s->radius, p);
    join_point(m, last, add_vertex(m, p), s->sides, true, 1);
    return EC_OK;
}

/* ---- exact -------------------------------------------------------------------------------------- */

static void describe(const ec_shape *s, const double axis[3], ec_surface *to)
{
    *to = (ec_surface){.radius = s->radius, .inward = s->inward};
    memcpy(to->point, s->at, sizeof to->point);
    memcpy(to->axis, axis, sizeof to->axis);
    if (s->kind == EC_SHAPE_SPHERE) {
        to->kind = EC_SURFACE_SPHERE;
        memset(to->axis, 0, sizeof to->axis);
        to->axis[2] = 1;
    } else if (s->kind == EC_SHAPE_CYLINDER) {
        to->kind = EC_SURFACE_CYLINDER;
        to->half_height = s->length / 2;
    } else {
        to->kind = EC_SURFACE_CONE;
        to->radius = atan2(s->radius, s->length);
        to->half_height = s->length;
        along_axis(s->at, axis, s->length, to->point);
        scaled(axis, -1, to->axis);
    }
}

static void turn_inside_out(ec_mesh *mesh)
{
    for (int32_t t = 0; t < mesh->n_triangles; t++) {
        int32_t second = mesh->triangle[t][1];
        mesh->triangle[t][1] = mesh->triangle[t][2];
        mesh->triangle[t][2] = second;
    }
}

/* Two objects of the same name, a wall each. */
static int add_canyon(ec_scene_builder *b, const char *name, int32_t material, const ec_shape *s)
{
    for (int side = -1; side <= 1; side += 2) {
        ec_shape wall = *s;
        wall.kind = EC_SHAPE_PLATE;
        wall.at[1] += side * s->size[1] / 2;
        wall.at[2] += s->size[2] / 2;
        wall.size[1] = s->size[2];
        const double normal[3] = {0, -side, 0};
        maker m = {0};
        int rc = make_plate(&m, &wall, normal);
        if (rc == EC_OK)
            rc = ec_scene_builder_tagged(b, name, material, &m.mesh, m.tag, NULL, true);
        free_maker(&m);
        if (rc != EC_OK)
            return rc;
    }
    return EC_OK;
}

void ec_shape_default(ec_shape_kind kind, ec_shape *shape)
{
    *shape = (ec_shape){.kind = kind,
                        .axis = {0, 0, 1},
                        .towards = {1, 0, 0},
                        .size = {1, 1, 1},
                        .radius = 0.5,
                        .length = 1,
                        .width = 1,
                        .angle_deg = 90,
                        .sides = 72,
                        .divisions = 1};
}

int ec_scene_builder_shape(ec_scene_builder *b, const char *name, int32_t material,
                           const ec_shape *s)
{
    double axis[3];
    ec_surface exact;
    maker m = {0};
    int rc = check_shape(name, s);
    if (rc != EC_OK)
        return rc;
    if (s->kind == EC_SHAPE_CANYON)
        return add_canyon(b, name, material, s);
    memcpy(axis, s->axis, sizeof axis);
    ec_normalize3(axis);
    static const double up[3] = {0, 0, 1};
    bool round = false;
    switch (s->kind) {
    case EC_SHAPE_PLATE:
        rc = make_plate(&m, s, axis);
        break;
    case EC_SHAPE_BOX:
        rc = make_box(&m, s);
        break;
    case EC_SHAPE_WEDGE:
        rc = make_wedge(&m, s, axis);
        break;
    case EC_SHAPE_CYLINDER:
        round = true;
        rc = make_cylinder(&m, s, axis);
        break;
    case EC_SHAPE_SPHERE:
        round = true;
        rc = make_sphere(&m, s);
        break;
    case EC_SHAPE_CONE:
        round = true;
        rc = make_cone(&m, s, axis);
        break;
    case EC_SHAPE_GROUND:
        rc = make_plate(&m, s, up);
        break;
    default:
        rc = ec_fail(EC_ERR_ARGUMENT, "'%s': there is no shape %d", name, (int)s->kind);
    }
    bool solid = s->kind == EC_SHAPE_BOX || round;
    if (rc == EC_OK && solid && s->inward)
        turn_inside_out(&m.mesh);
    if (rc == EC_OK && round)
        describe(s, axis, &exact);
    if (rc == EC_OK)
        rc = ec_scene_builder_tagged(b, name, material, &m.mesh, m.tag, round ? &exact : NULL,
                                     s->kind == EC_SHAPE_GROUND);
    free_maker(&m);
    return rc;
}
