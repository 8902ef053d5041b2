package io.nodekeeper.agent.pods.security;

import io.nodekeeper.agent.config.PodSecurityConfig;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.sync.Wanted;
import java.util.Optional;

/** Refuses pods because of their security contexts, with a kubelet's reasons. Immutable. */
public final class SecurityAdmission {
    private final SysctlRules sysctls;

    /** The rules that {@code config} sets. */
    public SecurityAdmission(PodSecurityConfig config) {
        sysctls = new SysctlRules(config.unsafeSysctls());
    }

    /** Why {@code pod} must not start on this node; empty if it may. */
    public Optional<Wanted.Eviction> refusal(Pod pod) {
        return sysctls.fault(pod).map(fault -> refused("SysctlForbidden", fault));
    }

    private static Wanted.Eviction refused(String reason, String message) {
        return new Wanted.Eviction(reason, message, false);
    }
}
