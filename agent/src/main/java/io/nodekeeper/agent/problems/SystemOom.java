package io.nodekeeper.agent.problems;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A kubelet's event about a process that the kernel killed because the machine has no memory left; not because a cgroup, such as
 * that of a container, has reached its limit. Stateless.
 */
final class SystemOom {
    /** The kernel's message since Linux 4.19; a process's name may have brackets. */
    private static final Pattern KILLED = Pattern.compile(
            "Out of memory(?: \\([a-z_]+\\))?: Kill(?:ed)? process (\\d+) \\((.*)\\),? (?:total-vm|score).*");

    private SystemOom() {}

    /** The event for {@code message}; empty for all other messages. */
    static Optional<Finding.Temporary> of(String message) {
        Matcher killed = KILLED.matcher(message);
        return killed.matches()
                ? Optional.of(Finding.Temporary.warning(
                        "SystemOOM",
                        "System OOM encountered, victim process: " + killed.group(2) + ", pid: " + killed.group(1)))
                : Optional.empty();
    }
}
