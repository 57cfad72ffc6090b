/* utf8.h: whether text can go into JSON and onto a terminal as it is (RFC 3629). */
#ifndef EC_UTF8_H
#define EC_UTF8_H

#include <stdbool.h>

/* Bytes of the character that the text begins with; 0 when it begins with none. */
static inline int ec_utf8_length(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    int n = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;
    if (c[0] > 0xf4)
        return 0;
    for (int i = 1; i < n; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xf0 && c[1] < 0x90);
    bool surrogate = c[0] == 0xed && c[1] > 0x9f;
    return overlong || surrogate || (c[0] == 0xf4 && c[1] > 0x8f) ? 0 : n;
}

static inline bool ec_utf8_valid(const char *text)
{
    while (*text) {
        int n = ec_utf8_length(text);
        if (n == 0)
            return false;
        text += n;
    }
    return true;
}

/* The text behind the byte order mark that spreadsheets write in front of UTF-8. */
static inline const char *ec_utf8_skip_mark(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    return c[0] == 0xef && c[1] == 0xbb && c[2] == 0xbf ? text + 3 : text;
}

#endif
