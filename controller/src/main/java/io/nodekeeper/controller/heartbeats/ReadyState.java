package io.nodekeeper.controller.heartbeats;

import io.nodekeeper.api.Condition;
import java.util.Optional;

/**
 * The Ready condition of one node as last seen; both parts are empty if there is none. {@link Heartbeats} changes it.
 */
final class ReadyState {
    private String ready = "";
    private String heartbeat = "";

    /** Its status. */
    String ready() {
        return ready;
    }

    /** Its {@code lastHeartbeatTime}. */
    String heartbeat() {
        return heartbeat;
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
        return progress;
    }
}
