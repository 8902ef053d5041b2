package io.nodekeeper.agent.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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

    private static final String SYSCTLS = "allowedUnsafeSysctls";
    private static final String SECCOMP = "seccompDefault";

    /** Keeps a copy. */
    public PodSecurityConfig {
        unsafeSysctls = List.copyOf(unsafeSysctls);
    }

    /** Removes what it reads from {@code fields}; adds what is wrong to {@code faults}. */
    static PodSecurityConfig read(Map<String, Object> fields, List<String> faults) {
        List<SysctlPattern> sysctls = new ArrayList<>();
        Object value = Optional.ofNullable(fields.remove(SYSCTLS)).orElse(List.of());
        if (value instanceof List<?> list) {
            for (Object item : list) {
                try {
                    sysctls.add(SysctlPattern.of(String.valueOf(item)));
                } catch (IllegalArgumentException e) {
                    faults.add(SYSCTLS + ": " + e.getMessage());
                }
            }
        } else {
            faults.add(SYSCTLS + " must be a list of names of sysctls, got " + value);
        }
        Object seccomp = Optional.ofNullable(fields.remove(SECCOMP)).orElse(false);
        if (!(seccomp instanceof Boolean)) {
            faults.add(SECCOMP + " must be true or false, got " + seccomp);
        }
        return new PodSecurityConfig(sysctls, seccomp.equals(true));
    }

    /** The same with other sysctls. */
    PodSecurityConfig with(List<SysctlPattern> others) {
        return new PodSecurityConfig(others, seccompDefault);
    }
}
