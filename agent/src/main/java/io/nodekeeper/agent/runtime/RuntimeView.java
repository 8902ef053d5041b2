package io.nodekeeper.agent.runtime;

import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.agent.facts.ReadyErrors;
import io.nodekeeper.agent.facts.RuntimeFacts;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * What the status says about the container runtime. Every answer comes from memory, so that no hung call can delay a
 * report. Confined to the agent's loop.
 */
public interface RuntimeView {
    /** What is known of the runtime. */
    RuntimeFacts facts();

    /** Why the node is not ready as far as the runtime is concerned. */
    ReadyErrors errors();

    /** Whether the errors only say that the process is too young to know. */
    boolean starting();

    /** Completes once the first questions have been answered, or have failed. */
    CompletableFuture<Void> known();

    /** Completes when a report may be made: at once, unless the reference's way is asked for. */
    CompletableFuture<Void> beforeReport();

    /** Conditions of the node besides Kubernetes' own. */
    List<ConditionReport> conditions();

    /** The node's pod CIDRs, separated by commas, as often as they are looked at. */
    void podCidr(String cidr);

    /** {@code listener} runs on the loop when the node's status should be looked at before its time. */
    void onNews(Runnable listener);
}
