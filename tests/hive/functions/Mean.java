package shop;

import org.apache.hadoop.hive.ql.exec.UDAF;
import org.apache.hadoop.hive.ql.exec.UDAFEvaluator;

/** An old UDAF: the mean of numbers, NULL without any. */
public class Mean extends UDAF {
  public static class State {
    public long count;
    public double sum;
  }

  public static class Evaluator implements UDAFEvaluator {
    private State state;

    public Evaluator() {
      init();
    }

    public void init() {
      state = new State();
    }

    public boolean iterate(Double value) {
      if (value != null) {
        state.count++;
        state.sum += value;
      }
      return true;
    }

    public State terminatePartial() {
      return state.count == 0 ? null : state;
    }

    public boolean merge(State other) {
      if (other != null) {
        state.count += other.count;
        state.sum += other.sum;
      }
      return true;
    }

    public Double terminate() {
      return state.count == 0 ? null : state.sum / state.count;
    }
  }
}
