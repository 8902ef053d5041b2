package io.nodekeeper.agent.plugins;

/** A plugin could not be registered; the message is a kubelet's. */
final class PluginException extends RuntimeException {
    PluginException(String message) {
        super(message);
    }
}
