package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.api.KubeTime;
import io.nodekeeper.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The input of a diagnosis. Immutable.
 *
 * @param processes the runtime's own processes, with their history
 * @param answers the newest outcome of each call to the runtime
 * @param restarts how often the runtime's process was replaced within ten minutes
 * @param unlisted the sandboxes of shims that the runtime does not list
 * @param socket the runtime's socket, for messages
 * @param now monotonic ns
 * @param wall the same moment by the wall clock, for display only
 */
public record DiagnosisInput(
        List<ObservedProcess> processes,
        List<CallOutcome> answers,
        ContainerIndex workload,
        int restarts,
        Unlisted unlisted,
        String socket,
        long now,
        Instant wall) {

    /** An answer from memory takes about 1 ms; 100 times that is slow. */
    static final Duration SLOW = Duration.ofMillis(100);

    /**
     * What at least two lists of the runtime lacked, each requested after a scan that showed the shim. Immutable.
     *
     * @param sandboxes the sandboxes of shims, with the time from the first list that lacked them to the newest
     * @param everything the same for lists without any sandbox; empty if the newest has one
     */
    public record Unlisted(Map<String, Duration> sandboxes, Optional<Duration> everything) {
        /** Nothing is known to be missing. */
        public static final Unlisted NONE = new Unlisted(Map.of(), Optional.empty());

        public Unlisted {
            sandboxes = Map.copyOf(sandboxes);
        }

        /** Whether a sandbox has been missing for that long. */
        boolean lacks(String sandbox, Duration patience) {
            return Optional.ofNullable(sandboxes.get(sandbox))
                    .filter(time -> time.compareTo(patience) >= 0)
                    .isPresent();
        }
    }

    /** The input at this moment. */
    public static DiagnosisInput of(
            List<ObservedProcess> processes,
            List<CallOutcome> answers,
            ContainerIndex workload,
            int restarts,
            Unlisted unlisted,
            String socket,
            Clock clock) {
        return new DiagnosisInput(
                processes, answers, workload, restarts, unlisted, socket, clock.nanoTime(), clock.wallTime());
    }

    /**
     * Whether no fact can lead to a culprit, as on a healthy node most of the time: each call was answered at once and without an error, no command
     * runs, and no process waits, is halted or has reached a limit.
     */
    boolean isCalm() {
        return restarts == 0
                && unlisted.sandboxes().isEmpty()
                && answers.stream()
                        .allMatch(answer -> answer.kind() == CallOutcome.Kind.ANSWERED
                                && answer.took().compareTo(SLOW) < 0)
                && processes.stream().allMatch(ObservedProcess::isCalm);
    }

    /** Whether the runtime is Docker Engine, by its socket's name. */
    boolean isDocker() {
        return socket.endsWith("/docker.sock");
    }

    /** The usual name of the runtime's service. */
    String service() {
        return isDocker() ? "docker" : "containerd";
    }

    /** The remedy when the runtime itself hangs: an operator has to restart it. */
    Remedy restart() {
        return new Remedy.Advice("restart the container runtime, e.g. systemctl restart " + service());
    }

    /** The wall time at which a call began. */
    Instant since(CallOutcome answer) {
        return ago(Duration.ofNanos(now - answer.askedAt()));
    }

    /** The wall time at which the first of these calls began; now without calls. */
    Instant since(List<CallOutcome> answers) {
        return answers.stream().map(this::since).min(Comparator.naturalOrder()).orElse(wall);
    }

    /** A line of evidence: a call about {@code subject} has not been answered. */
    String waits(CallOutcome answer, Subject subject) {
        return answer.call().method() + (subject.isNode() ? "" : " of " + subject.text()) + " has been waiting since "
                + KubeTime.format(since(answer));
    }

    /** The wall time {@code age} ago. */
    Instant ago(Duration age) {
        return wall.minus(age);
    }
}
