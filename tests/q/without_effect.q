-- Statements of Hive that are accepted and have no effect.
GRANT SELECT ON TABLE t TO USER u WITH GRANT OPTION;
REVOKE ALL ON DATABASE default FROM ROLE r;
CREATE ROLE r;
SET ROLE r;
DROP ROLE r;
LOCK TABLE t PARTITION (a = 1) EXCLUSIVE;
UNLOCK TABLE t;
ADD JAR hdfs://host/x.jar;
ADD FILES /a /b;
RELOAD FUNCTIONS;
EXPLAIN GRANT ALL TO USER u;
SET hivedruid.statements.without.effect=refuse;
GRANT SELECT ON t TO USER u;
ADD JAR /x.jar;
-- not accepted
SHOW LOCKS;
LOCK t;
ADD t;
