-- expect: scene_xml_missing.lua:5: ec.scene: key 'file': '
-- expect: scene_xml_missing.xml', line 2: there is no file '
-- expect: nowhere.ply'
local ec = require "eciton"
ec.scene{ file = "scene_xml_missing.xml" }
