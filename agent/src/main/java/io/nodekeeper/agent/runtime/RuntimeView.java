package io.nodekeeper.agent.runtime;

import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.agent.facts.Fact;
import io.nodekeeper.agent.facts.ReadyErrors;
import io.nodekeeper.agent.facts.RuntimeFacts;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * What the status reads about the container runtime. All answers come from memory, so no hung call can delay a
 * report. Confined to the agent's loop.
 */
public interface RuntimeView {
    /** The facts about the runtime that the status contains. */
    RuntimeFacts facts();

    /** The path of the images as the runtime reports it; empty without a runtime. */
    Optional<Fact<Path>> imageMount();

    /** Why the node is not ready as far as the runtime is concerned. */
    ReadyErrors errors();

    /** Whether the only errors are that first answers are still missing after the start of this process. */
    boolean starting();

    /** Completes after the first answers or failures. */
    CompletableFuture<Void> known();

    /** Completes when a report may be sent: immediately, or after a version call if the gate RuntimeSnapshots is off. */
    CompletableFuture<Void> beforeReport();

    /** Conditions of the node besides Kubernetes' own. */
    List<ConditionReport> conditions();

    /** Receives the node's pod CIDRs, separated by commas, at each status update. */
    void podCidr(String cidr);

    /** {@code listener} runs on the loop when a status update is due before its period ends. */
    void onNews(Runnable listener);
}
