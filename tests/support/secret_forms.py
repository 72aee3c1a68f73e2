"""Texts with a secret (§) in every form, and texts without one that resemble them."""

from __future__ import annotations

from tests.support.pasted_secrets import WITH_SECRETS, WITHOUT_SECRETS

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
curl -sS -H "X-Vault-Token: §" https://v/v1/secret
curl -u "admin:§" -X POST http://h
curl -uadmin:§ http://h
curl -H'Authorization:Bearer §' h
curl --header "Authorization: token §" h
curl --data "grant_type=password&username=u&password=§" h
curl -d '{"auth":{"password":"§"}}' h
curl --cert c.pem:§ h
curl -E c.pem:§ h
curl --cookie "s=§" h
curl --pass § h
wget --http-password § h
wget --header="Cookie: a=§" h
http -a me:§ GET h
http --auth me:§ GET h
git clone https://oauth2:§@gitlab.com/x.git
pip install --index-url https://__token__:§@pypi/simple
ssh -o "Password=§" h
PGPASSWORD=§ psql -h h
psql "postgresql://u:§@h/d?sslmode=require"
psql "host=h password=§ user=u"
mysql --user=u --password='§' d
mysqldump -u root -p'§' d
mongosh "mongodb://u:§@h1,h2/d?authSource=admin"
mongo -u u -p § d
redis-cli -h h -a '§'
kafka-console-consumer --consumer-property sasl.jaas.config='x.PlainLoginModule required username="u" password="§";'
az storage blob list --account-key § --account-name a
az login --service-principal -u u -p § --tenant t
aws configure set aws_secret_access_key §
export AWS_SESSION_TOKEN="§"
docker login -u u -p § registry
docker login --username u --password § r
helm install --set db.password=§ x
kubectl create secret generic s --from-literal=password=§
vault login §
vault kv put secret/x password=§
snowsql -a a -u u -p §
impala-shell -u u --ldap_password_cmd="echo -n §"
beeline -u "jdbc:hive2://h:10000/default;user=u;password=§"
spark-submit --conf spark.hadoop.fs.s3a.secret.key=§ x.py
spark-submit --conf "spark.ssl.keyStorePassword=§" x.py
java -Djavax.net.ssl.trustStorePassword=§ -jar x
java -Dhttps.proxyPassword=§ x
keytool -list -keystore k -storepass:env X -keypass §
openssl pkcs12 -in x -passin pass:§ -passout pass:§
sasl.jaas.config = org.apache.kafka.common.security.scram.ScramLoginModule required username="u" password="§" ;
sasl.jaas.config=com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true keyTab="/x" principal="§";
sasl.jaas.config=x.OAuthBearerLoginModule required clientId="c" clientSecret="§";
KafkaClient { x.PlainLoginModule required username="u" password="§"; };
ssl.keystore.password=§
ssl.key.password: §
confluent.api.secret=§
"basic.auth.user.info": "u:§"
{"sasl.password": "§"}
{"conn": {"extra": {"secret_key": "§"}}}
{"user":"u","pwd":"§"}
{"credentials":{"u":"§"}}
{"auth":["u","§"]}
{"Authorization":"Basic §"}
{"headers":[{"name":"Authorization","value":"Bearer §"}]}
{"headers":[{"key":"X-Api-Key","value":"§"}]}
{"env":[{"name":"DB_PASSWORD","value":"§"}]}
[{"Key": "token", "Value": "§"}]
{"type":"service_account","private_key_id":"§","private_key":"-----BEGIN PRIVATE KEY-----\n§\n-----END PRIVATE KEY-----\n"}
{"access_token":"§","token_type":"bearer","expires_in":3600}
{"refreshToken" : "§"}
{"apiKey":"§"}
{"x-amz-security-token":"§"}
{"password":null,"token":"§"}
{"password":12,"token":"§"}
db:\n  user: u\n  password: §\n  port: 1
db: {user: u, password: §}
token: "§"
token : §
secret: '§' # c
api_key: §
auth:\n  basic:\n    password: §
credentials:\n  - username: u\n    password: §
stringData:\n  token: §
spark.sql.catalog.x.credential=u:§
spark.sql.catalog.x.token §
<property>\n<name>javax.jdo.option.ConnectionPassword</name>\n<value>§</value>\n</property>
<property><name>fs.s3a.secret.key</name><final>true</final><value>§</value></property>
<password><![CDATA[§]]></password>
<connection user="u" password="§"/>
<server><username>u</username><password>§</password></server>
<input type="hidden" name="token" value="§">
<param name='secret' value='§'/>
jdbc:hive2://h:10000/d;user=u;password=§;ssl=true
jdbc:redshift://h/d?UID=u&PWD=§
jdbc:db2://h:1/d:user=u;password=§;
jdbc:oracle:thin:@h:1521:x,user=u,password=§
jdbc:oracle:oci:scott/§@tns
jdbc:sybase:Tds:h:1/d?user=u&password=§
jdbc:mariadb://h/d?user=u&password=§&useSSL=true
jdbc:as400://h;user=u;password=§
jdbc:phoenix:h:/hbase:u@R:/k;password=§
jdbc:vertica://h/d?user=u&password=§
Data Source=h;Initial Catalog=d;User ID=u;Password=§;Encrypt=true
Provider=x;Data Source=y;Jet OLEDB:Database Password=§;
BlobEndpoint=https://a/;SharedAccessSignature=sv=1&ss=b&sig=§
https://a.blob.core.windows.net/c/b?sv=2020&st=x&se=y&sr=b&sp=r&sig=§%3D
https://b.s3.amazonaws.com/k?X-Amz-Algorithm=A&X-Amz-Credential=§&X-Amz-Signature=§
https://storage.googleapis.com/b/o?GoogleAccessId=x&Expires=1&Signature=§
https://h/webhook?code=§
https://h/x?access_token=§#f
https://h/x#access_token=§
https://h/x?apikey=§
https://h/x;jsessionid=§
https://hooks.slack.com/services/T00/B00/§
ftp://u:§@h/x
ldap://cn=admin,dc=x:§@h
amqp://u:§@h:5672/%2f
smtp://u%40x:§@h:587
s3://AK:§@b/x
s3a://AK:sec/§@b/x
snowflake://u:§@a/d
clickhouse+http://u:§@h
mssql+pyodbc://u:§@h/d?driver=x
rediss://default:§@h:6380
nats://§@h:4222
sentry https://§@o1.ingest.sentry.io/1
CREATE LOGIN u WITH PASSWORD = '§'
CREATE ROLE r LOGIN PASSWORD '§'
ALTER ROLE r PASSWORD '§' VALID UNTIL 'infinity'
CREATE USER 'u'@'h' IDENTIFIED BY '§'
GRANT ALL ON *.* TO 'u'@'h' IDENTIFIED BY '§'
CREATE USER u IDENTIFIED WITH plaintext_password BY '§'
CREATE STORAGE INTEGRATION i CREDENTIALS=(AWS_KEY_ID='§' AWS_SECRET_KEY='§')
COPY t FROM 's3://b' CREDENTIALS 'aws_access_key_id=§;aws_secret_access_key=§'
CREATE USER MAPPING FOR u SERVER s OPTIONS (user 'u', password '§')
CREATE SUBSCRIPTION s CONNECTION 'host=h password=§'
CREATE SERVER s OPTIONS (password '§')
CREATE FOREIGN TABLE t OPTIONS (dbname 'x', passwd '§')
CHANGE MASTER TO MASTER_USER='u', MASTER_PASSWORD='§'
SELECT dblink('host=h password=§', 'x')
CREATE DATABASE LINK l CONNECT TO u IDENTIFIED BY "§" USING 'x'
SELECT pgp_sym_decrypt(x, '§')
OPEN SYMMETRIC KEY k DECRYPTION BY PASSWORD = '§'
spark.conf.set("fs.azure.account.key.a.dfs.core.windows.net", "§")
df.write.option("user","u").option("password","§").save()
.options(user="u", password="§")
props.put("sasl.password", "§");
new Properties() {{ setProperty("password", "§"); }}
os.putenv('TOKEN', '§')
System.setProperty("javax.net.ssl.keyStorePassword", "§")
conn = connect(host='h', password='§')
const token = `§`;
let apiKey = "§"
$password = "§";
password := "§"
SET PASSWORD=§
setx TOKEN §
@password='§'
Password: §
Enter password: §
pw=§
pass: §
Set-Cookie: JSESSIONID=§; Path=/; HttpOnly
X-CSRF-Token: §
X-Auth-Key: §
x-goog-api-key: §
WWW-Authenticate: x\nAuthorization: Hawk id="a", mac="§"
Authorization: OAuth oauth_token="§"
Authorization: SSWS §
Authorization: GoogleLogin auth=§
Proxy-Authorization: NTLM §
sessionToken=§
csrf_token=§
otp=§
private_key=§
encryption.key=§
"encryption-key" = "§"
master-key: §
signing_secret=§
webhook.secret=§
ssh-rsa-private-key=§
'pass'/* c */'word' = '§'
'PASSWORD' = '§'
'Pass_Word' = '§'
'pass-word' = '§'
'pass.word' = '§'
'passwort' = '§'
'contraseña' = '§'
'mot_de_passe' = '§'
'db.pwd' = '§'
'dbPass' = '§'
'user.pass' = '§'
'usrpwd' = '§'
'my_auth_key' = '§'
'authkey' = '§'
'auth_key' = '§'
'accesskey' = '§'
'secretkey' = '§'
'SECRETKEY' = '§'
'hmac_key' = '§'
'aes.key' = '§'
"""

_HARMLESS = r"""
SELECT token, a.password FROM a JOIN b ON a.token = b.token WHERE token IS NULL GROUP BY token
Druid does not report druid.storage.baseKey: SET hivedruid.druid.deep.storage=s3://druid/<druid.storage.baseKey>
'druid.storage.archiveBaseKey' = 'old/segments'
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
spark.remote must not contain a token: its value is displayed and logged
the mechanism OAUTHBEARER: where tokens come from
none answers without a secret: the port requires a token
valueFrom: {secretKeyRef: {name: hivedruid, key: catalog}}
'druid.kafka.ingestion.notAKey' = '1'
aes_encrypt('data', k)
"""


def texts(secret: str = CANARY) -> list[str]:
    """Each form with a secret. A `\\n` in a form is a line end."""
    return [form.replace("\\n", "\n").replace("§", secret) for form in (_FORMS + WITH_SECRETS).split("\n") if form]


def harmless() -> list[str]:
    """A `\n` in WITHOUT_SECRETS is a line end."""
    return [text.replace("\\n", "\n") for text in (_HARMLESS + WITHOUT_SECRETS).split("\n") if text]
