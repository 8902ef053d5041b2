package io.nodekeeper.controller.duplicates;

import io.nodekeeper.api.json.JsonObject;

/**
 * What proves that a node's name has two owners.
 *
 * @param kind what changes back and forth
 * @param one the machine in the newest state
 * @param other the machine that it took turns with last
 */
record Alternation(Kind kind, Machine one, Machine other) {
    /** What changes back and forth. */
    enum Kind {
        /** Boot id, machine id or system UUID. */
        MACHINE,
        /** Only the address. */
        ADDRESS
    }

    /** One sentence, without the name of the node. */
    String text() {
        // In a fixed order, so that the text does not change with each report.
        boolean ordered = one.text().compareTo(other.text()) <= 0;
        Machine first = ordered ? one : other;
        Machine second = ordered ? other : one;
        return switch (kind) {
            case MACHINE -> "two machines report under this node's name: " + first.text() + ", and " + second.text();
            case ADDRESS ->
                "its InternalIP changes between " + first.address() + " and " + second.address() + " with the same "
                        + "boot id: two machines cloned from one memory image, or two programs that write its addresses";
        };
    }

    /** The evidence. */
    JsonObject json() {
        return JsonObject.EMPTY.with("machine", one.text()).with("otherMachine", other.text());
    }
}
