package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.pods.turns.StartTurns;
import io.nodekeeper.cri.RuntimeCall;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * What one pod starts, until it must end: its sandbox and its containers, one call to the runtime at a time, each in its turn. Confined to
 * the loop of its ports.
 */
final class PodStarts {
    private final PodPorts ports;
    /** The call that has no answer yet; it may wait for its turn. */
    private Optional<StartTurns.Turn<?>> newest = Optional.empty();

    private boolean over;

    PodStarts(PodPorts ports) {
        this.ports = ports;
    }

    /** Makes {@code call} when it is its turn; fails with {@link CommandFailure#abandoned} once the pod must end. */
    <T> CompletableFuture<T> call(StartTurns.Kind kind, RuntimeCall<T> call) {
        if (over) {
            return CompletableFuture.failedFuture(CommandFailure.abandoned());
        }
        StartTurns.Turn<T> turn =
                ports.starts().take(kind, () -> ports.runtime().call(call, ports.callDeadline()));
        newest = Optional.of(turn);
        // Later nothing needs it, and a call may have the whole configuration of a container.
        turn.answer().whenComplete((answer, error) -> newest = newest.filter(last -> last != turn));
        return turn.answer();
    }

    /** Whether the pod must end, so that nothing more may start. */
    boolean isOver() {
        return over;
    }

    /** The pod must end: a call that waits for its turn fails, and one that the runtime has goes on. */
    void abandon() {
        over = true;
        newest.ifPresent(turn -> turn.abandon(CommandFailure.abandoned()));
    }
}
