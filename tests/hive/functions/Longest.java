package shop;

import org.apache.hadoop.hive.ql.exec.UDFArgumentTypeException;
import org.apache.hadoop.hive.ql.metadata.HiveException;
import org.apache.hadoop.hive.ql.parse.SemanticException;
import org.apache.hadoop.hive.ql.udf.generic.AbstractGenericUDAFResolver;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDAFEvaluator;
import org.apache.hadoop.hive.serde2.objectinspector.ObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.PrimitiveObjectInspector;
import org.apache.hadoop.hive.serde2.objectinspector.primitive.PrimitiveObjectInspectorFactory;
import org.apache.hadoop.hive.serde2.objectinspector.primitive.PrimitiveObjectInspectorUtils;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfo;

/** A GenericUDAF: the longest text, of several the first in their order; '(none)' for a group without any. */
public class Longest extends AbstractGenericUDAFResolver {
  @Override
  public GenericUDAFEvaluator getEvaluator(TypeInfo[] types) throws SemanticException {
    if (types.length != 1) {
      throw new UDFArgumentTypeException(types.length - 1, "longest() takes one argument");
    }
    return new Evaluator();
  }

  public static class Evaluator extends GenericUDAFEvaluator {
    private PrimitiveObjectInspector input;

    static class State extends AbstractAggregationBuffer {
      String longest;
    }

    @Override
    public ObjectInspector init(Mode mode, ObjectInspector[] arguments) throws HiveException {
      super.init(mode, arguments);
      input = (PrimitiveObjectInspector) arguments[0];
      return PrimitiveObjectInspectorFactory.javaStringObjectInspector;
    }

    @Override
    public AggregationBuffer getNewAggregationBuffer() {
      return new State();
    }

    @Override
    public void reset(AggregationBuffer buffer) {
      ((State) buffer).longest = null;
    }

    @Override
    public void iterate(AggregationBuffer buffer, Object[] arguments) {
      merge(buffer, arguments[0]);
    }

    @Override
    public Object terminatePartial(AggregationBuffer buffer) {
      return ((State) buffer).longest;
    }

    @Override
    public void merge(AggregationBuffer buffer, Object other) {
      String text = PrimitiveObjectInspectorUtils.getString(other, input);
      State state = (State) buffer;
      if (text == null) {
        return;
      }
      String known = state.longest;
      boolean longer = known == null || text.length() > known.length();
      if (longer || (text.length() == known.length() && text.compareTo(known) < 0)) {
        state.longest = text;
      }
    }

    @Override
    public Object terminate(AggregationBuffer buffer) {
      String longest = ((State) buffer).longest;
      return longest == null ? "(none)" : longest;
    }
  }
}
