package io.nodekeeper.agent.config;

import java.util.List;
import java.util.Optional;

/**
 * What pods may do and how they are confined. Without effect unless the gate {@code PodLifecycle} is on. Immutable.
 *
 * @param unsafeSysctls which sysctls pods may set besides those that Kubernetes considers safe (none)
 * @param seccompDefault whether containers have the runtime's filter of system calls unless they ask for another (false)
 */
public record PodSecurityConfig(List<SysctlPattern> unsafeSysctls, boolean seccompDefault) {
    /** The kubelet's defaults. */
    public static final PodSecurityConfig DEFAULT = new PodSecurityConfig(List.of(), false);

    /** Keeps a copy. */
    public PodSecurityConfig {
        unsafeSysctls = List.copyOf(unsafeSysctls);
    }

    /** The values of the fields {@code allowedUnsafeSysctls} and {@code seccompDefault}; adds what is wrong to {@code faults}. */
    static PodSecurityConfig read(Optional<List<String>> sysctls, Optional<Boolean> seccomp, List<String> faults) {
        return new PodSecurityConfig(
                SysctlPattern.parse(sysctls.orElse(List.of()), fault -> faults.add("allowedUnsafeSysctls: " + fault)),
                seccomp.orElse(DEFAULT.seccompDefault()));
    }

    /** The same with other sysctls. */
    PodSecurityConfig with(List<SysctlPattern> others) {
        return new PodSecurityConfig(others, seccompDefault);
    }

    /** The same with or without a filter of system calls by default. */
    PodSecurityConfig seccompDefault(boolean other) {
        return new PodSecurityConfig(unsafeSysctls, other);
    }
}
