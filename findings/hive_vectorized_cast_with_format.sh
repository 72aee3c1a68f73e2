#!/usr/bin/env bash
# CAST(text AS DATE FORMAT 'YYYY-MM-DD') has two implementations in Hive 4.0.1. By rows (GenericUDFCastFormat) a text that
# does not match is NULL. Vectorized (CastStringToDateWithFormat) the same text throws, so that a single bad row of an ORC
# table fails the whole query, where the rows of a text file or a constant give NULL.
#
# Seen: '2024-02-29' is that date in both; '2024-02-30' and 'n/a' are NULL by rows, IllegalArgumentException vectorized.
set -euo pipefail
command -v mvn > /dev/null && command -v javac > /dev/null || { echo "requires Java 17 and Maven"; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for artifact in org.apache.hive:hive-exec:4.0.1 org.apache.hive:hive-storage-api:4.0.1 org.apache.hadoop:hadoop-client-api:3.3.6 \
  org.apache.hadoop:hadoop-client-runtime:3.3.6 org.slf4j:slf4j-api:1.7.36 org.slf4j:slf4j-nop:1.7.36 commons-logging:commons-logging:1.2; do
  mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -Dartifact=$artifact -DoutputDirectory="$folder/lib"
done
cat > Formats.java <<'JAVA'
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.common.type.Date;
import org.apache.hadoop.hive.ql.exec.vector.BytesColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.LongColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch;
import org.apache.hadoop.hive.ql.exec.vector.expressions.CastStringToDateWithFormat;
import org.apache.hadoop.hive.ql.parse.HiveParser_IdentifiersParser;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDF;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDFCastFormat;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.primitive.PrimitiveObjectInspectorFactory;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfo;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfoFactory;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;

public class Formats {
  static final String PATTERN = "YYYY-MM-DD";

  static String byRows(String text) throws Exception {
    GenericUDFCastFormat cast = new GenericUDFCastFormat();
    cast.initialize(new ObjectInspector[] {
      PrimitiveObjectInspectorFactory.getPrimitiveWritableConstantObjectInspector(TypeInfoFactory.intTypeInfo, new IntWritable(HiveParser_IdentifiersParser.TOK_DATE)),
      PrimitiveObjectInspectorFactory.writableStringObjectInspector,
      PrimitiveObjectInspectorFactory.getPrimitiveWritableConstantObjectInspector(TypeInfoFactory.stringTypeInfo, new Text(PATTERN)),
    });
    return String.valueOf(cast.evaluate(new GenericUDF.DeferredObject[] {
      new GenericUDF.DeferredJavaObject(new IntWritable(HiveParser_IdentifiersParser.TOK_DATE)), new GenericUDF.DeferredJavaObject(new Text(text)),
      new GenericUDF.DeferredJavaObject(new Text(PATTERN)),
    }));
  }

  static String vectorized(String text) throws Exception {
    CastStringToDateWithFormat cast = new CastStringToDateWithFormat(0, PATTERN.getBytes(StandardCharsets.UTF_8), 1);
    cast.setInputTypeInfos(new TypeInfo[] {TypeInfoFactory.stringTypeInfo, TypeInfoFactory.stringTypeInfo});
    cast.setOutputTypeInfo(TypeInfoFactory.dateTypeInfo);
    cast.transientInit(new Configuration(false));
    BytesColumnVector in = new BytesColumnVector();
    in.initBuffer();
    in.setVal(0, text.getBytes(StandardCharsets.UTF_8));
    LongColumnVector out = new LongColumnVector();
    VectorizedRowBatch batch = new VectorizedRowBatch(2);
    batch.cols[0] = in;
    batch.cols[1] = out;
    batch.size = 1;
    try {
      cast.evaluate(batch);
    } catch (RuntimeException error) {
      return error.getClass().getSimpleName();
    }
    return out.isNull[0] ? "null" : Date.ofEpochDay((int) out.vector[0]).toString();
  }

  public static void main(String[] arguments) throws Exception {
    for (String text : new String[] {"2024-02-29", "2024-02-30", "n/a"}) {
      System.out.println("'" + text + "' " + byRows(text) + " " + vectorized(text));
    }
  }
}
JAVA
javac -nowarn -cp "lib/*" Formats.java 2> log || { tail -3 log; exit 1; }
java -cp "lib/*:." Formats > seen 2> log || { tail -3 log; exit 1; }
cat seen
printf "'2024-02-29' 2024-02-29 2024-02-29\n'2024-02-30' null IllegalArgumentException\n'n/a' null IllegalArgumentException\n" | diff seen - || {
  echo "the behaviour has changed"
  exit 1
}
