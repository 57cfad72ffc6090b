-- expect: closed_debug.lua:2: 'debug' is closed to scripts
debug.sethook()
