/* eciton info: what this program is built from and what it can run on. */
#include <fftw3.h>
#include <lua.h>
#include <assimp/version.h>
#include <expat.h>
#if EC_HAVE_MICROHTTPD
#include <microhttpd.h>
#endif
#include <nlopt.h>
#include <cJSON.h>
#include <sqlite3.h>

#include <string.h>

#include "cli_options.h"

static void print_backend(const char *name)
{
    ec_backend *backend = NULL;
    ec_backend_info info = {.name = name};
    if (ec_backend_create(&info, &backend) != EC_OK) {
        printf("  %-8s not available: %s\n", name, ec_error_text());
        return;
    }
    size_t free_bytes = 0, total_bytes = 0;
    backend->ops->memory(backend, &free_bytes, &total_bytes);
    printf("  %-8s %s, %.1f GiB of %.1f GiB free", backend->name, backend->device,
           (double)free_bytes / (1 << 30), (double)total_bytes / (1 << 30));
    if (!backend->is_cuda)
        printf(", %d thread%s, ISA %s of %s", backend->threads, backend->threads == 1 ? "" : "s",
               ec_isa_name(backend->isa), ec_isa_name(ec_isa_detect()));
    printf("\n");
    ec_backend_destroy(&backend);
}

int ec_cli_info(void)
{
    int major = 0, minor = 0, bugfix = 0;
    nlopt_version(&major, &minor, &bugfix);
    printf("eciton %s\n\nbackends\n", EC_VERSION);
    print_backend("cpu");
    int cards = ec_backend_cuda_count();
    if (cards == 0)
        print_backend("cuda");
    for (int i = 0; i < cards; i++) {
        char name[24];
        snprintf(name, sizeof name, "cuda:%d", i);
        print_backend(name);
    }
    printf("\nlibraries\n  Lua      %s.%s\n  NLopt    %d.%d.%d\n  FFTW     %s\n  cJSON    %s\n  "
           "SQLite   %s\n  Assimp   %u.%u.%u\n  Expat    %s\n  MHD      %s\n  compiler %s\n",
           LUA_VERSION_MAJOR "." LUA_VERSION_MINOR, LUA_VERSION_RELEASE, major, minor, bugfix,
           fftw_version, cJSON_Version(), sqlite3_libversion(), aiGetVersionMajor(),
           aiGetVersionMinor(), aiGetVersionPatch(), XML_ExpatVersion() + strlen("expat_"),
#if EC_HAVE_MICROHTTPD
           MHD_get_version(),
#else
           "none: no live view",
#endif
           __VERSION__);
    return EC_EXIT_OK;
}
