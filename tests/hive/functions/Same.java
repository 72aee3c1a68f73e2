package shop;

import org.apache.hadoop.hive.ql.exec.UDFArgumentException;
import org.apache.hadoop.hive.ql.exec.UDFArgumentLengthException;
import org.apache.hadoop.hive.ql.metadata.HiveException;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDF;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspector;

/** A GenericUDF that returns its argument, whatever its type. */
public class Same extends GenericUDF {
  @Override
  public ObjectInspector initialize(ObjectInspector[] arguments) throws UDFArgumentException {
    if (arguments.length != 1) {
      throw new UDFArgumentLengthException("same() takes one argument");
    }
    return arguments[0];
  }

  @Override
  public Object evaluate(DeferredObject[] arguments) throws HiveException {
    return arguments[0].get();
  }

  @Override
  public String getDisplayString(String[] children) {
    return "same(" + children[0] + ")";
  }
}
