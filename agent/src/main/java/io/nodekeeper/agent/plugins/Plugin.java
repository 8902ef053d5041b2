package io.nodekeeper.agent.plugins;

import java.nio.file.Path;
import java.util.List;

/**
 * A plugin that wants to be registered. Immutable.
 *
 * @param type which {@link PluginHandler} it is for, such as {@code CSIPlugin}
 * @param name its name, unique within its type
 * @param endpoint the socket of its service
 * @param versions of its service
 * @param socket where it was found
 */
public record Plugin(String type, String name, Path endpoint, List<String> versions, Path socket) {
    /** Keeps a copy. */
    public Plugin {
        versions = List.copyOf(versions);
    }
}
