-- Statements of Hive that are accepted and have no effect.
GRANT SELECT ON TABLE t TO USER u WITH GRANT OPTION;
REVOKE ALL ON DATABASE default FROM ROLE r;
CREATE ROLE r;
SET ROLE r;
DROP ROLE r;
ALTER TABLE t SET OWNER ROLE r;
LOCK TABLE t PARTITION (a = 1) EXCLUSIVE;
UNLOCK TABLE t;
ADD FILES /a /b;
RELOAD FUNCTIONS;
EXPLAIN GRANT ALL TO USER u;
SET hivedruid.statements.without.effect=refuse;
GRANT SELECT ON t TO USER u;
-- not accepted
SHOW LOCKS;
LOCK t;
ADD t;
LIST t;
-- the jars of the session
EXPLAIN ADD JAR /x.jar;
ADD JARS hdfs://host/x.jar '/a b.jar'
  /c.jar;
LIST JARS;
DELETE JAR /c.jar /unknown.jar;
LIST JAR /c.jar '/a b.jar';
DELETE JARS;
LIST JARS;
ADD JAR;
