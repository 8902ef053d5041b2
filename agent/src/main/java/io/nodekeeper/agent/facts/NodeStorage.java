package io.nodekeeper.agent.facts;

import java.util.List;
import java.util.Optional;

/** What the node's volumes add to its status. Confined to the agent's loop. */
public interface NodeStorage {
    /** A node without volumes of its own: its status says nothing about them. */
    NodeStorage NONE = new NodeStorage() {
        @Override
        public Optional<List<String>> volumesInUse() {
            return Optional.empty();
        }

        @Override
        public void reported(List<String> names) {}

        @Override
        public void registered(String uid) {}

        @Override
        public List<String> errors() {
            return List.of();
        }
    };

    /** {@code status.volumesInUse}, sorted; empty while it is not known, which leaves what the API has. */
    Optional<List<String>> volumesInUse();

    /** The API has these names in {@code status.volumesInUse}. */
    void reported(List<String> names);

    /** The API has the Node with that UID. Called for each report: another UID is that of a Node that was deleted and registered again. */
    void registered(String uid);

    /** Why the node cannot use volumes; each makes it NotReady. */
    List<String> errors();
}
