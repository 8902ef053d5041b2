package io.nodekeeper.agent;

import java.util.List;

/** There is no container runtime, and so nothing to say about it. Stateless. */
final class NoRuntime implements RuntimeView {
    @Override
    public RuntimeFacts facts() {
        return RuntimeFacts.NONE;
    }

    @Override
    public ReadyErrors errors() {
        return ReadyErrors.NONE;
    }

    @Override
    public List<ConditionReport> conditions() {
        return List.of();
    }

    @Override
    public void podCidr(String cidr) {}

    @Override
    public void onNews(Runnable listener) {}
}
