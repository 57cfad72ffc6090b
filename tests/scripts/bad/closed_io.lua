-- expect: closed_io.lua:2: 'io' is closed to scripts (--trust opens it for your own)
io.open("/etc/passwd")
