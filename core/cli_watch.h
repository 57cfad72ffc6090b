/* cli_watch.h: the report of a run that goes on, served to a browser of this machine by HTTP.
 *
 * The server listens on 127.0.0.1 only and knows two addresses: / is the page of `eciton report`, with
 * a script that asks every second for /data.json, which has an entity tag: nothing new is answered by
 * 304. It takes GET and HEAD, and no request whose Host is another name than this machine's own
 * (localhost, 127.0.0.1, [::1]; any port, for tunnels): a page of another site cannot come in by a name
 * that it lets point here. Nothing is written, and nothing but the report is served.
 * The page adds ?page= and a name of its own, by which the server knows who has had the end of the run.
 *
 * Data are made anew when somebody asks and the store has changed, once a second at most, and so seldom
 * that it takes 0.4 % of one processor: less than 1 % also of a run that has to share it.
 */
#ifndef EC_CLI_WATCH_H
#define EC_CLI_WATCH_H

#include <stdbool.h>

#include "log.h"
#include "status.h"

enum {
    EC_WATCH_PORT = 8642, /* the first that is tried, of EC_WATCH_PORTS */
    EC_WATCH_PORTS = 32,
    EC_WATCH_FREE_PORT = -1 /* the first free one of them */
};

typedef struct ec_cli_watch ec_cli_watch;

/* Serves the run in the folder, which has to be there, its store need not, from a thread of its own.
 * port: 0 one that the system chooses, or EC_WATCH_FREE_PORT. Says the address on stderr. Errors:
 * ERR_FILE, the port is taken; ERR_ARGUMENT, the program was built without this. The folder's name is
 * kept, not copied. */
int ec_cli_watch_begin(const char *folder, int port, ec_cli_watch **watch);
/* Stops. ended: with the run, so whoever was looking gets its end before, which takes 3 s at most. */
void ec_cli_watch_end(ec_cli_watch **watch, bool ended);

/* The number of --port; prints what is wrong and returns EC_EXIT_USAGE. */
int ec_cli_watch_port(const char *text, int *port);

#endif
