#!/usr/bin/env bash
# Druid 33.0.0: a CSV or TSV input format is written with another name for tryParseNumbers than it is read with. So a
# supervisor's spec that is read from the overlord and posted again, as scripts and consoles do, loses it without an
# error: numbers in the columns of discovered types become strings from then on.
#
# Seen, as Druid's own mapper reads and writes it: posted "tryParseNumbers":true, returned "shouldTryParseNumbers":true;
# that posted again, returned without either.
set -euo pipefail
command -v java mvn > /dev/null || { echo "requires Java 17 and Maven"; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > pom.xml <<'XML'
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId><artifactId>druid-csv</artifactId><version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.druid</groupId><artifactId>druid-processing</artifactId><version>33.0.0</version>
      <exclusions><exclusion><groupId>org.hyperic</groupId><artifactId>sigar</artifactId></exclusion></exclusions>
    </dependency>
  </dependencies>
</project>
XML
cat > Formats.java <<'JAVA'
import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.druid.data.input.InputFormat;
import org.apache.druid.jackson.DefaultObjectMapper;

public class Formats {
  public static void main(String[] args) throws Exception {
    ObjectMapper mapper = new DefaultObjectMapper();
    for (String type : new String[] {"csv", "tsv"}) {
      String text = "{\"type\":\"" + type + "\",\"columns\":[\"a\"],\"tryParseNumbers\":true}";
      for (int round = 0; round < 2; round++) {
        text = mapper.writeValueAsString(mapper.readValue(text, InputFormat.class));
        System.out.println(text);
      }
    }
  }
}
JAVA
mvn -q -B dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=lib > log 2>&1 || { cat log; exit 1; }
java -cp 'lib/*' Formats.java 2> log | tee seen
expected='{"type":"csv","columns":["a"],"shouldTryParseNumbers":true}
{"type":"csv","columns":["a"]}
{"type":"tsv","columns":["a"],"delimiter":"\t","shouldTryParseNumbers":true}
{"type":"tsv","columns":["a"],"delimiter":"\t"}'
[ "$(cat seen)" = "$expected" ] || { echo "the behaviour has changed"; exit 1; }
