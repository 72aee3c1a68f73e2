package shop;

import org.apache.hadoop.hive.ql.exec.UDF;

/** An old UDF with two signatures. */
public class Shout extends UDF {
  public String evaluate(String text) {
    return text == null ? null : text.toUpperCase() + "!";
  }

  public Long evaluate(Long number) {
    return number == null ? null : number * 10;
  }
}
