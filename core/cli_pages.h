/* cli_pages.h: the manual page and the completions of shells, written from the tables of cli_table.h. The
 * source tree has what these print as docs/eciton.1, completions/eciton.bash and completions/_eciton. */
#ifndef EC_CLI_PAGES_H
#define EC_CLI_PAGES_H

#include <stdio.h>

void ec_cli_man(FILE *to);  /* eciton(1), in the man macros of roff */
void ec_cli_bash(FILE *to); /* a file that bash sources */
void ec_cli_zsh(FILE *to);  /* a function of zsh's completion system */

#endif
