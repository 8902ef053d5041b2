package io.nodekeeper.agent.config;

import io.nodekeeper.agent.config.file.ConfigFields;
import java.util.List;

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

    /** Reads {@code allowedUnsafeSysctls} and {@code seccompDefault}. */
    static PodSecurityConfig read(ConfigFields fields) {
        List<String> sysctls = fields.texts("allowedUnsafeSysctls", "a list of names of sysctls")
                .orElse(List.of());
        return new PodSecurityConfig(
                SysctlPattern.parse(sysctls, fault -> fields.fault("allowedUnsafeSysctls: " + fault)),
                fields.bool("seccompDefault").orElse(DEFAULT.seccompDefault));
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
