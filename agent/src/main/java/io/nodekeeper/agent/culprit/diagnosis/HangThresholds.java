package io.nodekeeper.agent.culprit.diagnosis;

import java.time.Duration;

/**
 * How long something may last before it counts as a hang. All values chosen so that a culprit is named within 20 s of the
 * fault. Immutable.
 *
 * @param stopped a process in state T, over at least two looks
 * @param command a CNI plugin or OCI runtime command, by its age; ordinary ones end within a second
 * @param stalled a thread in state D that did not run once, over at least {@code stalledLooks} looks
 * @param zombie an ended container process that its shim does not take leave of
 * @param call a question to the runtime that it answers from memory
 * @param slowCall one that starts or stops something
 */
public record HangThresholds(
        Duration stopped,
        Duration command,
        Duration stalled,
        int stalledLooks,
        Duration zombie,
        Duration call,
        Duration slowCall) {

    /** For the agent, which looks every few seconds. */
    public static final HangThresholds PATROL = new HangThresholds(
            Duration.ofSeconds(4),
            Duration.ofSeconds(8),
            Duration.ofSeconds(9),
            3,
            Duration.ofSeconds(30),
            Duration.ofSeconds(4),
            Duration.ofSeconds(10));

    /**
     * For somebody in front of a terminal: two looks a few seconds apart. Its remedy for a command kills, so that a command
     * that is slow and right gets more time than on patrol.
     */
    public static final HangThresholds DOCTOR = new HangThresholds(
            Duration.ofSeconds(2),
            Duration.ofSeconds(15),
            Duration.ofSeconds(2),
            2,
            Duration.ofSeconds(2),
            Duration.ofSeconds(1),
            Duration.ofSeconds(1));
}
