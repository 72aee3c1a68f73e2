SET hivevar:greeting=hello;
-- the end
