#!/usr/bin/env bash
# Hive 4.0.1 parses the strings of unix_timestamp(text, pattern) first as a ZonedDateTime and, if that fails for any
# reason, as a LocalDate whose time is the start of the day. A pattern that does not determine the time of day, such as one
# with `hh` and no `a`, therefore does not return NULL: it silently returns midnight. An offset beside a date without a time
# is parsed and ignored. On the other hand `a` alone determines a time on Java 17: the middle of the half day, 6:00 or 18:00.
#
# Seen, as seconds after 2024-02-29 00:00:00 UTC, with Hive's InstantFormatter and the session zone UTC:
#   '2024-02-29 05:06:07' by yyyy-MM-dd HH:mm:ss is 18367, by yyyy-MM-dd hh:mm:ss 0; '2024-02-29 PM' by yyyy-MM-dd a 64800,
#   '2024-02-29 AM' 21600; '2024-02-29 +05:00' by yyyy-MM-dd XXX 0. '2024-02-30' is the same day as '2024-02-29'.
set -euo pipefail
command -v mvn > /dev/null && command -v javac > /dev/null || { echo "requires Java 17 and Maven"; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for artifact in org.apache.hive:hive-exec:4.0.1 org.apache.hive:hive-storage-api:4.0.1 org.apache.hadoop:hadoop-client-api:3.3.6 \
  org.apache.hadoop:hadoop-client-runtime:3.3.6 org.slf4j:slf4j-api:1.7.36 org.slf4j:slf4j-nop:1.7.36 commons-logging:commons-logging:1.2; do
  mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -Dartifact=$artifact -DoutputDirectory="$folder/lib"
done
cat > Parse.java <<'JAVA'
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.ql.udf.generic.InstantFormatter;

public class Parse {
  public static void main(String[] arguments) {
    Configuration configuration = new Configuration(false);
    configuration.set("hive.local.time.zone", "UTC");
    configuration.set("hive.datetime.formatter", "DATETIME");
    InstantFormatter formatter = InstantFormatter.ofConfiguration(configuration);
    String[][] pairs = {
      {"2024-02-29 05:06:07", "yyyy-MM-dd HH:mm:ss"}, {"2024-02-29 05:06:07", "yyyy-MM-dd hh:mm:ss"},
      {"2024-02-29 AM", "yyyy-MM-dd a"}, {"2024-02-29 PM", "yyyy-MM-dd a"}, {"2024-02-29 +05:00", "yyyy-MM-dd XXX"},
      {"2024-02-30", "yyyy-MM-dd"},
    };
    for (String[] pair : pairs) {
      System.out.println(pair[0] + " | " + pair[1] + " | " + (formatter.parse(pair[0], pair[1]).getEpochSecond() - 1709164800L));
    }
  }
}
JAVA
javac -nowarn -cp "lib/*" Parse.java 2> log || { tail -3 log; exit 1; }
java -cp "lib/*:." Parse > seen 2> log || { tail -3 log; exit 1; }
cat seen
awk -F' [|] ' '{print $3}' seen | tr '\n' ' ' | grep -qx "18367 0 21600 64800 0 0 " || {
  echo "the behaviour has changed"
  exit 1
}
