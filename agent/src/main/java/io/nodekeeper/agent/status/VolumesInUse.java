package io.nodekeeper.agent.status;

import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonArray;
import java.util.List;
import java.util.Optional;

/** The volumes in a node's status. Stateless. */
public final class VolumesInUse {
    private static final String FIELD = "volumesInUse";

    private VolumesInUse() {}

    /** {@code result} with these volumes in use; unchanged if they are not known. */
    public static StatusResult set(StatusResult result, Optional<List<String>> names) {
        if (names.isEmpty() || names.get().equals(of(result.node()))) {
            return result;
        }
        Node node = new Node(result.node()
                .json()
                .update(
                        "status",
                        status -> names.get().isEmpty()
                                ? status.without(FIELD)
                                : status.with(FIELD, JsonArray.ofStrings(names.get()))));
        return new StatusResult(node, result.events(), result.errors());
    }

    /** The names that {@code node} has. */
    public static List<String> of(Node node) {
        return node.status().array(FIELD).strings().toList();
    }
}
