-- expect: closed_os.lua:2: os.execute is closed to scripts
os.execute("true")
