package io.nodekeeper.cri.devices;

/**
 * A plugin's request to be registered, not checked yet. Immutable.
 *
 * @param version of the API that it speaks
 * @param endpoint the name of its socket, beside that of the node
 * @param resource the name of the resource whose devices it has
 */
public record PluginRegistration(String version, String endpoint, String resource) {
    /** The only version of the API that is served. */
    public static final String VERSION = "v1beta1";
}
