package io.nodekeeper.agent.pods.containers;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.config.SelinuxLabel;
import java.util.Optional;

/** Translates {@code seLinuxOptions} of security contexts. */
final class SelinuxLabels {
    private SelinuxLabels() {}

    /** The label of a security context; empty if it has none. */
    static Optional<SelinuxLabel> of(JsonObject context) {
        if (!context.has("seLinuxOptions")) {
            return Optional.empty();
        }
        JsonObject label = context.object("seLinuxOptions");
        return Optional.of(
                new SelinuxLabel(label.text("user"), label.text("role"), label.text("type"), label.text("level")));
    }
}
