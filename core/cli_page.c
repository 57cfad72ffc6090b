/* eciton report: a run as one HTML page that needs nothing else. */
#include "cli_page.h"

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

enum { ROOM = 340000 }; /* numbers: some 3 MB beside the 4.6 MB of plotly.js */

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

static int put_data(ec_page *page)
{
    char *folder = realpath(page->folder, NULL);

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

/* page.html with {{data}} as the JSON and {{FILE}} as the file beside it. */
static int put_page(ec_page *page)
{
    char place[4200], *text = NULL;

    ec_cli_place(EC_REPORT_FROM_BIN, place, sizeof place);
    int status = read_part(place, "page.html", strlen("page.html"), &text);
    const char *at = text;
    while (status == EC_OK && *at) {
        const char *mark = strstr(at, "{{"), *end = mark ? strstr(mark, "}}") : NULL;
        char *part = NULL;
        if (!end) {
            fputs(at, page->to);
            break;
        }
        fwrite(at, 1, (size_t)(mark - at), page->to);
        mark += 2;
        at = end + 2;
        if (strncmp(mark, "data}}", 6) == 0) {
            status = put_data(page);
            continue;
        }
        status = read_part(place, mark, (size_t)(end - mark), &part);
        if (status == EC_OK)
            fputs(part, page->to);
        free(part);
    }
    free(text);
    return status;
}

static int write_page(ec_page *page, const char *path)
{
    ec_output_file out;
    char reason[1024];

    int status = ec_output_file_open(path, &out);
    if (status < 0)
        return status;
    page->to = out.stream;
    int written = put_page(page);
    if (written == EC_OK)
        return ec_output_file_close(&out);
    snprintf(reason, sizeof reason, "%s", ec_error_text());
    ec_output_file_drop(&out);
    return ec_fail(written, "%s", reason);
}

int ec_cli_page(int argc, char **argv)
{
    ec_page page = {.room = ROOM};
    const char *path = NULL;
    char beside[4200];

    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--output") == 0 && i + 1 < argc)
            path = argv[++i];
        else if (argv[i][0] == '-' || page.folder)
            return ec_cli_misused("report", NULL, argv[i]);
        else
            page.folder = argv[i];
    }
    if (!page.folder)
        return ec_cli_misused("report", "which run?", NULL);
    snprintf(beside, sizeof beside, "%s/report.html", page.folder);
    if (!path)
        path = beside;
    int status = ec_store_exists(page.folder)
                     ? ec_store_open(page.folder, EC_STORE_READ, NULL, &page.store)
                     : ec_fail(EC_ERR_FILE, "'%s' holds no run: there is no '%s/run.db'",
                               page.folder, page.folder);
    if (status == EC_OK) {
        ec_cli_warn_damage(page.store);
        status = write_page(&page, path);
    }
    ec_store_close(&page.store);
    if (status == EC_OK) {
        printf("written to %s\n", path);
        return EC_EXIT_OK;
    }
    fprintf(stderr, "eciton: %s\n", ec_error_text());
    return EC_EXIT_ERROR;
}
