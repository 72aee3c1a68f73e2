package shop;

import java.util.Arrays;
import org.apache.hadoop.hive.ql.exec.UDFArgumentException;
import org.apache.hadoop.hive.ql.metadata.HiveException;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDTF;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspectorFactory;
import org.apache.hadoop.hive.serde2.objectinspector.PrimitiveObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.StructObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.primitive.PrimitiveObjectInspectorFactory;

/** A GenericUDTF: the words of a text with their places; no rows for NULL and for an empty text. */
public class Words extends GenericUDTF {
  private PrimitiveObjectInspector input;

  @Override
  public StructObjectInspector initialize(ObjectInspector[] arguments) throws UDFArgumentException {
    if (arguments.length != 1) {
      throw new UDFArgumentException("words() takes one argument");
    }
    input = (PrimitiveObjectInspector) arguments[0];
    return ObjectInspectorFactory.getStandardStructObjectInspector(
        Arrays.asList("place", "Word"),
        Arrays.<ObjectInspector>asList(
            PrimitiveObjectInspectorFactory.javaIntObjectInspector,
            PrimitiveObjectInspectorFactory.javaStringObjectInspector));
  }

  @Override
  public void process(Object[] arguments) throws HiveException {
    Object value = input.getPrimitiveJavaObject(arguments[0]);
    if (value == null || value.toString().isEmpty()) {
      return;
    }
    int place = 0;
    for (String word : value.toString().split(" ")) {
      forward(new Object[] {place++, word.equals("-") ? null : word});
    }
  }

  @Override
  public void close() {}
}
