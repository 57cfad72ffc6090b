#include "lua_files.h"

#include "npy_file.h"
#include "output.h"
#include "output_file.h"
#include "utf8.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

/* ---- paths ----------------------------------------------------------------------------------- */

static bool is_below(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    if (n == 1) /* "/" */
        return true;
    return n > 0 && strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == 0);
}

int ec_lua_files_resolve(lua_State *L, const char *path, char *real, size_t size)
{
    ec_lua_host *host = ec_lua_host_of(L);
    const char *folders[2] = {host->data_dir, host->script_dir};
    char found[PATH_MAX], joined[PATH_MAX * 2];
    bool exists = false;
    for (int i = 0; i < 2 && !exists; i++) {
        if (path[0] == '/')
            snprintf(joined, sizeof joined, "%s", path);
        else if (folders[i][0])
            snprintf(joined, sizeof joined, "%s/%s", folders[i], path);
        else
            continue;
        exists = realpath(joined, found) != NULL;
    }
    if (!exists && host->settings.trust)
        exists = realpath(path, found) != NULL;
    if (!exists)
        return ec_fail(EC_ERR_FILE, "there is no file '%s' in %s%s%s", path,
                       host->data_dir[0] ? host->data_dir : "", host->data_dir[0] ? " or " : "",
                       host->script_dir);
    if (!host->settings.trust && !is_below(found, host->script_dir) &&
        !is_below(found, host->data_dir))
        return ec_fail(
            EC_ERR_FILE,
            "the file '%s' lies outside the script's folder: only files below it, or below "
            "--data DIR, are read",
            path);
    struct stat info;
    if (stat(found, &info) != 0 || !S_ISREG(info.st_mode))
        return ec_fail(EC_ERR_FILE, "'%s' is not a file", path);
    if (strlen(found) >= size)
        return ec_fail(EC_ERR_FILE, "the path of '%s' is too long", path);
    strcpy(real, found);
    return EC_OK;
}

int ec_lua_files_target(lua_State *L, const char *name, char *path, size_t size)
{
    ec_lua_host *host = ec_lua_host_of(L);
    if (host->settings.trust && !host->out_dir[0]) {
        snprintf(path, size, "%s", name);
        return EC_OK;
    }
    if (!host->out_dir[0])
        return ec_fail(EC_ERR_FILE, "'%s' cannot be written: run with --out DIR, where files go",
                       name);
    char joined[PATH_MAX * 2], folder[PATH_MAX * 2], real[PATH_MAX];
    if (name[0] == '/')
        snprintf(joined, sizeof joined, "%s", name);
    else
        snprintf(joined, sizeof joined, "%s/%s", host->out_dir, name);
    snprintf(folder, sizeof folder, "%s", joined);
    char *slash = strrchr(folder, '/');
    const char *last = joined + (slash - folder) + 1;
    *slash = 0;
    if (last[0] == 0 || strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
        return ec_fail(EC_ERR_FILE, "'%s' is not a name of a file", name);
    if (!realpath(folder[0] ? folder : "/", real))
        return ec_fail(EC_ERR_FILE, "'%s' cannot be written: there is no such folder below %s",
                       name, host->out_dir);
    if (!host->settings.trust && !is_below(real, host->out_dir))
        return ec_fail(EC_ERR_FILE, "'%s' lies outside %s: files are written only below --out DIR",
                       name, host->out_dir);
    int n = snprintf(path, size, "%s/%s", real, last);
    if (n < 0 || (size_t)n >= size)
        return ec_fail(EC_ERR_FILE, "the path of '%s' is too long", name);
    return EC_OK;
}

/* A regular file, or NULL with a sentence: what else there is may never end, or not even open. */
static FILE *open_regular(const char *path, struct stat *info)
{
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    bool regular = file >= 0 && fstat(file, info) == 0 && S_ISREG(info->st_mode);
    FILE *stream = regular ? fdopen(file, "rb") : NULL;
    if (stream)
        return stream;
    ec_fail(EC_ERR_FILE, "the file cannot be read: %s",
            file < 0 || regular      ? strerror(errno)
            : S_ISDIR(info->st_mode) ? "it is a folder, not a file"
                                     : "not a file that can be read twice (a pipe or a device)");
    if (file >= 0)
        close(file);
    return NULL;
}

/* What a script reads is part of what it is (ec_solve_info.identity). FNV-1a, a word at a time. */
void ec_lua_files_note(lua_State *L, const void *bytes, size_t size)
{
    ec_lua_host *host = ec_lua_host_of(L);
    uint64_t hash = (host->read_hash ^ size) * 0x100000001b3ull, word = 0;
    for (size_t i = 0; i < size; i += sizeof word) {
        size_t n = size - i < sizeof word ? size - i : sizeof word;
        word = 0;
        memcpy(&word, (const char *)bytes + i, n);
        hash = (hash ^ word) * 0x100000001b3ull;
        hash ^= hash >> 29;
    }
    host->read_hash = hash;
}

const char *ec_lua_files_slurp(lua_State *L, const char *path, size_t *size)
{
    struct stat info;
    FILE *file = open_regular(path, &info);
    if (!file)
        return NULL;
    fclose(file); /* no file is open while Lua may raise an error for memory */
    enum { LARGEST = 512 << 20 };
    if (info.st_size > LARGEST) {
        ec_fail(EC_ERR_FILE, "the file has %lld bytes, at most %d are read",
                (long long)info.st_size, LARGEST);
        return NULL;
    }
    size_t length = (size_t)info.st_size;
    char *text = lua_newuserdatauv(L, length + 1, 0);
    file = open_regular(path, &info);
    *size = file ? fread(text, 1, length, file) : 0;
    bool failed = !file || ferror(file);
    if (file)
        fclose(file);
    if (failed) {
        lua_pop(L, 1);
        ec_fail(EC_ERR_FILE, "the file cannot be read: %s", strerror(errno));
        return NULL;
    }
    text[*size] = 0;
    ec_lua_files_note(L, text, *size);
    const char *begin = ec_utf8_skip_mark(text);
    *size -= (size_t)(begin - text);
    return begin;
}

const char *ec_lua_files_text(lua_State *L, const char *path, const char *name)
{
    size_t size = 0;
    const char *content = ec_lua_files_slurp(L, path, &size);
    char *text = (char *)content; /* of a userdata that is ours */
    int line = 1;
    for (size_t i = 0; text && i < size; i++) {
        if (text[i] == 0) {
            lua_pop(L, 1);
            ec_fail(EC_ERR_FORMAT,
                    "%s, line %d: a zero byte, so this is no text: save it as text in UTF-8", name,
                    line);
            return NULL;
        }
        if (text[i] == '\r' && text[i + 1] != '\n')
            text[i] = '\n';
        line += text[i] == '\n';
    }
    return content;
}

/* ---- CSV ------------------------------------------------------------------------------------- */

/* Next field of a line: [*begin, *end), quotes and blanks around it removed. False at the line's
 * end. */
static bool next_field(const char **at, const char **begin, const char **end)
{
    const char *p = *at;
    while (*p == ' ' || *p == '\t')
        p++;
    if (*p == 0 || *p == '\n' || *p == '\r' || *p == '#')
        return false;
    if (*p == '"') {
        *begin = ++p;
        while (*p && *p != '"' && *p != '\n')
            p++;
        *end = p;
        p += *p == '"';
        while (*p == ' ' || *p == '\t')
            p++;
    } else {
        *begin = p;
        while (*p && !strchr(",;\n\r#", *p) && *p != ' ' && *p != '\t')
            p++;
        *end = p;
        while (*p == ' ' || *p == '\t')
            p++;
    }
    if (*p == ',' || *p == ';')
        p++;
    *at = p;
    return true;
}

static bool parse_number(const char *begin, const char *end, double *value)
{
    char text[64];
    size_t n = (size_t)(end - begin);
    if (n == 0 || n >= sizeof text)
        return false;
    memcpy(text, begin, n);
    text[n] = 0;
    char *stop;
    *value = strtod(text, &stop);
    return *stop == 0;
}

static const char *next_line(const char *p)
{
    while (*p && *p != '\n')
        p++;
    return *p ? p + 1 : p;
}

/* Fields of the line at p; numbers says whether all are. */
static int32_t count_fields(const char *p, bool *numbers)
{
    const char *begin, *end;
    int32_t n = 0;
    double value;
    *numbers = true;
    while (next_field(&p, &begin, &end)) {
        n++;
        *numbers = *numbers && parse_number(begin, end, &value);
    }
    return n;
}

static void push_names(lua_State *L, const char *p)
{
    const char *begin, *end;
    lua_newtable(L);
    for (int i = 1; next_field(&p, &begin, &end); i++) {
        lua_pushlstring(L, begin, (size_t)(end - begin));
        lua_rawseti(L, -2, i);
    }
}

int ec_lua_files_csv(lua_State *L, const char *path, ec_lua_csv *csv)
{
    char real[PATH_MAX];
    int status = ec_lua_files_resolve(L, path, real, sizeof real);
    if (status != EC_OK)
        return status;
    const char *text = ec_lua_files_text(L, real, path);
    if (!text)
        return EC_ERR_FILE;
    int32_t columns = 0, rows = 0;
    const char *header = NULL;
    int line = 1;
    for (const char *p = text; *p; p = next_line(p), line++) {
        bool numbers;
        int32_t n = count_fields(p, &numbers);
        if (n == 0)
            continue;
        if (columns == 0) {
            columns = n;
            header = numbers ? NULL : p;
            rows += numbers;
            continue;
        }
        if (!numbers)
            return ec_fail(EC_ERR_FORMAT, "%s, line %d: a field is not a number", path, line);
        if (n != columns)
            return ec_fail(EC_ERR_FORMAT, "%s, line %d: %d fields, the lines before it have %d",
                           path, line, (int)n, (int)columns);
        rows++;
    }
    if (rows == 0)
        return ec_fail(EC_ERR_FORMAT, "%s has no numbers", path);
    double *data = ec_lua_values_new(L, (int64_t)rows * columns);
    int32_t row = 0;
    for (const char *p = text; *p; p = next_line(p)) {
        bool numbers;
        if (p == header || count_fields(p, &numbers) == 0)
            continue;
        const char *at = p, *begin, *end;
        for (int32_t i = 0; next_field(&at, &begin, &end); i++)
            parse_number(begin, end, &data[(size_t)i * (size_t)rows + (size_t)row]);
        row++;
    }
    if (header)
        push_names(L, header);
    else
        lua_newtable(L);
    *csv = (ec_lua_csv){data, rows, columns};
    return EC_OK;
}

static int csv_missing(lua_State *L)
{
    const char *name = luaL_tolstring(L, 2, NULL);
    ec_lua_fail(L, "the file has no column '%s'", name);
}

/* ec.load_csv(file): columns by number, and by name when the first row has words. */
static int load_csv(lua_State *L)
{
    if (lua_type(L, 1) != LUA_TSTRING)
        ec_lua_fail(L, "ec.load_csv: wants the name of a file, got a %s", luaL_typename(L, 1));
    ec_lua_csv csv;
    if (ec_lua_files_csv(L, lua_tostring(L, 1), &csv) != EC_OK)
        ec_lua_fail_core(L, "ec.load_csv");
    int names = lua_gettop(L), data = names - 1;
    lua_createtable(L, csv.columns, csv.columns);
    for (int32_t i = 0; i < csv.columns; i++) {
        ec_lua_values_view(L, csv.data + (size_t)i * (size_t)csv.rows, csv.rows, 1, data);
        if (lua_rawgeti(L, names, i + 1) == LUA_TSTRING) {
            lua_pushvalue(L, -2);
            lua_rawset(L, -4);
        } else {
            lua_pop(L, 1);
        }
        lua_rawseti(L, -2, i + 1);
    }
    lua_newtable(L);
    lua_pushcfunction(L, csv_missing);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    return 1;
}

/* ---- saving ---------------------------------------------------------------------------------- */

static bool ends_with(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);
    return n >= m && strcmp(name + n - m, ending) == 0;
}

static void write_double(FILE *file, double value)
{
    fwrite(&value, sizeof value, 1, file); /* little-endian, as every machine Eciton runs on */
}

static void write_name(FILE *file, const char *name, const char *end)
{
    char *field = ec_output_csv_field(name);
    fprintf(file, "%s%s", field ? field : name, end);
    free(field);
}

static double element(const ec_lua_values *v, int64_t i)
{
    return i < v->length ? v->data[i * v->stride] : NAN;
}

int ec_lua_files_save_columns(lua_State *L, const char *name, int32_t columns,
                              const char *const *names, const ec_lua_values *column)
{
    char path[PATH_MAX];
    bool npy = ends_with(name, ".npy");
    if (!npy && !ends_with(name, ".csv"))
        return ec_fail(EC_ERR_FILE, "'%s': a name that ends in .csv or .npy is needed", name);
    int status = ec_lua_files_target(L, name, path, sizeof path);
    if (status != EC_OK)
        return status;
    ec_output_file out;
    status = ec_output_file_open(path, &out);
    if (status != EC_OK)
        return status;
    FILE *file = out.stream;
    int64_t rows = 0;
    for (int32_t i = 0; i < columns; i++)
        rows = column[i].length > rows ? column[i].length : rows;
    const int64_t shape[2] = {rows, columns};
    if (npy && !names && column[0].rank > 0)
        ec_npy_write_header(file, "<f8", column[0].rank, column[0].shape);
    else if (npy)
        ec_npy_write_header(file, "<f8", names ? 2 : 1, shape);
    else if (names)
        for (int32_t i = 0; i < columns; i++)
            write_name(file, names[i], i + 1 < columns ? "," : "\n");
    for (int64_t row = 0; row < rows; row++)
        for (int32_t i = 0; i < columns; i++) {
            double value = element(&column[i], row);
            if (npy)
                write_double(file, value);
            else if (row < column[i].length)
                fprintf(file, "%.17g%s", ec_printable(value), i + 1 < columns ? "," : "\n");
            else
                fputs(i + 1 < columns ? "," : "\n",
                      file); /* shorter columns leave their field empty */
        }
    return ec_output_file_close(&out);
}

int ec_lua_files_save_values(lua_State *L, const char *name, const ec_lua_values *values)
{
    return ec_lua_files_save_columns(L, name, 1, NULL, values);
}

void ec_lua_files_open(lua_State *L)
{
    lua_pushcfunction(L, load_csv);
    lua_setfield(L, -2, "load_csv");
}
