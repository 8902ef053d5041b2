package io.nodekeeper.agent.csi;

import io.nodekeeper.cri.plugin.PluginCall;
import java.nio.file.Path;
import java.util.Set;

/**
 * A CSI driver that is registered on this node. Immutable.
 *
 * @param endpoint the socket of its node service
 * @param capabilities what it can do
 */
public record CsiDriver(String name, Path endpoint, Set<PluginCall.Capability> capabilities) {
    /** Keeps a copy. */
    public CsiDriver {
        capabilities = Set.copyOf(capabilities);
    }

    /** Whether it has {@code capability}. */
    public boolean can(PluginCall.Capability capability) {
        return capabilities.contains(capability);
    }
}
