"""Texts with a secret (§) in every form, and texts without one that resemble them."""

from __future__ import annotations

CANARY = "Hunter2canary"

_FORMS = r"""
https://me:p@§@host/x
https://§@host/x
'druid.url' = 'https://§@host'
'u' = 'https://me:a/b@§@h/x'
redis://:§@h:6379/0
mongodb+srv://u:§@h/db
http://h1:80,http://me:§@h2
sc://h:15002/;token=§;use_ssl=true
https://me:it'§@h/x
druid.query.tags=token:§
token: §
Authorization: Token §
Authorization: ApiKey §
Authorization: Negotiate §
authorization: bearer §
Authorization: Digest username="u", realm="r", nonce="n", response="§"
Authorization: AW§-HMAC-SHA256 Credential=AKIA/2024/us/s3/aws4_request, SignedHeaders=host, Signature=§
-H 'Authorization: Digest username="u", response="§"'
-H "authorization:§"
use bearer § here
Proxy-Authorization: Basic §
Cookie: a=b; sid=§; c=d
Set-Cookie: session=§; Path=/
curl -b 'sid=§' http://h
curl -u me:§ http://h
curl --user me:§ http://h
curl --proxy-user "me:§" http://h
curl --oauth2-bearer § http://h
{"password": ["§", "x"]}
{"password": ["x", "§"]}
{"token": {"a": "x", "b": "§"}}
{"token": {"a": ["x", {"b": "§"}]}}
{\"token\": [\"x\", \"§\"]}
{'token': ('x', '§')}
--password §
--password=§
-password §
-storepass §
mysql -u root -p§ db
mysql -u root -p §
beeline -u jdbc:hive2://h -n me -p §
sshpass -p § ssh h
redis-cli -a §
ldapsearch -x -w §
!connect jdbc:hive2://h:10000 me §
!connect jdbc:hive2://h:10000 me "§"
<password>§</password>
<ns:token a="b">§</ns:token>
<name>a.password</name><value>§</value>
<property><name>a.password</name>\n  <value>§</value></property>
<name>a.password</name><description>d</description><value>§</value>
<property name="a.password" value="§"/>
<add key="token" value="§"/>
{"name": "PASSWORD", "value": "§"}
{\"name\": \"PASSWORD\", \"value\": \"§\"}
jdbc:oracle:thin:u/§@host:1521/x
jdbc:oracle:thin:u/p@§@//host
sqlplus u/§@db
'pass' 'word' = '§'
"a.pass" "word" = "§"
concat('pass', 'word') = '§'
'pass\u0077ord' = '§'
'p\141ssword' = '§'
"pass\u0077ord": "§"
'a.password' != '§'
'a.password' <> '§'
'a.password' = = '§'
a.password += §
CREATE USER u PASSWORD '§'
CREATE USER u WITH ENCRYPTED PASSWORD '§'
CREATE USER u IDENTIFIED BY '§'
CREATE USER u IDENTIFIED BY §
CREATE USER u IDENTIFIED BY "§"
CREATE USER u IDENTIFIED WITH mysql_native_password BY '§'
CREATE USER u IDENTIFIED WITH sha256 AS '§'
ALTER USER u SET PASSWORD '§'
SET PASSWORD FOR u = '§'
SET PASSWORD = PASSWORD('§')
cookie=§
jwt=§
passkey=§
bearer=§
auth=§
"auth": "§"
_auth=§
//registry.npmjs.org/:_authToken=§
AWS_SECRET_ACCESS_KEY=§
aws_access_key_id = §
AWSAccessKeyId=§
?AWSAccessKeyId=§&x=y
?X-Amz-Signature=§
?X-Amz-Credential=§%2F2024
?X-Amz-Security-Token=§&x
?X-Goog-Signature=§
?sv=2022&sig=§&se=2
SharedAccessSignature=sv=2020&sig=§
DefaultEndpointsProtocol=https;AccountName=a;AccountKey=§==;EndpointSuffix=x
Endpoint=sb://h/;SharedAccessKeyName=Root;SharedAccessKey=§=
Server=h;Database=d;User Id=u;Password=§;
Driver={x};Server=h;UID=u;PWD={§;x};
jdbc:sqlserver://h:1433;user=u;password={§;}
jdbc:teradata://h/USER=u,PASSWORD=§
jdbc:mysql://u:§@h/db
jdbc:mysql://address=(host=h)(user=u)(password=§)/db
jdbc:snowflake://a.x/?user=u&password=§
jdbc:postgresql://h/d?user=u&password=§
host=h user=u password='§ x'
host=h dbname=d password=§
jdbc:clickhouse://h/?user=u&password=§
jdbc:databricks://h;AuthMech=3;UID=token;PWD=§
jdbc:trino://h?accessToken=§
amqps://u:§@h/v
-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AB-CD\n\n§\n-----END RSA PRIVATE KEY-----
-----BEGIN PGP PRIVATE KEY BLOCK-----\n§
-----BEGIN PRIVATE KEY-----\\n§\\n-----END
org.apache.kafka.common.security.plain.PlainLoginModule required username=u password=§;
Plain.LoginModule required username="u" \\n password="§";
sasl.jaas.config=x.ScramLoginModule required username="a;b" password="§";
password: |\n  §\n  x
password: >-\n  §
password:\n  §
password: !vault §
passwords:\n  - x\n  - §
passwords:\n- x\n- §
- name: PASSWORD\n  value: §
- name: PASSWORD\n  value: "§"
export PGPASSWORD=§
$env:PASSWORD = "§"
docker run -e MYSQL_ROOT_PASSWORD=§ x
machine h login u password §
.option("password", "§")
conf.set("spark.x.token", "§")
setProperty('a.password', '§')
os.environ["TOKEN"] = "§"
conf['password'] = '§'
:password => "§"
password%3D§
dict(password='§')
{password=§, user=u}
password:"§"
AES_DECRYPT(x, '§')
aes_encrypt(concat('(', x), '§')
X-Api-Key: §
X-Auth-Token:§
Ocp-Apim-Subscription-Key: §
{"headers": {"Authorization": "Bearer §"}}
{"headers": {"X-API-Key": ["§"]}}
{"Authorization": ["Token §"]}
fs.s3a.secret.key=§
spark.hadoop.fs.azure.account.key.x.blob.core.windows.net §
spark.hadoop.fs.s3a.secret.key    §
keytool -storepass § -keypass x
openssl -passin pass:§
vault.token=§
license_key=§
ghp_§4§4§4§4§4
eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.§
password='x' || '§'
ssl.keystore.key=§
ssl.keystore.certificate.chain=x ssl.key.password=§
basic.auth.user.info=u:§
schema.registry.basic.auth.user.info=u:§
connection.password=${file:§
password=(§)
password = ('§')
PASSWORD="§"
"clientSecret":"§"
client_secret=§&grant_type=x
refresh_token=§
id_token=§
sessionid=§
JSESSIONID=§
userpass=§
dbpwd=§
password is '§'
with password '§'
the password "§" was refused
"""

_HARMLESS = r"""
SELECT token, a.password FROM a JOIN b ON a.token = b.token WHERE token IS NULL GROUP BY token
token_count = 5
max_tokens = 5
SET druid.query.tags=author=x
'author=x'
'author' = 'x'
CREATE TABLE t (password string COMMENT 'a column', token struct<token:string,password:array<string>>)
unexpected token: 'FROM'
unknown property 'druid.password'
'druid.auth.password' = 'env:X'
abfss://container@account.dfs.core.windows.net/x
wasbs://c-1@a.blob.core.windows.net
postgresql://me@host/db
http://h:80/x@y
'http://h:80/x', 'a@b'
SELECT 'http://h','a@b'
hdfs://me@nn:8020/x
git@github.com:x/y
fs.s3a.aws.credentials.provider=org.apache.X
hive.security.authorization.manager=org.x
hive.security.authorization.enabled=true
sasl.mechanism=PLAIN
auth=noSasl
jdbc:hive2://h:10000/;auth=delegationToken
basic statistics are collected
a bearer token is required
the Bearer token is missing
Basic authentication failed
SELECT basic statistics
SELECT count(token) AS tokens FROM t
ORDER BY password DESC
compass = 'n', bypass = 'x'
{"name": "password", "type": "string"}
{"type": "path", "name": "password_hint_x"}
password = (SELECT max(password) FROM x)
tokenize('x', 'y') = 'z'
tokenizer = 'standard'
secretary = 'x'
IN ('password', 'token', 'id')
SELECT 'password', 'x'
map('a', 'b')
{"password": {"type": "environment", "variable": "X"}}
{"druid.dynamic.config.provider": {"type": "environment", "variables": {"sasl.jaas.config": "KAFKA_JAAS", "ssl.key.password": "KAFKA_KEY"}}}
docker -p 8080:80
-u root
passed = 5
pass_rate = 0.5
key = 'x'
primary_key = 'x'
partition_key = 'a'
sort.key=a
the password is wrong
druid.auth.token refers to the environment variable X, which is not set
2024-01-01T00:00:00.000Z/2025-01-01T00:00:00.000Z
SharedAccessKeyName=Root
signature of function f
CASE WHEN token > 5 THEN 1 END
WHERE token BETWEEN 'a' AND 'b'
SELECT x.signature FROM x
credential_id bigint
a -> b
cookie_count = 3
hivedruid sql -e 'SELECT password FROM t'
identified by the number
keypass_min = 3
{"fieldName": "token", "value": 5}
-- author: me
author: me
https://docs.example.com/x?page=2&code=
"TOKEN@host"
user@host
INSERT INTO t (token, password) VALUES ('a', 'b')
"""


def texts(secret: str = CANARY) -> list[str]:
    """Each form with a secret. A `\\n` in a form is a line end."""
    return [form.replace("\\n", "\n").replace("§", secret) for form in _FORMS.strip().split("\n")]


def harmless() -> list[str]:
    return _HARMLESS.strip().split("\n")
