package io.nodekeeper.agent.problems;

import io.nodekeeper.agent.facts.ConditionReport;
import java.util.List;

/** What the status reads about the node's problems. Confined to the agent's loop. */
public interface ProblemView {
    /** For a simulated node: no conditions. */
    ProblemView NONE = new ProblemView() {
        @Override
        public List<ConditionReport> conditions() {
            return List.of();
        }

        @Override
        public void onNews(Runnable listener) {
            // Nothing ever changes.
        }
    };

    /** The conditions as they should be reported. */
    List<ConditionReport> conditions();

    /** {@code listener} runs on the loop when a condition's status changed. */
    void onNews(Runnable listener);
}
