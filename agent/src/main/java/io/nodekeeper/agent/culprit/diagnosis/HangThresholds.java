package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.cri.RuntimeCall;
import java.time.Duration;

/**
 * How long a state may last before it counts as a hang. Each value leaves room for two scans, so that a culprit is
 * reported within 20 s of the fault. Immutable.
 *
 * @param stopped for a process in state T, over at least two scans
 * @param command for a CNI plugin or OCI runtime command, by its age; ordinary ones end within a second
 * @param stalled for a thread in state D that did not run once, over at least {@code stalledLooks} scans
 * @param zombie for an ended container process that its shim does not reap
 * @param call for a call that the runtime answers from memory
 * @param slowCall for a call that starts or stops something
 * @param refused for a call that the runtime answers with an error, from the first such answer
 * @param unlisted for a shim whose sandbox the runtime does not list, by its age
 */
public record HangThresholds(
        Duration stopped,
        Duration command,
        Duration stalled,
        int stalledLooks,
        Duration zombie,
        Duration call,
        Duration slowCall,
        Duration refused,
        Duration unlisted) {

    /** How long a call may take. */
    public Duration of(RuntimeCall<?> asked) {
        return changes(asked) ? slowCall : call;
    }

    /** Whether a call starts or stops something. */
    static boolean changes(RuntimeCall<?> asked) {
        return asked instanceof RuntimeCall.RunSandbox
                || asked instanceof RuntimeCall.StopSandbox
                || asked instanceof RuntimeCall.RemoveSandbox;
    }

    /** For the agent, which scans every few seconds. */
    public static final HangThresholds AGENT = new HangThresholds(
            Duration.ofSeconds(4),
            Duration.ofSeconds(8),
            Duration.ofSeconds(9),
            3,
            Duration.ofSeconds(30),
            Duration.ofSeconds(4),
            Duration.ofSeconds(10),
            Duration.ofSeconds(4),
            Duration.ofSeconds(15));

    /**
     * For {@code nodekeeper doctor}: two scans a few seconds apart. Its remedy for a command kills it, so a slow
     * command gets more time than in the agent.
     */
    public static final HangThresholds DOCTOR = new HangThresholds(
            Duration.ofSeconds(2),
            Duration.ofSeconds(15),
            Duration.ofSeconds(2),
            2,
            Duration.ofSeconds(2),
            Duration.ofSeconds(1),
            Duration.ofSeconds(1),
            Duration.ZERO,
            Duration.ofSeconds(60));
}
