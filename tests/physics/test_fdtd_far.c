/* test_fdtd_far.c: far fields and incident waves of FDTD against exact answers. */
#include "evaluators/fdtd/fdtd_fields.h"
#include "fdtd_harness.h"

#include <complex.h>
#include <unistd.h>

static const double degree = EC_PI / 180;

static void far_or_fail(const ec_fdtd_config *config, int32_t n, const ec_fdtd_far *far,
                        double *const *to)
{
    if (fdtd_outputs(cpu, config, n, NULL, far, to) < 0)
        fail_msg("%s", ec_error_text());
}

static void near(const char *what, double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance * fabs(expected)))
        fail_msg("%s: %.9g, expected %.9g within %g", what, value, expected, tolerance);
}

/* ---- dipoles ------------------------------------------------------------------------------------ */

enum { DIRECTIONS = 4 };
static const double directions[DIRECTIONS][2] = {
    {EC_PI / 2, 0}, {EC_PI / 2, 0.7}, {EC_PI / 4, 2}, {3 * EC_PI / 4, 2}};

/* An edge with a current in cells of a twentieth of a wavelength. */
static void edge(ec_fdtd_config *c, ec_fdtd_port *port, const double from[3], const double to[3],
                 const double lo[3], const double hi[3])
{
    static const double frequency[] = {EC_LIGHT_SPEED / (20 * 1e-3)};

    ec_fdtd_config_default(c);
    *port = fdtd_port(EC_FDTD_CURRENT, "in", from, to, 1);
    fdtd_domain(c, lo, hi);
    for (int i = 0; i < 3; i++)
        c->grid.cell[i] = 1 * mm;
    c->n_frequencies = 1;
    c->frequency = frequency;
    c->ports = port;
    c->n_ports = 1;
    c->pulse_width = 0.4 * frequency[0];
    c->layers = 6;
    c->max_steps = 768;
}

static void short_dipole(void **state)
{
    ec_fdtd_config c;
    ec_fdtd_port port;
    double D[DIRECTIONS], G[DIRECTIONS], efficiency, e[2 * DIRECTIONS];
    (void)state;

    edge(&c, &port, (double[]){0, 0, 0}, (double[]){0, 0, 1 * mm},
         (double[]){-7 * mm, -6 * mm, -6 * mm}, (double[]){6 * mm, 7 * mm, 8 * mm});
    far_or_fail(&c, 4,
                (ec_fdtd_far[]){
                    {.quantity = EC_FDTD_FAR_DIRECTIVITY, .n = DIRECTIONS, .direction = directions},
                    {.quantity = EC_FDTD_FAR_GAIN, .n = DIRECTIONS, .direction = directions},
                    {.quantity = EC_FDTD_FAR_EFFICIENCY},
                    {.quantity = EC_FDTD_FAR_E_THETA, .n = DIRECTIONS, .direction = directions}},
                (double *[]){D, G, &efficiency, e});
    near("efficiency", efficiency, 1, 1e-3); /* the box's power is the port's */
    for (int i = 0; i < DIRECTIONS; i++) {
        const double s = sin(directions[i][0]), k = 2 * EC_PI / (20 * mm);
        near("directivity", D[i], 1.5 * s * s, 0.02);
        near("gain", G[i], D[i] * efficiency, 1e-9);
        near("field", hypot(e[2 * i], e[2 * i + 1]),
             EC_LIGHT_SPEED * 4e-7 * EC_PI * k * 1 * mm / (4 * EC_PI) * s, 0.02);
    }
    /* E_theta = jk eta I l sin(theta) / (4 pi), about the dipole's middle. */
    assert_true(fabs(atan2(e[1], e[0]) - EC_PI / 2) < 0.03);
}

/* Half of a dipole on a wall: a ground without end or a plane of symmetry. */
static void walls_have_images(void **state)
{
    ec_fdtd_config c;
    ec_fdtd_port port;
    double ground[DIRECTIONS], half[DIRECTIONS], efficiency;
    const ec_fdtd_far ask[] = {
        {.quantity = EC_FDTD_FAR_DIRECTIVITY, .n = DIRECTIONS, .direction = directions},
        {.quantity = EC_FDTD_FAR_DIRECTIVITY,
         .n = DIRECTIONS,
         .direction = directions,
         .symmetry = {false, false, true}},
        {.quantity = EC_FDTD_FAR_EFFICIENCY}};
    double *to[] = {ground, half, &efficiency};
    (void)state;

    edge(&c, &port, (double[]){0, 0, 5 * mm}, (double[]){0, 0, 6 * mm},
         (double[]){-6 * mm, -6 * mm, 5 * mm}, (double[]){6 * mm, 6 * mm, 13 * mm});
    c.wall[2][0] = EC_FDTD_WALL_PEC;
    far_or_fail(&c, 3, ask, to);
    near("efficiency over a ground", efficiency, 1, 1e-3);
    for (int i = 0; i < DIRECTIONS; i++) {
        const double s = sin(directions[i][0]);
        if (directions[i][0] > EC_PI / 2 + 1e-6)
            assert_true(ground[i] == 0);
        else
            near("over a ground", ground[i], 3 * s * s, 0.03);
        near("half a dipole", half[i], 1.5 * s * s, 0.03);
    }
    /* Beside a magnetic wall at x = 0 a dipole along z has an image in phase, itself here. */
    edge(&c, &port, (double[]){0, 0, 0}, (double[]){0, 0, 1 * mm}, (double[]){0, -6 * mm, -6 * mm},
         (double[]){7 * mm, 6 * mm, 7 * mm});
    c.wall[0][0] = EC_FDTD_WALL_PMC;
    const ec_fdtd_far one = {.quantity = EC_FDTD_FAR_DIRECTIVITY,
                             .n = DIRECTIONS,
                             .direction = directions,
                             .symmetry = {true, false, false}};
    far_or_fail(&c, 1, &one, to);
    for (int i = 0; i < DIRECTIONS; i++)
        near("beside a magnetic wall", ground[i],
             1.5 * sin(directions[i][0]) * sin(directions[i][0]), 0.02);
}

static void half_wave_dipole(void **state)
{
    static const double frequency[] = {0.95e9};
    ec_fdtd_config c;
    ec_fdtd_object arm[2] = {fdtd_object(EC_FDTD_WIRE, "low"), fdtd_object(EC_FDTD_WIRE, "high")};
    ec_fdtd_port port =
        fdtd_port(EC_FDTD_LUMPED, "in", (double[]){0, 0, -5 * mm}, (double[]){0, 0, 5 * mm}, 73);
    double D, G, R, e[2];
    ec_c128 s11;
    (void)state;

    ec_fdtd_config_default(&c);
    for (int i = 0; i < 2; i++) {
        arm[i].at[2] = fdtd_number((i ? 5 : -75) * mm);
        arm[i].to[2] = fdtd_number((i ? 75 : -5) * mm);
    }
    fdtd_domain(&c, (double[]){-50 * mm, -50 * mm, -115 * mm},
                (double[]){50 * mm, 50 * mm, 115 * mm});
    for (int i = 0; i < 3; i++)
        c.grid.cell[i] = 10 * mm;
    c.objects = arm;
    c.n_objects = 2;
    c.frequency = frequency;
    c.n_frequencies = 1;
    c.ports = &port;
    c.n_ports = 1;
    c.pulse_width = 0.5e9;
    const double(*side)[2] = directions;
    far_or_fail(&c, 4,
                (ec_fdtd_far[]){{.quantity = EC_FDTD_FAR_DIRECTIVITY, .n = 1, .direction = side},
                                {.quantity = EC_FDTD_FAR_GAIN, .n = 1, .direction = side},
                                {.quantity = EC_FDTD_FAR_REALIZED_GAIN, .n = 1, .direction = side},
                                {.quantity = EC_FDTD_FAR_E_THETA, .n = 1, .direction = side}},
                (double *[]){&D, &G, &R, e});
    if (fdtd_values(cpu, &c, 1, &(ec_fdtd_what){.output = EC_FDTD_S}, (double *[]){&s11.re}) < 0)
        fail_msg("%s", ec_error_text());
    if (!(fabs(10 * log10(D) - 2.15) < 0.1))
        fail_msg("directivity %.3f dBi", 10 * log10(D));
    near("gain", G, D, 2e-3);
    near("realized gain", R, G * (1 - s11.re * s11.re - s11.im * s11.im), 2e-3);
    near("field", 4 * EC_PI * (e[0] * e[0] + e[1] * e[1]) / (4e-7 * EC_PI * EC_LIGHT_SPEED), R,
         1e-6);
}

/* ---- incident waves ----------------------------------------------------------------------------- */

enum { ROUND = 19 };

/* Directions in the plane of angle `phi` about the way of a wave that comes from -z. */
static void plane_of(double phi, double (*to)[2])
{
    for (int i = 0; i < ROUND; i++) {
        to[i][0] = i * 180 / (ROUND - 1) * degree;
        to[i][1] = phi;
    }
}

static void wave_config(ec_fdtd_config *c, double half, double cell)
{
    static const double frequency[] = {1e9};

    ec_fdtd_config_default(c);
    fdtd_domain(c, (double[]){-half, -half, -half}, (double[]){half, half, half});
    for (int i = 0; i < 3; i++)
        c->grid.cell[i] = cell;
    c->n_frequencies = 1;
    c->frequency = frequency;
    c->wave.on = true;
    c->wave.theta.value = EC_PI;
    c->pulse_width = 0.5e9;
    c->max_steps = 4000;
}

/* Scattered by nothing: in parts of what a plate as large as the box would scatter. */
static double leak(const ec_fdtd_config *c)
{
    double forth[ROUND][2], side[ROUND][2], a[ROUND], b[ROUND], most = 0;
    const int32_t last = c->n_frequencies - 1;
    const double plate = 0.12 * 0.12, lambda = EC_LIGHT_SPEED / c->frequency[last];

    plane_of(0, forth);
    plane_of(EC_PI / 3, side);
    far_or_fail(c, 2,
                (ec_fdtd_far[]){{.quantity = EC_FDTD_FAR_RCS,
                                 .j = EC_FDTD_WAVE,
                                 .frequency = last,
                                 .n = ROUND,
                                 .direction = (const double(*)[2])forth},
                                {.quantity = EC_FDTD_FAR_RCS,
                                 .j = EC_FDTD_WAVE,
                                 .frequency = last,
                                 .n = ROUND,
                                 .direction = (const double(*)[2])side}},
                (double *[]){a, b});
    for (int i = 0; i < ROUND; i++)
        most = fmax(most, fmax(a[i], b[i]));
    return sqrt(most / (4 * EC_PI * plate * plate)) * lambda;
}

static void empty_box(void **state)
{
    ec_fdtd_config c;
    (void)state;

    wave_config(&c, 0.1, 0.01);
    /* Its edges make the lines along x uneven. */
    const ec_fdtd_object nothing =
        fdtd_box("nothing", EC_FDTD_FREE_SPACE, (double[]){-0.011, -0.02, -0.02},
                 (double[]){0.017, 0.02, 0.02});
    c.objects = &nothing;
    c.n_objects = 1;
    c.grid.cell[0] = 0;
    c.grid.largest = 0.01;
    c.layers = 4;
    c.decay_db = INFINITY;
    c.max_steps = 640;
    c.wave.theta.value = EC_PI / 2;
    for (int axis = 0; axis < 2; axis++) { /* z: below */
        c.wave.phi.value = axis == 1 ? EC_PI / 2 : EC_PI;
        c.wave.polarization.value = 0.3;
        c.double_precision = axis != 1;
        const double x = leak(&c);
        if (!(x < (c.double_precision ? 1e-9 : 1e-6)))
            fail_msg("along %c: %g of the incident field", "xyz"[axis], x);
    }
    c.double_precision = true;
    /* At 24 cells a wavelength, away from the middle of the band. */
    static const double frequency[] = {0.75e9, 1.25e9};
    c.frequency = frequency;
    c.n_frequencies = 2;
    c.n_objects = 0;
    c.grid.cell[0] = 0.01;
    c.wave.theta.value = 50 * degree;
    c.wave.phi.value = 25 * degree;
    const double x = leak(&c);
    if (!(x < 3e-4))
        fail_msg("across the grid: %g of the incident field", x);
}

enum { EARS = 7 };

/* The highest voltage that each probe found: the first one is inside of the wave's box. */
static void peaks_of(void *user, size_t design, int32_t driven, const ec_fdtd_result *r)
{
    double *peak = user;
    (void)design, (void)driven;

    assert_int_equal(r->status, EC_OK);
    for (int i = 0; i < EARS; i++)
        for (int64_t t = 0; t < r->steps; t++)
            peak[i] = fmax(peak[i], fabs(r->series[(int64_t)i * r->steps + t]));
}

/* At every step what is outside of the box is nothing beside the wave. */
static void nothing_is_scattered(void **state)
{
    static const int32_t driven[] = {EC_FDTD_WAVE};
    const double half = 0.06;
    ec_fdtd_port ear[EARS];
    int32_t kept[EARS];
    ec_fdtd_config c;
    (void)state;

    wave_config(&c, half, 0.01);
    for (int i = 0; i < EARS; i++) { /* in the middle, and a cell inside of the domain's faces */
        double from[3] = {0, 0.01, 0}, to[3];
        if (i > 0)
            from[(i - 1) / 2] = i % 2 ? 0.01 - half : half - 0.01;
        memcpy(to, from, sizeof to);
        to[0] += 0.01;
        ear[i] = fdtd_port(EC_FDTD_PROBE, "ear", from, to, 1);
        kept[i] = i * EC_FDTD_PORT_PROBES + EC_FDTD_VOLTAGE;
    }
    c.ports = ear;
    c.n_ports = EARS;
    c.layers = 6;
    c.decay_db = INFINITY;
    c.max_steps = 10000;
    for (int wide = 0; wide < 2; wide++) {
        double peak[EARS] = {0};
        const ec_fdtd_wants wants = {.n_driven = 1, .driven = driven, .n_kept = EARS, .kept = kept};
        c.double_precision = wide;
        fdtd_run_stack(cpu, &c, &wants, peaks_of, peak);
        for (int i = 1; i < EARS; i++)
            if (!(peak[i] < (wide ? 1e-9 : 2e-6) * peak[0]) || !(peak[0] > 0.005))
                fail_msg("%s, probe %d: %g of %g V", wide ? "float64" : "float32", i, peak[i],
                         peak[0]);
    }
}

/* Riccati-Bessel functions of order 0 to n and their derivatives: x j, and x h2 = x (j - jy). */
static void riccati(double x, int n, double *psi, double *dpsi, double complex *xi,
                    double complex *dxi)
{
    double j[64] = {0}, y[32];

    j[62] = 1e-300;
    for (int k = 62; k > 0; k--)
        j[k - 1] = (2 * k + 1) / x * j[k] - j[k + 1];
    const double scale = sin(x) / x / j[0];
    y[0] = -cos(x) / x;
    y[1] = -cos(x) / (x * x) - sin(x) / x;
    for (int k = 1; k < n; k++)
        y[k + 1] = (2 * k + 1) / x * y[k] - y[k - 1];
    for (int k = 0; k <= n; k++) {
        psi[k] = x * scale * j[k];
        xi[k] = psi[k] - I * x * y[k];
        dpsi[k] = k ? psi[k - 1] - k * psi[k] / x : cos(x);
        dxi[k] = k ? xi[k - 1] - k * xi[k] / x : cos(x) - I * sin(x);
    }
}

/* Bistatic radar cross section of a sphere, x = ka, index m (INFINITY: a metal), at an angle from
 * the wave's way: in the plane of E and across it (G. Mie 1908; C. F. Bohren and D. R. Huffman 1983,
 * section 4.4). */
static void mie(double k, double radius, double m, double angle, double *in_e, double *in_h)
{
    enum { N = 12 };
    double p[N + 1], dp[N + 1], q[N + 1], dq[N + 1], before = 0, now = 1;
    double complex z[N + 1], dz[N + 1], unused[2][N + 1], s1 = 0, s2 = 0;
    const double x = k * radius, mu = cos(angle);

    riccati(x, N, p, dp, z, dz);
    if (isfinite(m))
        riccati(m * x, N, q, dq, unused[0], unused[1]);
    for (int n = 1; n <= N; n++) {
        const double complex a =
            isfinite(m) ? (m * q[n] * dp[n] - p[n] * dq[n]) / (m * q[n] * dz[n] - z[n] * dq[n])
                        : dp[n] / dz[n];
        const double complex b =
            isfinite(m) ? (q[n] * dp[n] - m * p[n] * dq[n]) / (q[n] * dz[n] - m * z[n] * dq[n])
                        : p[n] / z[n];
        const double pi_n = now, tau = n * mu * now - (n + 1) * before;
        const double weight = (2.0 * n + 1) / (n * (n + 1.0));
        s1 += weight * (a * pi_n + b * tau);
        s2 += weight * (a * tau + b * pi_n);
        const double next = ((2 * n + 1) * mu * now - (n + 1) * before) / n;
        before = now;
        now = next;
    }
    const double scale = 4 * EC_PI / (k * k);
    *in_e = scale * creal(s2 * conj(s2));
    *in_h = scale * creal(s1 * conj(s1));
}

static void sphere(const char *name, int32_t material, double m, double cell, double allowed)
{
    const double radius = 72 * mm, k = 2 * EC_PI * 1e9 / EC_LIGHT_SPEED;
    ec_fdtd_config c;
    ec_fdtd_object ball = fdtd_object(EC_FDTD_SPHERE, "ball");
    ec_fdtd_material glass = fdtd_material("glass", 4, 0);
    double forth[ROUND][2], side[ROUND][2], e[ROUND], h[ROUND], most = 0, worst = 0;

    wave_config(&c, ceil(radius / cell) * cell + 5 * cell, cell);
    ball.radius = fdtd_number(radius);
    ball.material = material;
    c.objects = &ball;
    c.n_objects = 1;
    c.materials = &glass;
    c.n_materials = 1;
    c.grid.snap = true;
    c.grid.conformal = material == EC_FDTD_PEC;
    c.layers = 6;
    plane_of(0, forth);
    plane_of(EC_PI / 2, side);
    /* Comes from theta = pi: along theta is -x. */
    far_or_fail(&c, 2,
                (ec_fdtd_far[]){{.quantity = EC_FDTD_FAR_RCS,
                                 .j = EC_FDTD_WAVE,
                                 .n = ROUND,
                                 .direction = (const double(*)[2])forth},
                                {.quantity = EC_FDTD_FAR_RCS,
                                 .j = EC_FDTD_WAVE,
                                 .n = ROUND,
                                 .direction = (const double(*)[2])side}},
                (double *[]){e, h});
    double exact[2][ROUND];
    for (int i = 0; i < ROUND; i++) {
        mie(k, radius, m, forth[i][0], exact[0] + i, exact[1] + i);
        most = fmax(most, fmax(exact[0][i], exact[1][i]));
    }
    for (int i = 0; i < ROUND; i++)
        for (int p = 0; p < 2; p++) {
            const double off = 10 * log10((p ? h : e)[i] / exact[p][i]);
            if (exact[p][i] > 0.01 * most) /* above -20 dB of the largest */
                worst = fmax(worst, fabs(off));
        }
    if (!(worst < allowed))
        fail_msg("%s: %.2f dB", name, worst);
}

static void spheres(void **state)
{
    (void)state;
    sphere("glass", 0, 2, 7.2 * mm, 0.5);
    sphere("metal", EC_FDTD_PEC, INFINITY, 7.2 * mm, 0.1);
}

/* ---- fields that are saved ----------------------------------------------------------------------- */

static double complex at_face(const ec_c128 *field, const ec_fdtd_plane *p, int32_t i, int32_t j,
                              int c)
{
    const ec_c128 x = field[3 * ((size_t)j * (size_t)p->n[0] + (size_t)i) + (size_t)c];
    return x.re + I * x.im;
}

/* Of a wave along z, E along -x: within its box E = e^(-jkz), H = E / eta, at planes between lines too. */
static void wave_on_planes(void **state)
{
    static const double places[3] = {0.013, -0.02, 0.0262};
    ec_fdtd_config c;
    (void)state;

    wave_config(&c, 0.09, 0.01);
    c.max_steps = 1500;
    for (int axis = 0; axis < 3; axis++) {
        ec_graph *g = NULL;
        ec_fdtd_winner w = {.backend = cpu};
        ec_fdtd_plane *p = NULL;
        assert_int_equal(ec_graph_create(&g), EC_OK);
        w.graph = g;
        if (ec_fdtd_call(g, &c, &w.call) < 0 ||
            ec_fdtd_plane_create(&w,
                                 &(ec_fdtd_plane_info){.axis = axis,
                                                       .at = ec_graph_number(g, places[axis]),
                                                       .j = EC_FDTD_WAVE,
                                                       .n_frequencies = 1,
                                                       .frequency = (int32_t[]){0}},
                                 &p) < 0)
            fail_msg("%s", ec_error_text());
        assert_int_equal(p->n[0], 18);
        assert_int_equal(p->n[1], 18);
        const double eta = 4e-7 * EC_PI * EC_LIGHT_SPEED, k = 2 * EC_PI * 1e9 / EC_LIGHT_SPEED;
        for (int32_t j = 6; j < 12; j++)
            for (int32_t i = 6; i < 12; i++) {
                const double z = axis == 2 ? places[2] : 0.5 * (p->line[1][j] + p->line[1][j + 1]);
                const double complex wave = -cexp(-I * k * z);
                for (int q = 0; q < 3; q++) {
                    const double complex e = at_face(p->e, p, i, j, q),
                                         h = at_face(p->h, p, i, j, q);
                    if (!(cabs(e - (q == 0 ? wave : 0)) < 0.012) ||
                        !(cabs(eta * h - (q == 1 ? wave : 0)) < 0.012))
                        fail_msg(
                            "across %c, face %d %d, component %c: E %g %g, eta H %g %g, wave %g %g",
                            "xyz"[axis], i, j, "xyz"[q], creal(e), cimag(e), eta * creal(h),
                            eta * cimag(h), creal(wave), cimag(wave));
                }
            }
        ec_fdtd_plane_destroy(&p);
        ec_graph_destroy(&g);
    }
}

/* A pattern has the bits of the same far fields that are asked for one by one, and so has its file where no
 * port is offered power. */
static void patterns_are_far_fields(void **state)
{
    static const double theta[] = {0, EC_PI / 4, EC_PI / 2}, phi[] = {0, 2};
    char path[] = "/tmp/eciton_pattern_XXXXXX.ffd";
    ec_fdtd_config c;
    ec_fdtd_port port;
    ec_fdtd_pattern *p = NULL;
    ec_far_field *file = NULL;
    ec_fdtd_winner w = {.backend = cpu};
    double e[12], grid[6][2], efficiency;
    (void)state;

    edge(&c, &port, (double[]){0, 0, 0}, (double[]){0, 0, 1 * mm},
         (double[]){-6 * mm, -6 * mm, -6 * mm}, (double[]){6 * mm, 6 * mm, 7 * mm});
    c.max_steps = 500;
    for (int i = 0; i < 6; i++) {
        grid[i][0] = theta[i / 2];
        grid[i][1] = phi[i % 2];
    }
    far_or_fail(
        &c, 2,
        (ec_fdtd_far[]){
            {.quantity = EC_FDTD_FAR_E_THETA, .n = 6, .direction = (const double(*)[2])grid},
            {.quantity = EC_FDTD_FAR_EFFICIENCY}},
        (double *[]){e, &efficiency});
    assert_int_equal(ec_graph_create(&w.graph), EC_OK);
    if (ec_fdtd_call(w.graph, &c, &w.call) < 0 ||
        ec_fdtd_pattern_create(&w,
                               &(ec_fdtd_pattern_info){.n_frequencies = 1,
                                                       .frequency = (int32_t[]){0},
                                                       .n_theta = 3,
                                                       .n_phi = 2,
                                                       .theta = theta,
                                                       .phi = phi},
                               &p) < 0)
        fail_msg("%s", ec_error_text());
    for (int i = 0; i < 6; i++)
        assert_true(p->e_theta[i].re == e[2 * i] && p->e_theta[i].im == e[2 * i + 1]);
    assert_true(p->offered[0] == 0);
    near("efficiency", p->radiated[0] / p->accepted[0], efficiency, 1e-12);
    const int number = mkstemps(path, 4);
    assert_true(number >= 0);
    if (ec_fdtd_pattern_write(p, path, NULL) < 0 || ec_far_field_read(path, NULL, &file) < 0)
        fail_msg("%s", ec_error_text());
    for (int i = 0; i < 6; i++)
        assert_memory_equal(file->e_theta + i, p->e_theta + i, sizeof *p->e_theta);
    ec_far_field_destroy(&file);
    p->offered[0] = 0.5; /* that of a port: HFSS wants amplitudes for 1 W */
    if (ec_fdtd_pattern_write(p, path, NULL) < 0 || ec_far_field_read(path, NULL, &file) < 0)
        fail_msg("%s", ec_error_text());
    for (int i = 0; i < 6; i++)
        near("E for 1 W", file->e_theta[i].re, sqrt(2) * p->e_theta[i].re, 1e-12);
    close(number);
    remove(path);
    ec_far_field_destroy(&file);
    ec_fdtd_pattern_destroy(&p);
    ec_graph_destroy(&w.graph);
}

/* A lossy cavity: sigma takes eps_0 w / sigma of energy a radian. */
static void quality_of_a_lossy_cavity(void **state)
{
    static const double frequency[] = {1e9};
    const ec_fdtd_material lossy = fdtd_material("lossy", 1, 1e-3);
    ec_fdtd_config c;
    double mode, q, decay;
    (void)state;

    ec_fdtd_config_default(&c);
    fdtd_walls(&c, EC_FDTD_WALL_PEC);
    fdtd_domain(&c, (double[]){0, 0, 0}, (double[]){0.24, 0.04, 0.2});
    for (int i = 0; i < 3; i++)
        c.grid.cell[i] = 0.02;
    const ec_fdtd_object all = fdtd_box("all", 0, (double[]){0, 0, 0}, (double[]){0.24, 0.04, 0.2});
    ec_fdtd_port in = fdtd_port(EC_FDTD_CURRENT, "in", (double[]){0.08, 0, 0.08},
                                (double[]){0.08, 0.04, 0.08}, 1);
    c.objects = &all;
    c.n_objects = 1;
    c.materials = &lossy;
    c.n_materials = 1;
    c.ports = &in;
    c.n_ports = 1;
    c.frequency = frequency;
    c.n_frequencies = 1;
    c.pulse_width = 0.6e9;
    c.decay_db = INFINITY;
    c.max_steps = 8000;
    const ec_fdtd_what what[] = {{.output = EC_FDTD_MODES, .count = 1, .from = 0.9e9, .to = 1.1e9},
                                 {.output = EC_FDTD_Q, .count = 1, .from = 0.9e9, .to = 1.1e9},
                                 {.output = EC_FDTD_DECAY}};
    if (fdtd_values(cpu, &c, 3, what, (double *[]){&mode, &q, &decay}) < 0)
        fail_msg("%s", ec_error_text());
    near("mode", mode, 0.5 * EC_LIGHT_SPEED * hypot(1 / 0.24, 1 / 0.2), 5e-3);
    near("quality", q, 2 * EC_PI * mode * 8.8541878128e-12 / 1e-3, 1e-3);
    assert_true(decay > 20 && decay < 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_dipole),
        cmocka_unit_test(walls_have_images),
        cmocka_unit_test(half_wave_dipole),
        cmocka_unit_test(empty_box),
        cmocka_unit_test(nothing_is_scattered),
        cmocka_unit_test(spheres),
        cmocka_unit_test(wave_on_planes),
        cmocka_unit_test(patterns_are_far_fields),
        cmocka_unit_test(quality_of_a_lossy_cavity),
    };
    return cmocka_run_group_tests(tests, fdtd_open, fdtd_close);
}
