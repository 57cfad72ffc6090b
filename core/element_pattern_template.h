/* element_pattern_template.h: fields of elements for one real type.
 *
 * Included twice by element_pattern.h, with EC_REAL, EC_COMPLEX, EC_ELEMENT(name),
 * EC_ELEMENT_NODES(pattern) and EC_ELEMENT_FMA defined. Directions are float64 in both; single
 * precision begins at the weights, so an angle's error stays below the table's. By itself it
 * declares nothing.
 */
#ifdef EC_ELEMENT

/* The bicubic spline of a table: [4 rows][4 columns][3 components]. */
EC_FN void EC_ELEMENT(table)(const ec_element_pattern *pattern, double x, double y, double z,
                             EC_COMPLEX e[3])
{
    int32_t row, column;
    double row_offset, column_offset, row_weight[4], column_weight[4];

    for (int i = 0; i < 3; i++)
        e[i].re = e[i].im = (EC_REAL)0;
    if (!ec_element_place(&pattern->grid, x, y, z, &row, &column, &row_offset, &column_offset))
        return;
    ec_element_weights(row_offset, row_weight);
    ec_element_weights(column_offset, column_weight);
    for (int32_t a = 0; a < 4; a++) {
        size_t first = (size_t)(row + a) * (size_t)pattern->grid.columns + (size_t)column;
        const EC_COMPLEX *node = EC_ELEMENT_NODES(pattern) + 3 * first;
        for (int32_t b = 0; b < 4; b++) {
            EC_REAL w = (EC_REAL)(row_weight[a] * column_weight[b]);
            for (int i = 0; i < 3; i++) {
                e[i].re = EC_ELEMENT_FMA(w, node[3 * b + i].re, e[i].re);
                e[i].im = EC_ELEMENT_FMA(w, node[3 * b + i].im, e[i].im);
            }
        }
    }
}

/* Cartesian components of the field in the element's own axes. */
EC_FN void EC_ELEMENT(vector)(const ec_element_pattern *pattern, double x, double y, double z,
                              EC_COMPLEX e[3])
{
    double closed[3];

    if (pattern->kind == EC_ELEMENT_KIND_TABLE) {
        EC_ELEMENT(table)(pattern, x, y, z, e);
        return;
    }
    ec_element_closed_form(pattern, x, y, z, closed);
    for (int i = 0; i < 3; i++) {
        e[i].re = (EC_REAL)closed[i];
        e[i].im = (EC_REAL)0;
    }
}

/* Cartesian components as E_theta and E_phi of a direction. */
EC_FN void EC_ELEMENT(project)(const EC_COMPLEX e[3], double cos_theta, double sin_theta,
                               double cos_phi, double sin_phi, EC_COMPLEX *e_theta,
                               EC_COMPLEX *e_phi)
{
    EC_REAL tx = (EC_REAL)(cos_theta * cos_phi), ty = (EC_REAL)(cos_theta * sin_phi);
    EC_REAL tz = (EC_REAL)(-sin_theta), px = (EC_REAL)(-sin_phi), py = (EC_REAL)cos_phi;

    e_theta->re = tx * e[0].re + ty * e[1].re + tz * e[2].re;
    e_theta->im = tx * e[0].im + ty * e[1].im + tz * e[2].im;
    e_phi->re = px * e[0].re + py * e[1].re;
    e_phi->im = px * e[0].im + py * e[1].im;
}

/* E_theta and E_phi of an element that stands as the array's axes do; at a pole those of phi = 0.
 */
EC_FN void EC_ELEMENT(field)(const ec_element_pattern *pattern, double x, double y, double z,
                             EC_COMPLEX *e_theta, EC_COMPLEX *e_phi)
{
    EC_COMPLEX e[3];
    double ct, st, cp, sp;

    EC_ELEMENT(vector)(pattern, x, y, z, e);
    ec_element_angles(x, y, z, &ct, &st, &cp, &sp);
    EC_ELEMENT(project)(e, ct, st, cp, sp, e_theta, e_phi);
}

/* Cartesian components of an element in a frame: direction and field are those of the array's axes.
 */
EC_FN void EC_ELEMENT(vector_in)(const ec_element_pattern *pattern, const ec_element_frame *frame,
                                 double x, double y, double z, EC_COMPLEX e[3])
{
    EC_COMPLEX own[3];
    double d[3];

    ec_element_to_local(frame, x, y, z, d);
    EC_ELEMENT(vector)(pattern, d[0], d[1], d[2], own);
    for (int i = 0; i < 3; i++) {
        EC_REAL fx = (EC_REAL)frame->x[i], fy = (EC_REAL)frame->y[i], fz = (EC_REAL)frame->z[i];
        e[i].re = fx * own[0].re + fy * own[1].re + fz * own[2].re;
        e[i].im = fx * own[0].im + fy * own[1].im + fz * own[2].im;
    }
}

/* The same as E_theta and E_phi. */
EC_FN void EC_ELEMENT(field_in)(const ec_element_pattern *pattern, const ec_element_frame *frame,
                                double x, double y, double z, EC_COMPLEX *e_theta,
                                EC_COMPLEX *e_phi)
{
    EC_COMPLEX e[3];
    double ct, st, cp, sp;

    EC_ELEMENT(vector_in)(pattern, frame, x, y, z, e);
    ec_element_angles(x, y, z, &ct, &st, &cp, &sp);
    EC_ELEMENT(project)(e, ct, st, cp, sp, e_theta, e_phi);
}

/* Co- and cross-polar components by Ludwig's third definition. cosine and sine are those of
 * phi - reference: the co-polar direction at broadside has the angle `reference` from x. */
EC_FN void EC_ELEMENT(ludwig3)(EC_COMPLEX e_theta, EC_COMPLEX e_phi, EC_REAL cosine, EC_REAL sine,
                               EC_COMPLEX *co, EC_COMPLEX *cross)
{
    co->re = cosine * e_theta.re - sine * e_phi.re;
    co->im = cosine * e_theta.im - sine * e_phi.im;
    cross->re = sine * e_theta.re + cosine * e_phi.re;
    cross->im = sine * e_theta.im + cosine * e_phi.im;
}

#endif
