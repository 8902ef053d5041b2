package io.nodekeeper.controller.heartbeats;

import io.nodekeeper.time.DeadlineWheel;

/** Whether one node is later than usual, and when that is checked next. {@link EarlyWarning} changes it. */
final class Doubt {
    final DeadlineWheel.Deadline<NodeHealth> deadline;
    private boolean suspect;

    Doubt(NodeHealth health) {
        this.deadline = new DeadlineWheel.Deadline<>(health);
    }

    /** Whether the node is later than usual. */
    boolean isSuspect() {
        return suspect;
    }

    void suspect(boolean isSuspect) {
        suspect = isSuspect;
    }
}
