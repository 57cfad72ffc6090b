-- expect: error_table.lua:2: the script raised an error that is a table
error({})
