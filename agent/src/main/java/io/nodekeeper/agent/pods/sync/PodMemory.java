package io.nodekeeper.agent.pods.sync;

import io.nodekeeper.agent.pods.containers.PodLabels;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.cri.ContainerStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What the node knows about a pod besides what the runtime shows. A restarted agent begins with {@link #EMPTY}: nothing here is
 * needed to avoid a second container. Immutable; its size is bounded by the number of containers and sandboxes of the pod.
 *
 * @param prepared whether the pod's directories and volumes are there
 * @param nextAttempt the number of the next sandbox, if higher than what the runtime shows
 * @param sandboxFailed whether the newest sandbox could not be made
 * @param stopped the sandboxes whose stop succeeded
 * @param restarts by container and its hash: its newest start after an end; of the {@link #POD}: the newest replacement of its sandbox
 * @param pulls by image: the pause after its last failed pull
 * @param problems by container and its hash, or {@link #POD}: why it does not start, and when to try again; or {@link #LEFTOVERS}
 * @param waited by container: the restart that a back-off event was sent about
 * @param replaced by container: the newest one that was ended only to run again. After a restart of the agent in between, the restart
 *     policy alone decides
 * @param cleaned whether directories and logs were removed
 * @param deleted whether the API no longer has the pod
 */
public record PodMemory(
        boolean prepared,
        int nextAttempt,
        boolean sandboxFailed,
        Set<String> stopped,
        Map<String, Restart> restarts,
        Map<String, Pause> pulls,
        Map<String, Problem> problems,
        Map<String, String> waited,
        Map<String, String> replaced,
        boolean cleaned,
        boolean deleted) {
    /** A pod of which nothing is known. */
    public static final PodMemory EMPTY =
            new PodMemory(false, 0, false, Set.of(), Map.of(), Map.of(), Map.of(), Map.of(), Map.of(), false, false);

    /** The key of problems that concern the pod as a whole: its volumes or its sandbox. */
    public static final String POD = "";

    /** The key of the problem that what is of no use any more cannot be removed: nothing else waits for that. */
    static final String LEFTOVERS = "/leftovers";

    /** The pause after a failure of other kinds than an image's or a container's: the kubelet's. */
    private static final Duration RETRY = Duration.ofSeconds(10);
    /** The pause after the first failures of the pod as a whole: a short fault must not cost 10 s. */
    private static final Duration SOON = Duration.ofSeconds(1);

    /**
     * Why something does not start or end. Immutable.
     *
     * @param reason of a container: for its status; of the pod: the kind of the command that failed
     * @param retryAt when it is tried again
     * @param pause the time from the failure until then
     * @param failures how often it failed in a row
     */
    public record Problem(String reason, String message, Instant retryAt, Duration pause, int failures) {
        /** Whether it is too early to try again. A wait that is longer than the pause is one whose clock was set back: it is over. */
        boolean waits(Instant now) {
            Duration left = Duration.between(now, retryAt);
            return left.isPositive() && left.compareTo(pause) <= 0;
        }
    }

    /**
     * A decision to start a container that has ended, or to replace a sandbox. Immutable.
     *
     * @param pause the pause before the next one
     * @param after the id of what has ended; empty before the first one
     */
    public record Restart(Pause pause, String after) {
        private static final Restart NONE = new Restart(Pause.NONE, "");
    }

    /** The memory after {@code command} had {@code outcome}. */
    public PodMemory after(PodCommand command, Outcome outcome, Instant now) {
        return switch (outcome) {
            case Outcome.Done done -> succeeded(command);
            case Outcome.GivenUp givenUp -> this;
            case Outcome.Failed failed -> failed(command, failed, now);
        };
    }

    /** The memory after a command that a decision has as its {@linkplain Decision#removal removal} had {@code outcome}. */
    public PodMemory afterRemoval(PodCommand command, Outcome outcome, Instant now) {
        if (outcome instanceof Outcome.Failed(String reason, String message)) {
            Change change = new Change(this);
            change.problems.put(LEFTOVERS, new Problem(kind(command), message, now.plus(RETRY), RETRY, 1));
            return change.done();
        }
        return changed(command).done();
    }

    private PodMemory succeeded(PodCommand command) {
        Change change = changed(command);
        if (problem(POD).filter(last -> last.reason().equals(kind(command))).isPresent()) {
            change.problems.remove(POD);
        }
        return change.done();
    }

    private Change changed(PodCommand command) {
        Change change = new Change(this);
        switch (command) {
            case PodCommand.Prepare prepare -> change.prepared = true;
            case PodCommand.CreateSandbox(int attempt) -> {
                change.nextAttempt = attempt + 1;
                change.sandboxFailed = false;
            }
            case PodCommand.StopSandbox(String id) -> change.stopped.add(id);
            case PodCommand.RemoveSandbox(String id) -> change.stopped.remove(id);
            case PodCommand.StartContainer start -> {
                forget(start.container(), change.problems);
                change.pulls.remove(start.container().image());
            }
            case PodCommand.KillContainers kill -> {}
            case PodCommand.RemoveContainer remove -> {}
            case PodCommand.CleanUp clean -> change.cleaned = true;
            case PodCommand.DeleteFromApi delete -> change.deleted = true;
        }
        return change;
    }

    private PodMemory failed(PodCommand command, Outcome.Failed failed, Instant now) {
        Change change = new Change(this);
        String key = POD;
        Duration pause = problem(POD).map(Problem::failures).orElse(0) < 3 ? SOON : RETRY;
        if (command instanceof PodCommand.CreateSandbox(int attempt)) {
            // The runtime may still reserve the name of the failed attempt.
            change.nextAttempt = attempt + 1;
            change.sandboxFailed = true;
        } else if (command instanceof PodCommand.StartContainer start) {
            key = key(start.container());
            forget(start.container(), change.problems);
            pause = RETRY;
            if (failed.reason().equals(Reasons.ERR_IMAGE_PULL)) {
                String image = start.container().image();
                Pause next = pulls.getOrDefault(image, Pause.NONE).next(now, now);
                change.pulls.put(image, next);
                pause = next.length();
            } else if (failed.reason().equals(Reasons.POST_START_HOOK_ERROR)) {
                // The container ran: the pause between its restarts is enough.
                pause = Duration.ZERO;
            }
        }
        int failures = problem(key).map(Problem::failures).orElse(0) + 1;
        String reason = key.equals(POD) ? kind(command) : failed.reason();
        change.problems.put(key, new Problem(reason, failed.message(), now.plus(pause), pause, failures));
        return change.done();
    }

    private static String kind(PodCommand command) {
        return command.getClass().getSimpleName();
    }

    /** The problem of {@code container}; none if its image has changed since. */
    Optional<Problem> problem(ContainerSpec container) {
        return problem(key(container));
    }

    /** The problem with that key, such as that of the {@link #POD}. */
    public Optional<Problem> problem(String key) {
        return Optional.ofNullable(problems.get(key));
    }

    /** The newest replacement of the pod's sandbox. */
    Restart replacement() {
        return restarts.getOrDefault(POD, Restart.NONE);
    }

    /** The memory after the decision to replace {@code sandbox}. */
    PodMemory replacingSandbox(String sandbox, Instant now) {
        Change change = new Change(this);
        change.restarts.put(POD, new Restart(replacement().pause().next(now, now), sandbox));
        return change.done();
    }

    /** The newest restart of {@code container}; none if its image has changed since. */
    Restart restart(ContainerSpec container) {
        return restarts.getOrDefault(key(container), Restart.NONE);
    }

    /** The memory after the decision to start {@code container} again, of which {@code endedId} has ended at {@code ended}. */
    PodMemory restarted(ContainerSpec container, String endedId, Instant ended, Instant now) {
        Change change = new Change(this);
        forget(container, change.restarts);
        change.restarts.put(
                key(container), new Restart(restart(container).pause().next(ended, now), endedId));
        return change.done();
    }

    private static String key(ContainerSpec container) {
        return container.name() + "/" + PodLabels.hash(container);
    }

    /** Forgets what was known of the container with this image or others. */
    private static void forget(ContainerSpec container, Map<String, ?> known) {
        known.keySet().removeIf(key -> key.startsWith(container.name() + "/"));
    }

    /** The memory after a back-off event about the container {@code id} was sent. */
    PodMemory waiting(String container, String id) {
        Change change = new Change(this);
        change.waited.put(container, id);
        return change.done();
    }

    /** The memory of a pod whose volumes must be made again. */
    public PodMemory unprepared() {
        Change change = new Change(this);
        change.prepared = false;
        return change.done();
    }

    /** The memory once these containers are ended to run again: their ids by name. */
    PodMemory replacing(Map<String, String> ids) {
        Change change = new Change(this);
        change.replaced.putAll(ids);
        return change.done();
    }

    /** Whether the container was ended to run again. */
    boolean isReplaced(ContainerStatus ended) {
        return ended.id().equals(replaced.get(ended.name()));
    }

    /** A mutable copy. */
    private static final class Change {
        private boolean prepared;
        private int nextAttempt;
        private boolean sandboxFailed;
        private final Set<String> stopped;
        private final Map<String, Restart> restarts;
        private final Map<String, Pause> pulls;
        private final Map<String, Problem> problems;
        private final Map<String, String> waited;
        private final Map<String, String> replaced;
        private boolean cleaned;
        private boolean deleted;

        private Change(PodMemory before) {
            prepared = before.prepared;
            nextAttempt = before.nextAttempt;
            sandboxFailed = before.sandboxFailed;
            stopped = new HashSet<>(before.stopped);
            restarts = new HashMap<>(before.restarts);
            pulls = new HashMap<>(before.pulls);
            problems = new HashMap<>(before.problems);
            waited = new HashMap<>(before.waited);
            replaced = new HashMap<>(before.replaced);
            cleaned = before.cleaned;
            deleted = before.deleted;
        }

        private PodMemory done() {
            return new PodMemory(
                    prepared,
                    nextAttempt,
                    sandboxFailed,
                    Set.copyOf(stopped),
                    Map.copyOf(restarts),
                    Map.copyOf(pulls),
                    Map.copyOf(problems),
                    Map.copyOf(waited),
                    Map.copyOf(replaced),
                    cleaned,
                    deleted);
        }
    }
}
