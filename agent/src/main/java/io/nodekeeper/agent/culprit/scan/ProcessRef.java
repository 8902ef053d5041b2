package io.nodekeeper.agent.culprit.scan;

/**
 * One process, distinguished from a later one with the same pid. Immutable.
 *
 * @param startTicks when it was started, in clock ticks since the machine's boot
 * @param command its arguments joined by blanks, shortened; may change when the process executes another program
 */
public record ProcessRef(int pid, long startTicks, String command) {

    /** A text that stays the same as long as the process lives, and that no other process has. */
    public String identity() {
        return pid + "@" + startTicks;
    }
}
