/* eciton report: a run as one HTML page that needs nothing else. */
#include "cli_page.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli_options.h"
#include "cli_place.h"
#include "cli_store.h"
#include "cli_table.h"
#include "output_file.h"
#include "utf8.h"

enum {
    MOST_BYTES =
        3200000,      /* of the data, beside the 4.6 MB of plotly.js and the page's own scripts */
    NUMBER_BYTES = 14 /* of a number that is drawn, at most, with its comma */
};

/* ---- JSON ---- */

void ec_page_text(FILE *to, const char *text)
{
    if (!text) {
        fputs("null", to);
        return;
    }
    fputc('"', to);
    while (*text) {
        int n = ec_utf8_length(text);
        unsigned char c = (unsigned char)*text;
        if (n == 0)
            fputs("\\ufffd", to);
        else if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c < 0x20 || c == '<' || c == '>' || c == '&' || c == 0x7f)
            fprintf(to, "\\u%04x", c); /* no tag and no comment can begin or end in it */
        else
            fwrite(text, 1, (size_t)n, to);
        text += n > 0 ? n : 1;
    }
    fputc('"', to);
}

void ec_page_number(FILE *to, double value, int digits)
{
    if (isfinite(value))
        fprintf(to, "%.*g", digits, ec_printable(value));
    else
        fputs("null", to);
}

void ec_page_list(FILE *to, const double *values, size_t n, size_t step, int digits)
{
    fputc('[', to);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? "," : "", to);
        ec_page_number(to, values[i * step], digits);
    }
    fputc(']', to);
}

void ec_page_measure(ec_page *page)
{
    const long used = ftell(page->to);

    page->room = used < MOST_BYTES ? (size_t)(MOST_BYTES - used) / NUMBER_BYTES : 0;
}

static int put_data(ec_page *page)
{
    char *folder = realpath(page->folder, NULL);

    ec_page_measure(page);
    /* a line of its own: ec_page_is_same leaves it out */
    fprintf(page->to,
            "{\"format\":\"eciton report 1\",\"version\":\"%s\",\"written\":%lld,"
            "\"folder\":",
            EC_VERSION, (long long)time(NULL));
    ec_page_text(page->to, folder ? folder : page->folder);
    free(folder);
    fputs(",\n", page->to);
    int status = ec_page_store(page);
    if (status == EC_OK)
        status = ec_page_scenes(page);
    if (status == EC_OK)
        status = ec_page_files(page);
    fputs("}\n", page->to);
    return status;
}

/* ---- files ---- */

static int each_in(ec_page *page, const char *prefix, int (*is)(const struct dirent *entry),
                   int (*put)(ec_page *page, void *user, const char *name), void *user)
{
    struct dirent **list = NULL;
    char path[4700];
    int status = EC_OK;

    snprintf(path, sizeof path, "%s/%s", page->folder, prefix);
    int n = scandir(path, &list, is, alphasort);
    if (n < 0 && errno == ENOENT && *prefix) /* that search found nothing */
        return EC_OK;
    if (n < 0)
        return errno == ENOMEM
                   ? ec_fail(EC_ERR_MEMORY, "report: no memory")
                   : ec_fail(EC_ERR_FILE, "'%s' cannot be read: %s", path, strerror(errno));
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s%s", prefix, list[i]->d_name);
        if (status == EC_OK)
            status = put(page, user, path);
        free(list[i]);
    }
    free(list);
    return status;
}

static int take_count(void *user, int n, const char *const *names, const ec_store_cell *cells)
{
    (void)n;
    (void)names;
    *(int64_t *)user = cells[0].kind == EC_CELL_INTEGER ? cells[0].integer : 0;
    return EC_OK;
}

int ec_page_each_file(ec_page *page, int (*is)(const struct dirent *entry),
                      int (*put)(ec_page *page, void *user, const char *name), void *user)
{
    int64_t searches = 0;
    char prefix[40];

    int status =
        ec_store_query(page->store, "SELECT max(number) FROM search", 0, &searches, take_count);
    if (status == EC_OK)
        status = each_in(page, "", is, put, user);
    for (int64_t i = 2; i <= searches && status == EC_OK; i++) {
        snprintf(prefix, sizeof prefix, "search_%lld/", (long long)i);
        status = each_in(page, prefix, is, put, user);
    }
    return status;
}

int ec_page_data(const char *folder, bool live, char **json, size_t *size)
{
    ec_page page = {.folder = folder, .live = live};

    *json = NULL;
    *size = 0;
    if (!ec_store_exists(folder))
        return ec_fail(EC_ERR_FILE, "'%s' holds no run: there is no '%s/run.db'", folder, folder);
    int status = ec_store_open(folder, EC_STORE_READ, NULL, &page.store);
    if (status == EC_OK && !live) /* which reads it all */
        ec_cli_warn_damage(page.store);
    page.to = status == EC_OK ? open_memstream(json, size) : NULL;
    if (status == EC_OK && !page.to)
        status = ec_fail(EC_ERR_MEMORY, "report: no memory");
    if (status == EC_OK)
        status = put_data(&page);
    if (page.to && fclose(page.to) != 0 && status == EC_OK)
        status = ec_fail(EC_ERR_MEMORY, "report: no memory");
    ec_store_close(&page.store);
    if (status < 0) {
        free(*json);
        *json = NULL;
    }
    return status;
}

bool ec_page_is_same(const char *a, const char *b)
{
    return strcmp(a + strcspn(a, "\n"), b + strcspn(b, "\n")) == 0;
}

/* ---- template ---- */

/* A file of the template, malloc'ed. */
static int read_part(const char *place, const char *name, size_t length, char **text)
{
    char path[4400];
    size_t size = 0;

    *text = NULL;
    snprintf(path, sizeof path, "%s/%.*s", place, (int)length, name);
    FILE *file = fopen(path, "rb");
    FILE *to = file ? open_memstream(text, &size) : NULL;
    char block[65536];
    for (size_t n; to && (n = fread(block, 1, sizeof block, file)) > 0;)
        fwrite(block, 1, n, to);
    bool whole = to && !ferror(file);
    if (to && fclose(to) != 0)
        whole = false;
    if (file)
        fclose(file);
    if (whole)
        return EC_OK;
    free(*text);
    *text = NULL;
    return ec_fail(EC_ERR_FILE, "'%s' cannot be read: the installation is not complete", path);
}

/* page.html with {{data}} as the JSON, {{connect}} as what the page may ask, {{live}} as the script that
 * asks, and {{FILE}} as the file beside it. */
int ec_page_put(FILE *to, const char *json, bool live)
{
    char place[4200], *text = NULL;

    ec_cli_place(EC_REPORT_FROM_BIN, place, sizeof place);
    int status = read_part(place, "page.html", strlen("page.html"), &text);
    const char *at = text;
    while (status == EC_OK && *at) {
        const char *mark = strstr(at, "{{"), *end = mark ? strstr(mark, "}}") : NULL;
        char *part = NULL;
        if (!end) {
            fputs(at, to);
            break;
        }
        fwrite(at, 1, (size_t)(mark - at), to);
        mark += 2;
        at = end + 2;
        if (strncmp(mark, "data}}", 6) == 0) {
            fputs(json, to);
            continue;
        }
        if (strncmp(mark, "connect}}", 9) == 0) {
            fputs(live ? "; connect-src 'self'" : "", to);
            continue;
        }
        if (strncmp(mark, "live}}", 6) == 0) {
            if (!live)
                continue;
            status = read_part(place, "page_live.js", strlen("page_live.js"), &part);
        } else {
            status = read_part(place, mark, (size_t)(end - mark), &part);
        }
        if (status == EC_OK)
            fputs(part, to);
        free(part);
    }
    free(text);
    return status;
}

static int write_page(const char *json, const char *path)
{
    ec_output_file out;
    char reason[1024];

    int status = ec_output_file_open(path, &out);
    if (status < 0)
        return status;
    int written = ec_page_put(out.stream, json, false);
    if (written == EC_OK)
        return ec_output_file_close(&out);
    snprintf(reason, sizeof reason, "%s", ec_error_text());
    ec_output_file_drop(&out);
    return ec_fail(written, "%s", reason);
}

int ec_cli_page(int argc, char **argv)
{
    const char *path = NULL, *folder = NULL;
    char beside[4200], *json = NULL;
    size_t size;

    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--output") == 0 && i + 1 < argc)
            path = argv[++i];
        else if (argv[i][0] == '-' || folder)
            return ec_cli_misused("report", NULL, argv[i]);
        else
            folder = argv[i];
    }
    if (!folder)
        return ec_cli_misused("report", "which run?", NULL);
    snprintf(beside, sizeof beside, "%s/report.html", folder);
    if (!path)
        path = beside;
    int status = ec_page_data(folder, false, &json, &size);
    if (status == EC_OK)
        status = write_page(json, path);
    free(json);
    if (status == EC_OK) {
        printf("written to %s\n", path);
        return EC_EXIT_OK;
    }
    fprintf(stderr, "eciton: %s\n", ec_error_text());
    return EC_EXIT_ERROR;
}
