package io.nodekeeper.controller.heartbeats;

import io.nodekeeper.api.Condition;
import java.util.Optional;

/**
 * The Ready condition of one node as last seen; all parts are empty if there is none. {@link Heartbeats} changes it.
 */
final class ReadyState {
    /**
     * The most characters of {@link #cause}: its first sentences fill two lines of a terminal. Only nodes that are not
     * Ready have one, so that 10,000 such nodes hold 3 MB.
     */
    private static final int CAUSE = 300;

    private String ready = "";
    private String heartbeat = "";
    private String cause = "";
    private String since = "";

    /** Its status. */
    String ready() {
        return ready;
    }

    /** Its {@code lastHeartbeatTime}. */
    String heartbeat() {
        return heartbeat;
    }

    /** Its reason and message, shortened; empty if it is True. */
    String cause() {
        return cause;
    }

    /** Its {@code lastTransitionTime}; empty if it is True. */
    String since() {
        return since;
    }

    /** Updates this from a condition; true if it is a heartbeat. */
    boolean saw(Optional<Condition> condition) {
        String newReady = condition.map(Condition::status).orElse("");
        String newHeartbeat =
                condition.map(c -> c.json().text("lastHeartbeatTime")).orElse("");
        // Agents never report Unknown; only controllers write it.
        boolean byAgent = !newReady.isEmpty() && !newReady.equals(Condition.UNKNOWN);
        boolean progress = !ready.isEmpty() && !newReady.isEmpty()
                ? !newHeartbeat.equals(heartbeat) || (byAgent && !newReady.equals(ready))
                : byAgent;
        ready = newReady;
        heartbeat = newHeartbeat;
        Optional<Condition> unwell = condition.filter(c -> !newReady.equals(Condition.TRUE));
        cause = unwell.map(ReadyState::cause).orElse("");
        since = unwell.map(c -> c.json().text("lastTransitionTime")).orElse("");
        return progress;
    }

    private static String cause(Condition condition) {
        String text = condition.reason() + ": " + condition.message();
        return text.length() <= CAUSE ? text : text.substring(0, CAUSE) + " ...";
    }
}
