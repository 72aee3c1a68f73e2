"""What people paste: commands, files and addresses of other tools with a secret (§), and such texts without one."""

from __future__ import annotations

WITH_SECRETS = r'''
AUTH §
AUTH u §
redis-cli -h h AUTH §
CONFIG SET requirepass §
requirepass §
masterauth §
HELLO 3 AUTH u §
ACL SETUSER u on >§ ~* +@all
user u on >§ ~* +@all
--key=§
kubectl create secret generic s --from-literal=key=§
kubectl create secret generic s --from-literal user=§ --from-literal 'conn=§'
beeline -u jdbc:hive2://h -n u -p§
SELECT * FROM s3('https://b/x', 'AK', '§')
SELECT * FROM s3('https://b/x', '§', '§', 'CSV', 'a int')
INSERT INTO FUNCTION gcs('https://b/x', '§', '§') VALUES (1)
SELECT * FROM mysql('h:3306', 'd', 't', 'u', '§')
ENGINE = PostgreSQL('h:5432', 'd', 't', 'u', '§')
SELECT * FROM remote('h', d.t, 'u', '§')
SELECT * FROM azureBlobStorage('https://a/', 'c', 'x.csv', 'a', '§')
%password% = §
**Password**: §
*token* = §
{{ password }}: §
a.pässword = §
ｐａｓｓｗｏｒｄ = §
пароль: §
密码：§
senha=§
hasło = §
wachtwoord: §
client-key: §
clientKey=§
consumer_key=§
"consumerKey": "§"
pem: §
ssl_client_pem=§
keytab.base64=§
keystore_b64: §
krb5.keytab.content = §
SET x = 1; SET my.token TO '§'
SET LOCAL my.token TO '§'
ALTER SYSTEM SET my.token TO '§'
ALTER ROLE u SET my.token TO '§'
SELECT set_config('my.token', '§', false)
curl -X POST -d 'client_secret=§&scope=x' https://h/token
curl --data-urlencode 'password=§' h
curl -F 'token=§' h
curl --json '{"password":"§"}' h
curl 'https://maps.googleapis.com/json?address=x&key=§'
curl -H "PRIVATE-TOKEN: §" h
curl -H 'X-Figma-Token: §' h
curl -H "Authorization: AccessKey §" h
curl -H "DD-API-KEY: §" -H "DD-APPLICATION-KEY: §" h
curl -H "Authorization: Splunk §" h
curl -H "Authentication: Bearer §" h
curl -H "x-ms-copy-source-authorization: Bearer §" h
curl --proxy http://u:§@p:3128 h
curl -x u:§@p:3128 h
curl -U u:§ h
curl --aws-sigv4 aws:amz:us-east-1:s3 --user "AK:§" h
curl --tlspassword § h
curl --digest -u 'u:§' h
kubectl create secret docker-registry r --docker-username=u --docker-password=§
kubectl config set-credentials u --token=§
kubectl --token § get pods
kubectl set env deploy/x DB_PASSWORD=§
kubectl patch secret s -p '{"stringData":{"a":"§"}}'
kubectl patch secret s -p '{"data":{"a":"§"}}'
apiVersion: v1\nkind: Secret\ndata:\n  a: §\n  b: §
apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\nstringData:\n  conn: §
apiVersion: v1\ndata:\n  a: §\nkind: Secret
{"kind": "Secret", "data": {"a": "§"}}
users:\n- name: u\n  user:\n    client-certificate-data: x\n    client-key-data: §
oc login -u u -p § h
helm install x --set-string auth.password=§
helm upgrade x --set db.auth.rootPassword=§,db.x=y
aws configure set default.aws_secret_access_key §
aws secretsmanager create-secret --name x --secret-string §
aws secretsmanager put-secret-value --secret-id x --secret-string '{"u":"a","p":"§"}'
aws ssm put-parameter --name x --type SecureString --value §
aws rds create-db-instance --master-username u --master-user-password §
aws sts assume-role-with-web-identity --web-identity-token § --role-arn x
[default]\naws_access_key_id = x\naws_secret_access_key = §
{"Credentials": {"SecretAccessKey": "§", "SessionToken": "§"}}
set AWS_SECRET_ACCESS_KEY=§
gcloud sql users set-password u --instance=x --password=§
echo § | docker login -u u --password-stdin h
echo -n "§" | gcloud secrets create x --data-file=-
printf '%s' '§' | docker secret create x -
echo '§' | sudo -S ls
echo § | kinit u
gh auth login --with-token <<< "§"
az sql server create -n x -u u -p §
az vm create --admin-password §
az keyvault secret set --vault-name v --name n --value §
az storage blob upload --sas-token "sv=1&sig=§"
az acr login -n x -u u -p §
psql postgres://u:§@h:5432/d
psql -c "ALTER USER u WITH PASSWORD '§'"
h.x.net:5432:d:u:§
*:*:*:postgres:§
mysql -h h -uroot -p§ d
MYSQL_PWD=§ mysql -u u
mysqladmin -u root password §
mysqladmin -u root -pX1 password '§'
[client]\nuser=u\npassword="§"
sqlplus u/§@//h:1521/x
sqlplus -S u/§
sqlplus "u/§@(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=h)))"
sqlplus sys/§ as sysdba
sqlldr userid=u/§ control=x
sqlldr u/§@db control=x
expdp u/§@db schemas=x
impdp system/§ dumpfile=x
CONNECT u/§@db
conn sys/§@db as sysdba
rman target sys/§@db
.logon h/u,§;
sqlcmd -S h -U u -P'§'
isql -v dsn u §
db2 connect to d user u using §
CONNECT TO d USER u USING '§'
cqlsh -u u -p § h
influx -username u -password §
presto --access-token §
hdbsql -u u -p §
vsql -U u -w §
nzsql -u u -pw §
exaplus -u u -p § -c h
mongodump -u u -p '§' -d x
etcdctl --user u:§ get x
consul kv get -token=§ x
vault write auth/userpass/users/u password=§
vault kv put secret/x value=§ other=§
docker login -u u -p'§' h
docker run --env SECRET_KEY=§ x
docker build --build-arg NPM_TOKEN=§ .
{"auths":{"h":{"auth":"§"}}}
ENV DB_PASSWORD §
ARG API_TOKEN=§
environment:\n  - DB_PASSWORD=§
environment:\n  POSTGRES_PASSWORD: "§"
command: --requirepass §
git config --global http.extraheader "AUTHORIZATION: bearer §"
npm config set //registry.npmjs.org/:_authToken §
npm config set _auth §
twine upload -u __token__ -p § dist
poetry config pypi-token.pypi §
mvn -Dgpg.passphrase=§ deploy
gradle -Psigning.password=§
ssh-keygen -t rsa -N '§' -f x
sshpass -p'§' ssh h
gpg --batch --passphrase § x
zip -P § a.zip b
7z a -p§ a.7z b
openssl enc -aes-256-cbc -k § -in x
openssl enc -aes-256-cbc -pass pass:§ -in x
openssl rsa -in x -passin 'pass:§'
smbclient //h/s -U u%§
mount -t cifs //h/s /m -o username=u,password=§
net use z: \\\\h\\s /user:u §
rclone config create x s3 secret_access_key §
s3cmd --secret_key=§ --access_key=§ ls
mc alias set m https://h AK §
spark-submit --conf spark.executorEnv.DB_PASSWORD=§ x.py
spark.authenticate.secret §
spark.ssl.keyPassword §
spark.hadoop.fs.azure.account.oauth2.client.secret.a.dfs.core.windows.net §
spark.hadoop.fs.azure.sas.c.a.blob.core.windows.net=§
spark.hadoop.javax.jdo.option.ConnectionPassword=§
--conf spark.mongodb.input.uri=mongodb://u:§@h
jdbc:oracle:thin:u/"§"@h:1521:x
jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS=(HOST=h)))?user=u&password=§
jdbc:jtds:sqlserver://h/d;user=u;password=§
jdbc:hive2://h/d;ssl=true;sslTrustStore=/x;trustStorePassword=§
jdbc:impala://h;AuthMech=3;UID=u;PWD=§
jdbc:bigquery://h;OAuthType=0;OAuthPvtKey=§
jdbc:bigquery://h;OAuthAccessToken=§;OAuthRefreshToken=§
jdbc:snowflake://a/?user=u&private_key_pwd=§&passcode=§
jdbc:snowflake://a/?privateKeyBase64=§
jdbc:databricks://h;AuthMech=11;Auth_AccessToken=§
jdbc:h2:tcp://h/x;USER=sa;PASSWORD=§
jdbc:derby://h/d;user=u;password=§;bootPassword=§
jdbc:awsathena://h;UID=AK;PWD=§;S3OutputLocation=x
jdbc:redshift:iam://h/d?AccessKeyID=§&SecretAccessKey=§
jdbc:trino://h?user=u&SSLKeyStorePassword=§
jdbc:avatica:remote:url=http://h/x/;avatica_user=u;avatica_password=§
DSN=x;UID=u;PWD=§
machine h\nlogin u\npassword §
machine h login u account a password §
db.password §
db.password=x\\n  §
password: &p §
password: !!str §
? password\n: §
- {name: a, password: §}
tokens: [x, §]
secrets:\n  db: §
secrets:\n  db:\n    value: §
credentials: {user: u, key: §}
env:\n- name: API_TOKEN\n  value: '§'
password = """\n§"""
[auth]\ntoken = "§"
db = { user = "u", password = "§" }
[secrets]\ndb = "§"\n\nother = '§'
[db.credentials]\nkey = "§"
SECRET_KEY_BASE=§
APP_KEY=base64:§
GITHUB_PAT=§
WIFI_PSK=§
DB_CREDS=§
AIRFLOW__CORE__FERNET_KEY=§
TOTP_SEED=§
AIRFLOW_CONN_X='postgres://u:§@h'
seed_phrase = "§ x y"
{"db":{"pass":"§"}}
{'password': u'§'}
{"aws":{"secretAccessKey":"§"}}
{"connectionString":"Server=h;Password=§"}
{"kty":"RSA","n":"x","e":"AQAB","d":"§"}
{"kty":"oct","k":"§"}
{"key":"password","val":"§"}
<property><name>a.token</name><value><![CDATA[§]]></value></property>
<property name="password"><value>§</value></property>
<entry key="db.password">§</entry>
<wsse:Password Type="x">§</wsse:Password>
<Password>\n  §\n</Password>
<string name="api_key">§</string>
<key>token</key><string>§</string>
variable "db_password" {\n  default = "§"\n}
variable "db_password" {\n  type = string\n  default = "§"\n}
terraform apply -var 'db_password=§'
secret_string = jsonencode({ a = "§" })
secret_string = <<EOF\n§\nEOF
password = <<-EOT\n  x\n  §\nEOT
KafkaServer {\n  x.PlainLoginModule required\n  username="u"\n  password="§"\n  user_admin="§";\n};
kafka-configs --alter --add-config 'SCRAM-SHA-256=[iterations=8192,password=§]' --entity-name u
kcat -X sasl.password=§ -X sasl.username=u
HostName=h;DeviceId=d;SharedAccessKey=§
fs.azure.sas.fixed.token.a.dfs.core.windows.net=§
SharedAccessSignature sr=x&sig=§&se=1&skn=y
Authorization: SharedKey a:§
Authorization: AWS AK:§
https://h/k?Expires=1&Signature=§&Key-Pair-Id=x
https://b.oss-cn.aliyuncs.com/k?OSSAccessKeyId=§&Signature=§
https://h/k?q-sign-algorithm=sha1&q-signature=§
https://h/k?hmac=§&shop=x
https://h/k?auth=§
https://discord.com/api/webhooks/1/§
https://api.telegram.org/bot123456:§/sendMessage
https://x.webhook.office.com/webhookb2/§
db { user = u, password = § }
akka.http { secret : "§" }
authorization = "Basic §"
?authorization=Bearer%20§
('authorization', 'Bearer §')
-H Authorization:Bearer\ §
Cf-Access-Jwt-Assertion: §
CREATE DATABASE SCOPED CREDENTIAL c WITH IDENTITY='SHARED ACCESS SIGNATURE', SECRET='§'
COPY t FROM 's3://b' ACCESS_KEY_ID '§' SECRET_ACCESS_KEY '§'
COPY INTO x ENCRYPTION=(TYPE='AWS_CSE' MASTER_KEY='§')
SOURCE(MYSQL(USER 'u' PASSWORD '§'))
EXEC sp_addlinkedsrvlogin @rmtuser='u', @rmtpassword='§'
ATTACH 'host=h password=§' AS pg (TYPE postgres)
PRAGMA key = '§'
ALTER USER u IDENTIFIED BY § REPLACE §
UPDATE users SET password = '§' WHERE id=1
curl -H "X-Api-Secret: §" h
curl -H "Ocp-Apim-Trace: x" -H "Authorization: Key §" h
curl -k -X POST h -d "username=u&passwd=§"
curl h --user 'u:§' --insecure
http POST h token:§
wget --password=§ h
wget "https://u:§@h/x"
lftp -u u,§ h
ncftpget -u u -p § h / x
kubectl create secret tls t --cert=x --key=/x.pem --token=§
kubectl exec p -- env API_KEY=§ x
kubectl run p --image=x --env="DB_PASSWORD=§"
kustomize edit add secret s --from-literal=a=§
sealed: kubectl create secret generic s --from-literal a=§ --dry-run
podman login -u u -p § h
terraform login: credentials "app.terraform.io" { token = "§" }
provider "aws" {\n  access_key = "§"\n  secret_key = "§"\n}
ansible_password=§
ansible_become_pass: §
ansible-vault encrypt_string '§' --name x
vars:\n  vault_db_password: §
spring.datasource.password=§
spring:\n  datasource:\n    password: §
spring.datasource.url=jdbc:mysql://h/d?user=u&password=§
DJANGO_SECRET_KEY='§'
SECRET_KEY = '§'
SQLALCHEMY_DATABASE_URI = 'postgresql+psycopg2://u:§@h/d'
create_engine("postgresql://u:§@h/d")
psycopg2.connect(host="h", user="u", password="§")
boto3.client('s3', aws_access_key_id='§', aws_secret_access_key='§')
requests.get(u, auth=('u', '§'))
requests.get(u, headers={'Authorization': 'Bearer §'})
DriverManager.getConnection("jdbc:x", "u", "§")
new SqlConnection("Server=h;User=u;Pwd=§")
conn = pyhive.hive.connect(host='h', auth='LDAP', username='u', password='§')
spark.read.format("jdbc").option("url","u").option("user","u").option("password", "§")
spark._jsc.hadoopConfiguration().set("fs.s3a.secret.key", "§")
sc._conf.set('spark.hadoop.fs.s3a.session.token', '§')
.config("spark.hadoop.fs.s3a.access.key", "§")
dbutils.fs.mount(source="x", extra_configs={"fs.azure.account.key.a.blob.core.windows.net":"§"})
fs.azure.account.oauth2.client.secret=§
hadoop distcp -Dfs.s3a.secret.key=§ x y
hadoop credential create a -value § -provider jceks://x
sqoop import --connect jdbc:x --username u --password § --table t
hive --hiveconf javax.jdo.option.ConnectionPassword=§
beeline --hivevar pw=§
SET hivevar:pwd=§
airflow connections add x --conn-password §
airflow connections add x --conn-uri 'postgres://u:§@h'
nifi.sensitive.props.key=§
nifi.security.keystorePasswd=§
ranger.plugin.password: §
xpack.security.authc.token: §
xpack.encryptedSavedObjects.encryptionKey: "§"
logstash: password => "§"
output.elasticsearch: {api_key: "id:§"}
grafana: GF_SECURITY_ADMIN_PASSWORD=§
mosquitto_pub -h h -u u -P § -t t
rabbitmqctl add_user u §
rabbitmqctl change_password u §
kafka.sasl.jaas.config=x.PlainLoginModule required username='u' password='§';
confluent api-key store K §
ccloud login --password §
bootstrap.servers=h:1\nsasl.password=§
"sasl.username":"u","sasl.password":"§"
cassandra: PlainTextAuthProvider(username='u', password='§')
CREATE ROLE r WITH PASSWORD = '§' AND LOGIN = true
ALTER USER SYS IDENTIFIED BY "§" ACCOUNT UNLOCK
CREATE CREDENTIAL c TYPE = x SECRET = '§'
CREATE CONNECTION c TO KAFKA (SASL PASSWORD = SECRET x, PASSWORD '§')
CREATE SECRET x AS '§'
CREATE OR REPLACE STAGE s URL='s3://b' CREDENTIALS=(AWS_KEY_ID='§' AWS_SECRET_KEY='§' AWS_TOKEN='§')
CREATE STAGE s URL='azure://a' CREDENTIALS=(AZURE_SAS_TOKEN='?sv=1&sig=§')
COPY sales FROM 's3://b' ACCESS_KEY_ID '§' SECRET_ACCESS_KEY '§' SESSION_TOKEN '§'
CREATE TABLE t (a int) WITH ('connector'='jdbc', 'username'='u', 'password'='§')
CREATE CATALOG c WITH (connection-password = '§')
connection-password=§
iceberg.rest-catalog.oauth2.credential=u:§
spark.sql.catalog.c.s3.secret-access-key=§
smtp_password: '§'
MAIL_PASSWORD=§
<add key="ApiSecret" value="§"/>
<credentials><username>u</username><secret>§</secret></credentials>
<repository><id>x</id><password>{§}</password></repository>
<authentication type="basic" user="u" pwd="§"/>
password=ENC(§)
password: !encrypted §
TOKEN="$(echo §)"
apikey:§
API-KEY = §
-----BEGIN OPENSSH PRIVATE KEY-----\n§\n-----END OPENSSH PRIVATE KEY-----
-----BEGIN EC PRIVATE KEY-----\r\n§\r\n
ssh://u:§@h:22
sshpass -e ssh; SSHPASS=§
echo "u:§" | chpasswd
useradd -p '§' u
htpasswd -b f u §
openssl passwd §
https://user:§@proxy:8080
http_proxy=http://u:§@p:1
git remote set-url o https://x-access-token:§@github.com/a/b
machine api.github.com login u password §
npm login: _password="§"
.npmrc: //h/:_password=§
nuget sources add -username u -password § -name x
choco apikey --key § --source x
heroku config:set SECRET_TOKEN=§
fly secrets set A=§ B=§
gh secret set X --body "§"
gh secret set X -b "§"
wrangler: echo § | wrangler secret put X
doppler secrets set X=§
op item create --category=login password=§
az ad sp create-for-rbac: {"appId": "x", "password": "§", "tenant": "t"}
az functionapp keys set --key-value §
gcloud iam: private_key_data: §
snowsql -a a -u u -o password=§
bq --oauth_access_token=§
databricks secrets put --scope s --key k --string-value §
databricks configure --token <<< §
dapi token = §
'''

WITHOUT_SECRETS = r"""
sasl.jaas.config env:KAFKA_JAAS\n  consumer.security.protocol SASL_SSL
beeline -u jdbc:hive2://h -n u -w /home/u/password.txt
sort --key=2,3 x
sort --key 2 x
aws s3api get-object --bucket b --key data/2024/x.parquet y
aws dynamodb get-item --table-name t --key '{"id": {"N": "1"}}'
curl --cacert ca.pem --cert c.pem --key c.key h
etcdctl --key=/etc/x/client.key get a
docker run -u 1000 -p 8080:80 x
docker run --user u -p 9092 x
psql -U u -h h -p 5432 d
psql -U u -w -d d
ssh -p 22 u@h
mkdir -p a/b
kubectl create configmap c --from-literal=a=b
primary.key = 'a'
'key.deserializer' = 'org.x.StringDeserializer'
'consumer.key.deserializer' = 'org.x.StringDeserializer'
'partition.keys' = 'a,b'
'kafka.key.format' = 'json'
'sort.key' = 'a'
foreign_key = 'a'
spark.sql.timeTravelVersionKey = versionAsOf
WHERE client_key = 5 AND c.consumer_key IN (1, 2)
a JOIN b ON a.client_key = b.client_key
SELECT server_key, client_key FROM t ORDER BY consumer_key
SELECT count(token) * 2 = 4 FROM t
WHERE a LIKE '%password%' AND b = 'x'
WHERE a LIKE '%token%' OR b LIKE '%secret'
SELECT token* 2 FROM t
SELECT token, 'x', count(*) FROM t
AUTH failed
AUTH required
SELECT AUTH FROM t
ERR AUTH called without any password configured
the user u is using a table
connect to host a/b
cannot read client.pem: no such file or directory
tls.key=/etc/x/tls.key
ssl.keystore.location=/x/y.jks
druid.client.https.keyStorePath=/x
spark.authenticate.secret.file=/run/secrets/x
MYSQL_PASSWORD_FILE=/run/secrets/x
--password-file /home/u/password.txt
hive.server2.authentication.jwt.jwks.skip.ssl.cert=true
hive.cluster.delegation.token.renew-interval=1d
hadoop.security.credential.provider.path=jceks://hdfs/x.jceks
dfs.block.access.token.lifetime=600
hive.server2.thrift.http.cookie.path=/x
fs.azure.secure.mode=false
first_pass_config = x
pattern = '%Y', file_pat = '*.csv'
author: 'x'
SELECT * FROM s3('https://b/x', 'CSV', 'a int, b string')
SELECT * FROM mysql('h:3306', 'd', 't')
SELECT s3('a', 'b')
https://h/x?key=a&page=2
https://h/x?key=2024-01-01
kind: ConfigMap\ndata:\n  a: b
kind: Secret\ntype: Opaque
{"kind": "Table", "data": {"a": "b"}}
[settings]\na = "b"
data:\n  a: b
PRAGMA table_info(t)
variable "region" {\n  default = "x"\n}
git config user.name me
the config token is missing
<property name="region"><value>x</value></property>
<entry key="a.b">c</entry>
h:9092,h2:9092
2001:1234:5678:9abc:def0:1234:5678:9abc
12:30:45.123:a:b
{"kty_count": 5, "k": "x"}
SET TIME ZONE TO 'UTC'
SET search_path TO 'a'
UPDATE t SET a = 'b'
echo x | grep y
echo x | sort -k 2
mysqldump d > x.sql
COMMENT ON COLUMN t.token IS 'a column'
'druid.storage.baseKey' = 'segments'
The password must have 8 characters
**Note**: x
{{ name }}: x
PRIMARY KEY (a) DISABLE NOVALIDATE
CREATE TABLE t (client_key bigint, consumer_key string, pem string)
"name": "client_key", "type": "string"
{"dimensions": ["client_key", {"type": "string", "name": "consumer_key"}]}
CONCAT('a', 'b') = 'c'
CREATE CONNECTION c USER u
SELECT * FROM a JOIN user u USING (id)
MERGE INTO user u USING source s ON u.id = s.id
SELECT * FROM user WHERE user > 5 AND a = 'x'
SELECT a || b FROM t
SELECT map('a', 'b'), connect('a', b)
a - b, c -d, e--f
"""
