package io.nodekeeper.agent.pods.security;

import io.nodekeeper.agent.config.PodSecurityConfig;
import io.nodekeeper.agent.pods.model.AppArmor;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.sync.Wanted;
import java.util.Optional;

/**
 * Refuses pods because of their security contexts, with a kubelet's reasons: a pod does not run without what confines it. Confined
 * to the thread of its {@link Support}.
 */
public final class SecurityAdmission {
    private final SysctlRules sysctls;
    private final Support support;

    /** What the machine and its container runtime can do. */
    public interface Support {
        /** Whether the kernel has AppArmor. */
        boolean appArmor();

        /** Whether the runtime has {@code supplementalGroupsPolicy: Strict}; empty while it does not answer. */
        Optional<Boolean> strictGroups();
    }

    /** The rules that {@code config} sets. */
    public SecurityAdmission(PodSecurityConfig config, Support support) {
        sysctls = new SysctlRules(config.unsafeSysctls());
        this.support = support;
    }

    /** Whether the decision about {@code pod} must wait until the runtime has reported its features. */
    public boolean mustWait(Pod pod) {
        return pod.strictGroups() && support.strictGroups().isEmpty();
    }

    /** Why {@code pod} must not start on this node; empty if it may. */
    public Optional<Wanted.Eviction> refusal(Pod pod) {
        Optional<String> sysctl = sysctls.fault(pod);
        if (sysctl.isPresent()) {
            return refused("SysctlForbidden", sysctl.get());
        }
        if (pod.strictGroups() && !support.strictGroups().orElse(false)) {
            // A kubelet 1.32 silently adds the image's groups; later ones refuse the pod with these words.
            return refused(
                    "SupplementalGroupsPolicyNotSupported",
                    "SupplementalGroupsPolicy=Strict is not supported in this node");
        }
        if (AppArmor.isRequired(pod) && !support.appArmor()) {
            return refused("AppArmor", "Cannot enforce AppArmor: AppArmor is not enabled on the host");
        }
        return Optional.empty();
    }

    private static Optional<Wanted.Eviction> refused(String reason, String message) {
        return Optional.of(new Wanted.Eviction(reason, message, false));
    }
}
