/* test_mimo_files.c: the files of a link's design, read back: H against the graph's value, the
 * paths against H and against the way from point to point, their limits, polylines and edges, the
 * map. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "../../core/executor.h"
#include "../../core/mesh.h"
#include "../../evaluators/mimo/mimo_design.h"
#include "../../evaluators/mimo/scene_build.h"

enum { TX = 2, RX = 2, RECEIVERS = 3, FREQUENCIES = 2, ALL = FREQUENCIES * RECEIVERS * RX * TX };

static const double frequency[FREQUENCIES] = {0.7e9, 0.8e9};
static const double place[RECEIVERS * RX][3] = {{6.1, 3.3, 1.2}, {6.2, 3.3, 1.2}, {1.1, 3.9, 0.8},
                                                {1.2, 3.9, 0.8}, {6.5, 0.7, 2.1}, {6.6, 0.7, 2.1}};

/* A room of concrete with a box and a column of metal; two transmitters that move along x. */
typedef struct bench {
    ec_scene *scene;
    ec_graph *graph;
    ec_backend *cpu;
    ec_job *job;
    ec_result *result;
    ec_call *call;
    ec_mimo_design *design;
    char folder[300], path[700];
} bench;

static void add_shape(ec_scene_builder *builder, const char *name, const char *material,
                      const ec_shape *shape)
{
    ec_material m;
    int32_t index;

    assert_int_equal(ec_material_by_name(material, &m), EC_OK);
    assert_int_equal(ec_scene_builder_material(builder, &m, &index), EC_OK);
    assert_int_equal(ec_scene_builder_shape(builder, name, index, shape), EC_OK);
}

static ec_scene *make_scene(void)
{
    ec_scene_builder *builder = NULL;
    ec_scene_options options;
    ec_shape shape;
    ec_scene *scene = NULL;

    assert_int_equal(ec_scene_builder_create(&builder), EC_OK);
    ec_shape_default(EC_SHAPE_BOX, &shape);
    memcpy(shape.at, (double[]){4, 2.5, 1.5}, sizeof shape.at);
    memcpy(shape.size, (double[]){8, 5, 3}, sizeof shape.size);
    shape.inward = true;
    add_shape(builder, "room", "itu_concrete", &shape);
    ec_shape_default(EC_SHAPE_BOX, &shape);
    memcpy(shape.at, (double[]){4, 2, 0.9}, sizeof shape.at);
    memcpy(shape.size, (double[]){0.4, 1, 1.8}, sizeof shape.size);
    add_shape(builder, "cab;inet \"2\"", "pec", &shape);
    ec_shape_default(EC_SHAPE_CYLINDER, &shape);
    memcpy(shape.at, (double[]){5, 3.4, 1.4}, sizeof shape.at);
    shape.radius = 0.25;
    shape.length = 2;
    add_shape(builder, "column", "pec", &shape);
    ec_scene_options_default(&options);
    assert_int_equal(ec_scene_build(builder, &options, &scene), EC_OK);
    ec_scene_builder_destroy(&builder);
    return scene;
}

static ec_mimo_config config_of(bench *b)
{
    static const ec_mimo_antenna own[TX] = {{.kind = EC_ELEMENT_KIND_ISOTROPIC, .axis = {0, 0, 1}},
                                            {.kind = EC_ELEMENT_KIND_HALF_WAVE, .axis = {1, 0, 3}}};
    ec_mimo_config c;
    int32_t n = RECEIVERS * RX;
    double axis[RECEIVERS * RX];

    ec_mimo_config_default(&c);
    c.scene = b->scene;
    c.n_frequencies = FREQUENCIES;
    c.frequency = frequency;
    c.depth = 2;
    c.diffractions = 1;
    c.receivers = RECEIVERS;
    c.power_dbm = 13;
    c.noise_dbm = -87;
    for (int k = 0; k < 3; k++) {
        for (int32_t i = 0; i < n; i++)
            axis[i] = place[i][k];
        c.rx.at[k] = ec_graph_constant(b->graph, 1, &n, axis);
    }
    c.rx.count = n;
    c.tx.count = TX;
    c.tx.each = own;
    c.tx.at[1] = ec_graph_constant(b->graph, 1, &(int32_t){TX}, (double[]){0.8, 1.4});
    c.tx.at[2] = ec_graph_number(b->graph, 1.7);
    return c;
}

static int setup(void **state)
{
    static const double min[TX] = {1, 1.5}, max[TX] = {2.5, 3};
    bench *b = calloc(1, sizeof *b);
    ec_backend_info backend = {.name = "cpu", .threads = 2};
    ec_solve_info info;

    assert_non_null(b);
    b->scene = make_scene();
    assert_int_equal(ec_graph_create(&b->graph), EC_OK);
    assert_int_equal(ec_job_create(b->graph, "link", 1, &b->job), EC_OK);
    assert_int_equal(ec_backend_create(&backend, &b->cpu), EC_OK);
    ec_variable_info x = {
        .name = "x", .kind = EC_VARIABLE_REAL, .count = TX, .min = min, .max = max};
    assert_int_equal(ec_job_add_variable(b->job, &x), 0);
    ec_mimo_config c = config_of(b);
    c.tx.at[0] = ec_job_variable(b->job, 0)->value;
    if (ec_mimo_call(b->graph, &c, &b->call) != EC_OK)
        fail_msg("%s", ec_error_text());
    ec_expr h = ec_mimo_value(b->graph, b->call, EC_MIMO_CHANNEL);
    ec_expr power = ec_graph_unary(b->graph, EC_OP_SUM, ec_graph_unary(b->graph, EC_OP_ABS2, h));
    assert_int_equal(ec_job_add_objective(b->job, "power", power, true, 0), EC_OK);
    ec_solve_info_default(&info);
    info.method = "rand1bin";
    info.population = 5;
    info.generations = 2;
    if (ec_solve(b->job, b->cpu, &info, &b->result) != EC_OK)
        fail_msg("%s", ec_error_text());
    ec_mimo_winner winner = {b->graph, b->job, b->result, b->cpu, b->call};
    if (ec_mimo_design_create(&winner, &b->design) != EC_OK)
        fail_msg("%s", ec_error_text());
    snprintf(b->folder, sizeof b->folder, "%s/mimo_files_%ld", EC_TEST_BINARY_DIR, (long)getpid());
    mkdir(b->folder, 0777);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    bench *b = *state;

    rmdir(b->folder);
    ec_mimo_design_destroy(&b->design);
    ec_result_destroy(&b->result);
    ec_job_destroy(&b->job);
    ec_graph_destroy(&b->graph);
    ec_scene_destroy(&b->scene);
    ec_backend_destroy(&b->cpu);
    free(b);
    return 0;
}

static const char *file_of(bench *b, const char *name)
{
    snprintf(b->path, sizeof b->path, "%s/%s", b->folder, name);
    return b->path;
}

/* The file's bytes and a 0 behind them; the file is removed. */
static char *take(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");

    if (!f)
        fail_msg("%s is not there", path);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    char *text = malloc(*size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, *size, f), *size);
    text[*size] = 0;
    fclose(f);
    unlink(path);
    return text;
}

static int32_t lines_of(const char *text)
{
    int32_t n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* Field i of a line of CSV, quotes removed. */
static const char *field(const char *line, int i, char *to, size_t size)
{
    size_t n = 0;
    bool quoted = false;

    for (; *line && *line != '\n'; line++) {
        if (*line == '"')
            quoted = !quoted;
        else if (*line == ',' && !quoted)
            i--;
        else if (i == 0 && n + 1 < size)
            to[n++] = *line;
    }
    to[n] = 0;
    return to;
}

static double number(const char *line, int i)
{
    char text[100];
    return strtod(field(line, i, text, sizeof text), NULL);
}

static const char *next(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

/* ---- H --------------------------------------------------------------------------------------- */

static void value_of(bench *b, ec_expr e, double *to)
{
    uint8_t failed = 0;

    assert_int_equal(ec_evaluate_once(b->graph, b->cpu, EC_FINAL, 1, &e, b->result->genes,
                                      (size_t)b->result->n_genes, NULL, 0, &to, &failed, NULL),
                     EC_OK);
    assert_int_equal(failed, 0);
}

static void test_channel(void **state)
{
    static const unsigned char magic[8] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    static const char head[] = "{'descr': '<c16', 'fortran_order': False, 'shape': (2, 3, 2, 2), }";
    bench *b = *state;
    ec_c128 h[ALL];
    size_t size;

    value_of(b, ec_mimo_value(b->graph, b->call, EC_MIMO_CHANNEL), &h[0].re);
    assert_int_equal(ec_mimo_design_write_channel(b->design, file_of(b, "h.npy")), EC_OK);
    char *text = take(b->path, &size);
    assert_memory_equal(text, magic, sizeof magic);
    size_t length = (unsigned char)text[8] + 256u * (unsigned char)text[9];
    assert_int_equal((10 + length) % 64, 0);
    assert_int_equal(size, 10 + length + sizeof h);
    assert_memory_equal(text + 10, head, sizeof head - 1);
    assert_int_equal(text[10 + length - 1], '\n');
    assert_memory_equal(text + 10 + length, h, sizeof h);
    free(text);

    assert_int_equal(ec_mimo_design_write_channel(b->design, file_of(b, "h.csv")), EC_OK);
    text = take(b->path, &size);
    assert_int_equal(lines_of(text), 1 + ALL);
    assert_int_equal(strncmp(text, "frequency_hz,receiver,rx,tx,re,im,gain_db,phase_deg\n", 52), 0);
    const char *line = next(text);
    for (int i = 0; i < ALL; i++, line = next(line)) {
        assert_true(number(line, 0) == frequency[i / (RECEIVERS * RX * TX)]);
        assert_true(number(line, 1) == 1 + i / (RX * TX) % RECEIVERS);
        assert_true(number(line, 2) == 1 + i / TX % RX && number(line, 3) == 1 + i % TX);
        assert_true(number(line, 4) == h[i].re && number(line, 5) == h[i].im);
        double gain = pow(10, number(line, 6) / 20), turn = number(line, 7) * EC_PI / 180;
        assert_true(fabs(gain * cos(turn) - h[i].re) < 1e-12 * gain);
        assert_true(fabs(gain * sin(turn) - h[i].im) < 1e-12 * gain);
    }
    free(text);
    assert_int_equal(ec_mimo_design_write_channel(b->design, file_of(b, "h.txt")), EC_ERR_ARGUMENT);
}

/* ---- antennas -------------------------------------------------------------------------------- */

static void test_antennas(void **state)
{
    bench *b = *state;
    char word[40];
    size_t size;

    assert_int_equal(ec_mimo_design_write_antennas(b->design, 7, file_of(b, "a.csv")), EC_OK);
    char *text = take(b->path, &size);
    static const char head[] =
        "link,side,receiver,antenna,x_m,y_m,z_m,pattern,axis_x,axis_y,axis_z,"
        "up_x,up_y,up_z,sample\n";
    assert_int_equal(strncmp(text, head, sizeof head - 1), 0);
    assert_int_equal(lines_of(text), 1 + TX + RECEIVERS * RX);
    const char *line = next(text);
    for (int i = 0; i < TX + RECEIVERS * RX; i++, line = next(line)) {
        int r = i - TX;
        const double *at = r < 0 ? b->design->tx[i] : place[r];
        assert_true(number(line, 0) == 7 && number(line, 3) == 1 + (r < 0 ? i : r % RX));
        assert_string_equal(field(line, 1, word, sizeof word), r < 0 ? "tx" : "rx");
        field(line, 2, word, sizeof word);
        assert_true(r < 0 ? !*word : atoi(word) == 1 + r / RX);
        for (int k = 0; k < 3; k++)
            assert_true(number(line, 4 + k) == at[k]);
        assert_string_equal(field(line, 7, word, sizeof word), i == 1 ? "halfwave" : "isotropic");
        /* along (1, 0, 3), the others along z */
        assert_true(fabs(number(line, 8) - (i == 1 ? 1 / sqrt(10) : 0)) < 1e-15);
        assert_true(fabs(number(line, 10) - (i == 1 ? 3 / sqrt(10) : 1)) < 1e-15);
        for (int k = 11; k < 15; k++)
            assert_string_equal(field(line, k, word, sizeof word), "");
    }
    free(text);
}

/* Antennas with a front have a second direction, and places of samples say so. */
static void test_antennas_of_samples(void **state)
{
    static const ec_mimo_antenna front = {
        .kind = EC_ELEMENT_KIND_COSQ, .q = 2, .axis = {2, 0, 0}, .up = {1, 0, 1}};
    static const double shift[3] = {0.1, 0.2, 0.3};
    bench *b = *state;
    ec_graph *graph = NULL;
    bench own = *b;
    ec_mimo_design *design = NULL;
    ec_call *call = NULL;
    char word[40];
    size_t size;

    assert_int_equal(ec_graph_create(&graph), EC_OK);
    own.graph = graph;

    ec_mimo_config c = config_of(&own);
    c.tx.each = NULL;
    c.tx.antenna = front;
    c.tx.at[0] = ec_graph_samples(graph, 3, 0, NULL, shift);
    assert_int_equal(ec_mimo_call(graph, &c, &call), EC_OK);
    ec_mimo_winner winner = {graph, NULL, NULL, b->cpu, call};
    assert_int_equal(ec_mimo_design_create(&winner, &design), EC_OK);
    assert_true(design->tx_sampled && !design->rx_sampled && design->samples == 3);
    assert_int_equal(ec_mimo_design_write_antennas(design, 1, file_of(b, "s.csv")), EC_OK);
    char *text = take(b->path, &size);
    const char *line = next(text);
    assert_string_equal(field(line, 7, word, sizeof word), "cosq");
    assert_true(number(line, 4) == 0.1 && number(line, 8) == 1);
    assert_true(number(line, 11) == 0 && number(line, 13) == 1);
    assert_string_equal(field(line, 14, word, sizeof word), "1");
    assert_string_equal(field(next(next(line)), 14, word, sizeof word), "");
    free(text);
    ec_mimo_design_destroy(&design);
    ec_graph_destroy(&graph);
}

/* ---- paths ----------------------------------------------------------------------------------- */

static const ec_mimo_path_limits unlimited = {0, INFINITY};

static char *paths_as(bench *b, const ec_mimo_path_limits *limits, const char *name, size_t *n)
{
    ec_mimo_paths *paths = NULL;
    size_t size;

    if (ec_mimo_design_paths(b->design, limits, &paths) != EC_OK ||
        ec_mimo_paths_write(paths, file_of(b, name)) != EC_OK)
        fail_msg("%s", ec_error_text());
    *n = ec_mimo_paths_count(paths);
    ec_mimo_paths_destroy(&paths);
    return take(b->path, &size);
}

enum {
    INTERACTIONS = 4,
    KINDS,
    PARTS,
    POINTS,
    LENGTH,
    DELAY,
    DEPARTURE,
    ARRIVAL = DEPARTURE + 2,
    GRAZING = ARRIVAL + 2,
    FREQUENCY,
    GAIN,
    EACH = 5 /* columns of a frequency */
};

static int32_t pair_of(const char *line)
{
    return (int32_t)((number(line, 0) - 1) * RX + number(line, 1) - 1) * TX +
           (int32_t)number(line, 2) - 1;
}

/* How many entries a list with ";" between has. */
static int entries(const char *list)
{
    int n = *list != 0;
    for (; *list; list++)
        n += *list == ';';
    return n;
}

/* Against an azimuth and an elevation in two fields. */
static void check_direction(const char *line, int i, const double from[3], const double to[3])
{
    double azimuth = number(line, i) * EC_PI / 180, up = number(line, i + 1) * EC_PI / 180;
    const double d[3] = {cos(up) * cos(azimuth), cos(up) * sin(azimuth), sin(up)};
    double length = 0;

    for (int k = 0; k < 3; k++)
        length += (to[k] - from[k]) * (to[k] - from[k]);
    length = sqrt(length);
    for (int k = 0; k < 3; k++)
        assert_true(fabs(d[k] - (to[k] - from[k]) / length) < 1e-9);
}

/* The way of a line's path: its length, its ends' directions, what it meets. */
static void check_way(const bench *b, const char *line)
{
    char text[2000];
    double at[8][3], length = 0;
    int n = (int)number(line, INTERACTIONS);
    const char *p = field(line, POINTS, text, sizeof text);

    assert_int_equal(entries(p), n);
    memcpy(at[0], b->design->tx[pair_of(line) % TX], sizeof at[0]);
    for (int i = 1; i <= n; i++) {
        char *end = NULL;
        for (int k = 0; k < 3; k++, p = end)
            at[i][k] = strtod(p, &end);
        p = end + (*end == ';');
    }
    memcpy(at[n + 1], b->design->rx[pair_of(line) / TX], sizeof at[0]);
    for (int i = 0; i <= n; i++)
        length += sqrt((at[i + 1][0] - at[i][0]) * (at[i + 1][0] - at[i][0]) +
                       (at[i + 1][1] - at[i][1]) * (at[i + 1][1] - at[i][1]) +
                       (at[i + 1][2] - at[i][2]) * (at[i + 1][2] - at[i][2]));
    assert_true(fabs(number(line, LENGTH) - length) < 1e-9 * length);
    assert_true(fabs(number(line, DELAY) * EC_LIGHT_SPEED - length) < 1e-9 * length);
    check_direction(line, DEPARTURE, at[0], at[1]);
    check_direction(line, ARRIVAL, at[n + 1], at[n]);
    p = field(line, KINDS, text, sizeof text);
    assert_int_equal(entries(p), n);
    char parts[500];
    const char *q = field(line, PARTS, parts, sizeof parts);
    assert_int_equal(entries(q), n);
    for (int i = 0; i < n; i++, p += strcspn(p, ";") + 1, q += strcspn(q, ";") + 1) {
        bool edge = strncmp(p, "diffraction", 11) == 0;
        size_t name = strcspn(q, "/");
        assert_true(edge || strncmp(p, "reflection", 10) == 0);
        assert_int_equal(strncmp(q + name, edge ? "/wedge " : "/part ", edge ? 7 : 6), 0);
        assert_true(strncmp(q, "room", name) == 0 || strncmp(q, "column", name) == 0 ||
                    strncmp(q, "cab_inet _2_", name) == 0);
        if (strncmp(q, "column", name) == 0) /* the one surface, behind all facets */
            assert_true(edge || atoi(q + name + 6) >= b->scene->n_facets ||
                        b->scene->facet[atoi(q + name + 6)].object == 2);
    }
}

static void test_paths(void **state)
{
    bench *b = *state;
    ec_c128 h[ALL], sum[ALL] = {{0}};
    double share[ALL], count[RECEIVERS * RX * TX], grazing[RECEIVERS * RX * TX];
    double flagged[RECEIVERS * RX * TX] = {0}, all[RECEIVERS * RX * TX] = {0}, last = 0;
    int32_t paths[RECEIVERS * RX * TX] = {0}, grazes[RECEIVERS * RX * TX] = {0}, before = -1;
    size_t n;

    value_of(b, ec_mimo_value(b->graph, b->call, EC_MIMO_CHANNEL), &h[0].re);
    value_of(b, ec_mimo_value(b->graph, b->call, EC_MIMO_PATHS), count);
    value_of(b, ec_mimo_value(b->graph, b->call, EC_MIMO_GRAZING), grazing);
    value_of(b, ec_mimo_value(b->graph, b->call, EC_MIMO_GRAZING_SHARE), share);
    char *text = paths_as(b, &unlimited, "p.csv", &n);
    assert_int_equal(lines_of(text), n + 1);
    assert_non_null(strstr(
        text,
        ",grazing,frequency_hz[1],re[1],im[1],gain_db[1],phase_deg[1],frequency_hz[2],re[2],"));
    for (const char *line = next(text); *line; line = next(line)) {
        int32_t pair = pair_of(line);
        double power = 0;
        paths[pair]++;
        assert_true(pair >= before && number(line, 3) == paths[pair]);
        check_way(b, line);
        for (int f = 0; f < FREQUENCIES; f++) {
            double re = number(line, GAIN + EACH * f), im = number(line, GAIN + 1 + EACH * f);
            assert_true(number(line, FREQUENCY + EACH * f) == frequency[f]);
            sum[f * RECEIVERS * RX * TX + pair].re += re;
            sum[f * RECEIVERS * RX * TX + pair].im += im;
            power += re * re + im * im;
            assert_true(fabs(number(line, GAIN + 2 + EACH * f) - 20 * log10(hypot(re, im))) < 1e-9);
        }
        assert_true(pair > before || power <= last * (1 + 1e-12)); /* the strongest first */
        before = pair;
        last = power;
        double size = hypot(number(line, GAIN), number(line, GAIN + 1));
        all[pair] += size;
        grazes[pair] += number(line, GRAZING) != 0;
        flagged[pair] += number(line, GRAZING) != 0 ? size : 0;
    }
    double most = 0;
    for (int i = 0; i < RECEIVERS * RX * TX; i++) {
        assert_true(paths[i] == count[i] && grazes[i] == grazing[i]);
        /* the flag is that of the lowest frequency, which is the first */
        assert_true(fabs(share[i] - flagged[i] / all[i]) < 1e-12);
        assert_true(share[RECEIVERS * RX * TX + i] >= 0);
        most = fmax(most, share[i]);
    }
    assert_true(most > 0 && most < 1); /* the column is small at this wavelength */
    for (int i = 0; i < ALL; i++)      /* sums of some dozens of waves of 1e-3 */
        assert_true(hypot(sum[i].re - h[i].re, sum[i].im - h[i].im) < 1e-15);

    /* the same bytes on one thread */
    size_t again;
    int threads = b->design->threads;
    b->design->threads = 1;
    char *one = paths_as(b, &unlimited, "p.csv", &again);
    b->design->threads = threads;
    assert_string_equal(one, text);
    free(one);
    free(text);
}

static void test_limits(void **state)
{
    bench *b = *state;
    const ec_mimo_path_limits three = {3, INFINITY}, floor = {0, 15}, both = {2, 15};
    size_t n;
    char *whole = paths_as(b, &unlimited, "p.csv", &n);

    for (int kind = 0; kind < 3; kind++) {
        const ec_mimo_path_limits *limits = kind == 0 ? &three : kind == 1 ? &floor : &both;
        char *text = paths_as(b, limits, "p.csv", &n);
        const char *line = next(text);
        double power = 0, first = 0;
        size_t kept = 0;
        for (const char *w = next(whole); *w; w = next(w)) {
            power = 0;
            for (int k = 0; k < 2 * FREQUENCIES; k++) {
                double part = number(w, GAIN + k / 2 * EACH + k % 2);
                power += part * part;
            }
            first = number(w, 3) == 1 ? power : first;
            if ((kind != 1 && number(w, 3) > limits->strongest) ||
                (kind != 0 && power < first * pow(10, -1.5)))
                continue;
            size_t length = (size_t)(next(w) - w);
            assert_int_equal(strncmp(line, w, length), 0);
            line = next(line);
            kept++;
        }
        assert_int_equal(*line, 0);
        assert_int_equal(kept, n);
        assert_true(kept > 0);
        free(text);
    }
    free(whole);
    ec_mimo_paths *none = NULL;
    assert_int_equal(ec_mimo_design_paths(b->design, &(ec_mimo_path_limits){-1, INFINITY}, &none),
                     EC_ERR_ARGUMENT);
    assert_int_equal(ec_mimo_design_paths(b->design, &(ec_mimo_path_limits){0, NAN}, &none),
                     EC_ERR_ARGUMENT);
}

/* ---- for viewers -------------------------------------------------------------------------------
 * */

static void test_polylines(void **state)
{
    bench *b = *state;
    const ec_mimo_path_limits five = {5, INFINITY};
    size_t n, n_points = 0, cells = 0, words = 0, data = 0;
    char *table = paths_as(b, &five, "p.csv", &n), *text = paths_as(b, &five, "p.vtk", &n);
    static const char head[] = "# vtk DataFile Version 3.0\n";

    assert_int_equal(strncmp(text, head, sizeof head - 1), 0);
    assert_non_null(strstr(text, "\nASCII\nDATASET POLYDATA\nPOINTS "));
    const char *p = strstr(text, "POINTS ");
    assert_int_equal(sscanf(p, "POINTS %zu double", &n_points), 1);
    double(*at)[3] = malloc(n_points * sizeof *at);
    assert_non_null(at);
    p = next(p);
    for (size_t i = 0; i < n_points; i++, p = next(p))
        assert_int_equal(sscanf(p, "%lf %lf %lf", &at[i][0], &at[i][1], &at[i][2]), 3);
    assert_int_equal(sscanf(p, "LINES %zu %zu", &cells, &words), 2);
    assert_int_equal(cells, n);
    assert_int_equal(words, n + n_points);
    p = next(p);
    const char *line = next(table);
    size_t expected = 0;
    for (size_t i = 0; i < n; i++, p = next(p), line = next(line)) {
        char *end = NULL;
        long length = strtol(p, &end, 10);
        assert_int_equal(length, (long)number(line, INTERACTIONS) + 2);
        size_t first = expected;
        for (long k = 0; k < length; k++)
            assert_int_equal(strtol(end, &end, 10), (long)expected++);
        const double *tx = b->design->tx[pair_of(line) % TX],
                     *rx = b->design->rx[pair_of(line) / TX];
        for (int k = 0; k < 3; k++) {
            assert_true(fabs(at[first][k] - tx[k]) < 1e-7);
            assert_true(fabs(at[expected - 1][k] - rx[k]) < 1e-7);
        }
    }
    assert_int_equal(expected, n_points);
    assert_int_equal(sscanf(p, "CELL_DATA %zu", &data), 1);
    assert_int_equal(data, n);
    const char *gain = strstr(p, "SCALARS gain_db double 1\nLOOKUP_TABLE default\n");
    assert_non_null(gain);
    gain = next(next(gain));
    line = next(table);
    for (size_t i = 0; i < n; i++, gain = next(gain), line = next(line))
        assert_true(fabs(strtod(gain, NULL) - number(line, GAIN + 2)) < 1e-6);
    /* every field has n values, and nothing follows */
    assert_int_equal(lines_of(p), 1 + 10 * (2 + n));
    free(at);
    free(table);
    free(text);
}

static void test_scene_with_edges(void **state)
{
    bench *b = *state;
    const ec_mimo_path_limits one = {1, INFINITY};
    ec_mimo_paths *paths = NULL;
    ec_mesh_import_info info;
    ec_mesh_list meshes = {0};
    size_t size, n, edges = 0;
    long vertices = 0;
    char *table = paths_as(b, &one, "p.csv", &n);

    assert_int_equal(ec_mimo_design_paths(b->design, &one, &paths), EC_OK);
    assert_int_equal(ec_mimo_paths_write(paths, file_of(b, "p.ply")), EC_OK);
    ec_mesh_import_info_default(&info);
    if (ec_mesh_import(b->path, &info, &meshes) != EC_OK)
        fail_msg("%s", ec_error_text());
    assert_int_equal(ec_mesh_list_triangles(&meshes), b->scene->n_triangles);
    ec_mesh_list_clear(&meshes);
    char *text = take(b->path, &size);
    const char *p = strstr(text, "element vertex ");
    assert_non_null(p);
    assert_int_equal(sscanf(p, "element vertex %ld", &vertices), 1);
    p = strstr(text, "element edge ");
    assert_non_null(p);
    assert_int_equal(sscanf(p, "element edge %zu", &edges), 1);
    p = strstr(text, "end_header\n");
    for (long i = 0; i < 1 + vertices + b->scene->n_triangles; i++)
        p = next(p);
    /* an edge a segment, from point to point */
    long at = b->scene->n_vertices;
    for (const char *line = next(table); *line; line = next(line), at++)
        for (int k = 0; k <= (int)number(line, INTERACTIONS); k++, at++, p = next(p)) {
            long from, to, receiver, rx, tx, path;
            double gain;
            assert_int_equal(sscanf(p, "%ld %ld %ld %ld %ld %ld %lf", &from, &to, &receiver, &rx,
                                    &tx, &path, &gain),
                             7);
            assert_true(from == at && to == at + 1 && path == 1);
            assert_true(receiver == (long)number(line, 0) && tx == (long)number(line, 2));
            assert_true(fabs(gain - number(line, GAIN + 2)) < 1e-6);
            edges--;
        }
    assert_int_equal(at, vertices);
    assert_int_equal(edges, 0);
    assert_int_equal(*p, 0);
    assert_int_equal(ec_mimo_paths_write(paths, file_of(b, "p.obj")), EC_ERR_ARGUMENT);
    ec_mimo_paths_destroy(&paths);
    free(table);
    free(text);
}

/* ---- maps --------------------------------------------------------------------------------------
 * */

/* log2 det(I + snr / TX H H^H) of a 2 x 2 matrix. */
static double capacity(const ec_c128 h[4], double snr)
{
    double a = 0, d = 0, re = 0, im = 0, s = snr / TX;

    for (int k = 0; k < 2; k++) {
        a += h[k].re * h[k].re + h[k].im * h[k].im;
        d += h[2 + k].re * h[2 + k].re + h[2 + k].im * h[2 + k].im;
        re += h[k].re * h[2 + k].re + h[k].im * h[2 + k].im;
        im += h[k].im * h[2 + k].re - h[k].re * h[2 + k].im;
    }
    return log2((1 + s * a) * (1 + s * d) - s * s * (re * re + im * im));
}

static void drop(bench *b, const char *name)
{
    char ending[200];
    static const char *const files[] = {".gp", ".png"};

    for (int i = 0; i < 2; i++) {
        snprintf(ending, sizeof ending, "%s%s", name, files[i]);
        unlink(file_of(b, ending));
    }
}

/* A transmitter with all the power but a tenth: the map's power and capacity by H. */
static void test_map_of_powers(void **state)
{
    static const double share[TX] = {0.9, 0.1};
    bench *b = *state;
    ec_mimo_config c = config_of(b);
    ec_mimo_design *design = NULL;
    ec_call *call = NULL;
    size_t size;

    c.tx.at[0] = ec_graph_number(b->graph, 1.25);
    c.power_share = share;
    assert_int_equal(ec_mimo_call(b->graph, &c, &call), EC_OK);
    ec_mimo_winner winner = {b->graph, NULL, NULL, b->cpu, call};
    assert_int_equal(ec_mimo_design_create(&winner, &design), EC_OK);
    assert_int_equal(ec_mimo_design_map(design, NULL, 0, NULL, b->folder, "own", NULL), EC_OK);
    char *text = take(file_of(b, "own.csv"), &size);
    const char *line = next(text);
    for (int r = 0; r < RECEIVERS; r++, line = next(line)) {
        double gain = 0, power = 0, bits = 0;
        for (int f = 0; f < FREQUENCIES; f++) {
            ec_c128 m[RX * TX];
            for (int i = 0; i < RX * TX; i++) {
                double p = share[i % TX], root = sqrt(TX * p);
                m[i] = design->h[(f * RECEIVERS + r) * RX * TX + i];
                double square = m[i].re * m[i].re + m[i].im * m[i].im;
                gain += square / (RX * TX * FREQUENCIES);
                power += p * square / (RX * FREQUENCIES);
                m[i] = (ec_c128){root * m[i].re, root * m[i].im};
            }
            bits += capacity(m, 1e10) / FREQUENCIES;
        }
        assert_true(fabs(number(line, 4) - 10 * log10(gain)) < 1e-9);
        assert_true(fabs(number(line, 5) - 10 * log10(power) - 13) < 1e-9);
        assert_true(fabs(number(line, 6) - bits) < 1e-6);
    }
    free(text);
    static const char *const drawn[] = {"own_path_gain_db", "own_received_dbm",
                                        "own_capacity_bit_s_hz"};
    for (int i = 0; i < 3; i++)
        drop(b, drawn[i]);
    ec_mimo_design_destroy(&design);
}

static void test_map(void **state)
{
    bench *b = *state;
    const ec_c128 *h = b->design->h;
    size_t size;
    double count[RECEIVERS * RX * TX];
    ec_expr paths = ec_mimo_value(b->graph, b->call, EC_MIMO_PATHS);
    const ec_mimo_map_column more[2] = {{"paths", paths}, {"pairs", b->call->in[3]}};

    value_of(b, paths, count);
    assert_int_equal(ec_mimo_design_map(b->design, "title", 1, more, b->folder, "map", NULL),
                     EC_OK);
    char *text = take(file_of(b, "map.csv"), &size);
    static const char head[] = "receiver,x,y,z,path_gain_db,received_dbm,capacity_bit_s_hz,paths\n";
    assert_int_equal(strncmp(text, head, sizeof head - 1), 0);
    assert_int_equal(lines_of(text), 1 + RECEIVERS);
    const char *line = next(text);
    for (int r = 0; r < RECEIVERS; r++, line = next(line)) {
        double power = 0, bits = 0, mean = 0;
        for (int f = 0; f < FREQUENCIES; f++) {
            const ec_c128 *m = h + (f * RECEIVERS + r) * RX * TX;
            for (int i = 0; i < RX * TX; i++)
                power += (m[i].re * m[i].re + m[i].im * m[i].im) / (RX * TX * FREQUENCIES);
            bits += capacity(m, 1e10) / FREQUENCIES;
        }
        for (int i = 0; i < RX * TX; i++)
            mean += count[r * RX * TX + i] / (RX * TX);
        assert_true(number(line, 0) == r + 1);
        assert_true(fabs(number(line, 1) - place[2 * r][0] - 0.05) < 1e-12);
        assert_true(fabs(number(line, 2) - place[2 * r][1]) < 1e-12);
        assert_true(fabs(number(line, 3) - place[2 * r][2]) < 1e-12);
        assert_true(fabs(number(line, 4) - 10 * log10(power)) < 1e-9);
        assert_true(fabs(number(line, 5) - 10 * log10(power) - 13) < 1e-9);
        assert_true(fabs(number(line, 6) - bits) < 1e-6); /* of 1e6 under the logarithm, squared */
        assert_true(fabs(number(line, 7) - mean) < 1e-12);
    }
    free(text);
    text = take(file_of(b, "map_received_dbm.gp"), &size);
    assert_non_null(strstr(text, "set cblabel 'received (dBm)'"));
    assert_non_null(strstr(text, "$marks")); /* the transmitters */
    free(text);
    static const char *const drawn[] = {"map_path_gain_db", "map_received_dbm",
                                        "map_capacity_bit_s_hz", "map_paths"};
    for (int i = 0; i < 4; i++)
        drop(b, drawn[i]);
    /* a column that there is already */
    const ec_mimo_map_column twice = {"path_gain_db", paths};
    assert_int_equal(ec_mimo_design_map(b->design, NULL, 1, &twice, b->folder, "map", NULL),
                     EC_ERR_ARGUMENT);
    assert_non_null(strstr(ec_error_text(), "'path_gain_db': the map has a column of this name"));
    /* coordinates have one axis, of all antennas */
    assert_int_equal(ec_mimo_design_map(b->design, NULL, 2, more, b->folder, "map", NULL),
                     EC_ERR_SHAPE);
    assert_non_null(strstr(ec_error_text(), "'pairs' has 6 elements"));
}

/* ---- designs without a search, and such as fail
 * -------------------------------------------------- */

static void test_fixed(void **state)
{
    bench *b = *state;
    ec_mimo_config c = config_of(b);
    ec_mimo_design *design = NULL;
    ec_call *call = NULL;

    c.tx.at[0] = ec_graph_number(b->graph, 1.25);
    c.power_dbm = NAN;
    assert_int_equal(ec_mimo_call(b->graph, &c, &call), EC_OK);
    ec_mimo_winner winner = {b->graph, NULL, NULL, b->cpu, call};
    assert_int_equal(ec_mimo_design_create(&winner, &design), EC_OK);
    assert_true(design->tx[1][0] == 1.25 && design->tx[1][1] == 1.4);
    assert_int_equal(ec_mimo_design_map(design, NULL, 0, NULL, b->folder, "fixed", NULL), EC_OK);
    size_t size;
    char *text = take(file_of(b, "fixed.csv"), &size);
    assert_int_equal(strncmp(text, "receiver,x,y,z,path_gain_db\n", 28), 0); /* no link budget */
    free(text);
    drop(b, "fixed_path_gain_db");
    ec_mimo_design_destroy(&design);

    /* a transmitter that may be in the cabinet, and is */
    ec_job *job = NULL;
    ec_result result = *b->result;
    double genes[2] = {4, 4};
    static const double min[TX] = {3, 3}, max[TX] = {5, 5};
    assert_int_equal(ec_job_create(b->graph, "bad", 1, &job), EC_OK);
    ec_variable_info x = {
        .name = "bad", .kind = EC_VARIABLE_REAL, .count = TX, .min = min, .max = max};
    assert_int_equal(ec_job_add_variable(job, &x), 0);
    c = config_of(b);
    c.tx.at[0] = ec_job_variable(job, 0)->value;
    c.tx.at[1] = ec_graph_number(b->graph, 2);
    assert_int_equal(ec_mimo_call(b->graph, &c, &call), EC_OK);
    result.genes = genes;
    winner = (ec_mimo_winner){b->graph, job, &result, b->cpu, call};
    assert_int_equal(ec_mimo_design_create(&winner, &design), EC_ERR_RANGE);
    assert_non_null(strstr(ec_error_text(), "inside a solid"));
    /* and one whose variables are another job's */
    winner.job = b->job;
    winner.result = b->result;
    assert_true(ec_mimo_design_create(&winner, &design) < 0);
    assert_null(design);
    ec_job_destroy(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_channel),
                                       cmocka_unit_test(test_antennas),
                                       cmocka_unit_test(test_antennas_of_samples),
                                       cmocka_unit_test(test_paths),
                                       cmocka_unit_test(test_limits),
                                       cmocka_unit_test(test_polylines),
                                       cmocka_unit_test(test_scene_with_edges),
                                       cmocka_unit_test(test_map),
                                       cmocka_unit_test(test_map_of_powers),
                                       cmocka_unit_test(test_fixed)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
