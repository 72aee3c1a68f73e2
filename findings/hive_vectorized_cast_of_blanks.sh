#!/usr/bin/env bash
# Hive 4.0.1 has two casts of STRING to integers: UDFToInteger, of its row mode, ignores blanks around the number;
# CastStringToLong, of its vectorized mode, returns NULL for the same text. Which of the two a query runs depends on
# hive.vectorized.execution.enabled, on the format of the table, and on whether the argument is a constant.
#
# Seen: '12' and '1.9': 12 and 1 by both; ' 12', '12 ', '\t12' and ' 1.9 ': 12, 12, 12 and 1 by rows, NULL vectorized.
set -euo pipefail
command -v mvn > /dev/null && command -v javac > /dev/null || { echo "requires Java 17 and Maven"; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for artifact in org.apache.hive:hive-exec:4.0.1 org.apache.hive:hive-storage-api:4.0.1 org.apache.hadoop:hadoop-client-api:3.3.6 \
  org.apache.hadoop:hadoop-client-runtime:3.3.6 org.slf4j:slf4j-api:1.7.36 org.slf4j:slf4j-nop:1.7.36; do
  mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -Dartifact=$artifact -DoutputDirectory="$folder/lib"
done
cat > Casts.java <<'JAVA'
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.ql.exec.vector.BytesColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.LongColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch;
import org.apache.hadoop.hive.ql.exec.vector.expressions.CastStringToLong;
import org.apache.hadoop.hive.ql.udf.UDFToInteger;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfo;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfoFactory;
import org.apache.hadoop.io.Text;

public class Casts {
  static String vectorized(String text) throws Exception {
    CastStringToLong cast = new CastStringToLong(0, 1);
    cast.setInputTypeInfos(new TypeInfo[] {TypeInfoFactory.stringTypeInfo});
    cast.setOutputTypeInfo(TypeInfoFactory.intTypeInfo);
    cast.transientInit(new Configuration(false));
    BytesColumnVector in = new BytesColumnVector();
    in.initBuffer();
    in.setVal(0, text.getBytes(StandardCharsets.UTF_8));
    LongColumnVector out = new LongColumnVector();
    VectorizedRowBatch batch = new VectorizedRowBatch(2);
    batch.cols[0] = in;
    batch.cols[1] = out;
    batch.size = 1;
    cast.evaluate(batch);
    return out.isNull[0] ? "null" : Long.toString(out.vector[0]);
  }

  public static void main(String[] arguments) throws Exception {
    for (String text : new String[] {"12", " 12", "12 ", "\t12", "1.9", " 1.9 "}) {
      System.out.println("'" + text + "' " + new UDFToInteger().evaluate(new Text(text)) + " " + vectorized(text));
    }
  }
}
JAVA
javac -nowarn -cp "lib/*" Casts.java 2> log || { tail -3 log; exit 1; }
java -cp "lib/*:." Casts > seen 2> log || { tail -3 log; exit 1; }
cat seen
printf "'12' 12 12\n' 12' 12 null\n'12 ' 12 null\n'\t12' 12 null\n'1.9' 1 1\n' 1.9 ' 1 null\n" | diff seen - || {
  echo "the behaviour has changed"
  exit 1
}
