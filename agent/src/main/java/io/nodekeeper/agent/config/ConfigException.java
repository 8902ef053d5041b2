package io.nodekeeper.agent.config;

import java.util.List;

/** An invalid configuration. The message lists every fault, one per line. */
public final class ConfigException extends RuntimeException {
    private final List<String> faults;

    /** {@code faults} is not empty. */
    public ConfigException(List<String> faults) {
        super("invalid configuration:\n  " + String.join("\n  ", faults));
        this.faults = List.copyOf(faults);
    }

    /** What is wrong, one sentence each. */
    public List<String> faults() {
        return faults;
    }
}
