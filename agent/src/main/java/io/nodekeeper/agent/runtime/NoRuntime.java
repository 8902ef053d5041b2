package io.nodekeeper.agent.runtime;

import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.agent.facts.Fact;
import io.nodekeeper.agent.facts.ReadyErrors;
import io.nodekeeper.agent.facts.RuntimeFacts;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** For a node without a container runtime: Ready depends on the node alone. Stateless. */
public final class NoRuntime implements RuntimeView {
    @Override
    public RuntimeFacts facts() {
        return RuntimeFacts.NONE;
    }

    @Override
    public Optional<Fact<Path>> imageMount() {
        return Optional.empty();
    }

    @Override
    public ReadyErrors errors() {
        return ReadyErrors.NONE;
    }

    @Override
    public boolean starting() {
        return false;
    }

    @Override
    public CompletableFuture<Void> known() {
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletableFuture<Void> beforeReport() {
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public List<ConditionReport> conditions() {
        return List.of();
    }

    @Override
    public void podCidr(String cidr) {
        // No runtime needs the CIDR.
    }

    @Override
    public void onNews(Runnable listener) {
        // Nothing ever changes.
    }
}
