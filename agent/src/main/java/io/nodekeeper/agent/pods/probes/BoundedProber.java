package io.nodekeeper.agent.pods.probes;

import io.nodekeeper.agent.pods.model.Action;
import io.nodekeeper.agent.pods.turns.PodTurns;
import io.nodekeeper.api.Failures;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * Runs a bounded number of probes at the same time; others wait, and their time begins only when they start. A probe waits for probes of
 * its own pod only ({@link PodTurns}); but lookups of hosts that are names wait for each other. Commands and requests over the network
 * wait apart.
 *
 * <p>At most {@link PodTurns#PODS} + {@value #SHARED} commands run at once. If their answers, of 32 KiB at most, all come at the same
 * moment, they need some 15 MB. As many requests run at once: their answers are of 10 KiB, but each has a connection with its buffers, and one with TLS to a
 * name a thread. What waits is bounded by the probes of running containers: one that is cancelled waits no longer. Confined to its loop.
 */
public final class BoundedProber {
    /** Enough for the probes of usual pods to run at once, as with a kubelet, if few others hang. */
    static final int SHARED = 64;

    private final Prober prober;
    private final PodTurns commands;
    private final PodTurns requests;

    BoundedProber(Prober prober) {
        this(prober, new PodTurns(SHARED), new PodTurns(SHARED));
    }

    BoundedProber(Prober prober, PodTurns commands, PodTurns requests) {
        this.prober = prober;
        this.commands = commands;
        this.requests = requests;
    }

    /** As {@link Prober#run}, once it is the turn of the pod {@code uid}. */
    CompletableFuture<ProbeResult> run(String uid, Prober.Target target, Action action, Duration timeout) {
        PodTurns turns = action instanceof Action.Exec ? commands : requests;
        return turns.run(uid, () -> start(target, action, timeout));
    }

    /** An action that cannot even begin has a result, too: else its probe would not be repeated. */
    private CompletableFuture<ProbeResult> start(Prober.Target target, Action action, Duration timeout) {
        try {
            return prober.run(target, action, timeout);
        } catch (RuntimeException | OutOfMemoryError e) {
            return CompletableFuture.completedFuture(ProbeResult.error(Failures.text(e)));
        }
    }
}
