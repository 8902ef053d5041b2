package io.nodekeeper.agent.pods.turns;

import io.nodekeeper.time.Futures;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Makes a bounded number of calls for pods at the same time. Each pod has a place of its own, which no other pod can take; what it calls
 * at the same time beside that needs one of the places that all share, of which it may take a quarter of what is left. Other calls wait, and
 * pods take turns. So a call waits for calls of its own pod only, however many calls of other pods hang, and however long. With more than
 * {@value #PODS} pods it may wait for others, too. Confined to its loop.
 */
public final class PodTurns {
    /** Places that pods have of their own: more than twice Kubernetes' default of pods on a node. */
    public static final int PODS = 256;
    /** A pod may take this part of the shared places that are left. */
    private static final int PART = 4;

    private final int most;
    private final int shared;
    /** The pods with calls, the next turn first. Its size is bounded by the pods. */
    private final SequencedMap<String, PodCalls> pods = new LinkedHashMap<>();

    private int running;
    private int extra;
    private boolean granting;

    /** Turns of up to {@value #PODS} pods, with {@code shared} places for what they call beside their first call. */
    public PodTurns(int shared) {
        this(PODS, shared);
    }

    /** The same, with another number of pods. */
    public PodTurns(int pods, int shared) {
        this.most = pods + shared;
        this.shared = shared;
    }

    /** The calls of one pod. */
    private static final class PodCalls {
        private final SequencedSet<Turn<?>> waiting = new LinkedHashSet<>();
        private int running;
    }

    /** A call that waits for its turn, or has had it. */
    public final class Turn<T> {
        private final String uid;
        private final PodCalls pod;
        private final Supplier<CompletableFuture<T>> call;
        private final CompletableFuture<T> answer = new CompletableFuture<>();
        private boolean begun;

        private Turn(String uid, PodCalls pod, Supplier<CompletableFuture<T>> call) {
            this.uid = uid;
            this.pod = pod;
            this.call = call;
        }

        /** The answer of the call. Cancelling it cancels the call, or gives the turn up; both make room. */
        public CompletableFuture<T> answer() {
            return answer;
        }

        /** Fails with {@code error} if it still waits; a call that has begun goes on. */
        public void abandon(Throwable error) {
            if (!begun) {
                answer.completeExceptionally(error);
            }
        }

        private void begin() {
            begun = true;
            running++;
            pod.running++;
            if (pod.running > 1) {
                extra++;
            }
            CompletableFuture<T> made = Futures.start(call);
            answer.whenComplete((value, error) -> made.cancel(true));
            made.whenComplete((value, error) -> Futures.complete(answer, value, error));
        }

        private void end() {
            if (begun) {
                running--;
                pod.running--;
                if (pod.running > 0) {
                    extra--;
                }
            } else {
                pod.waiting.remove(this);
            }
            if (pod.running == 0 && pod.waiting.isEmpty()) {
                pods.remove(uid, pod);
            }
            next();
        }
    }

    /** Makes {@code call} for the pod {@code uid} when it is its turn. */
    public <T> Turn<T> take(String uid, Supplier<CompletableFuture<T>> call) {
        PodCalls pod = pods.computeIfAbsent(uid, key -> new PodCalls());
        Turn<T> turn = new Turn<>(uid, pod, call);
        pod.waiting.add(turn);
        turn.answer.whenComplete((value, error) -> turn.end());
        next();
        return turn;
    }

    /** Makes {@code call} for the pod {@code uid} when it is its turn; cancelling the result makes room. */
    public <T> CompletableFuture<T> run(String uid, Supplier<CompletableFuture<T>> call) {
        return take(uid, call).answer();
    }

    private void next() {
        // A call that ends while it begins needs no second round.
        if (granting) {
            return;
        }
        granting = true;
        try {
            Optional<Map.Entry<String, PodCalls>> first = first();
            while (first.isPresent()) {
                PodCalls pod = first.get().getValue();
                pods.putLast(first.get().getKey(), pod);
                pod.waiting.removeFirst().begin();
                first = first();
            }
        } finally {
            granting = false;
        }
    }

    private Optional<Map.Entry<String, PodCalls>> first() {
        return pods.entrySet().stream()
                .filter(entry -> mayBegin(entry.getValue()))
                .findFirst();
    }

    private boolean mayBegin(PodCalls pod) {
        return !pod.waiting.isEmpty()
                && running < most
                && (pod.running == 0 || extra < shared && PART * (pod.running - 1) < shared - extra);
    }

    /** How many calls are under way. */
    int running() {
        return running;
    }

    /** How many calls wait. */
    int waiting() {
        return pods.values().stream().mapToInt(pod -> pod.waiting.size()).sum();
    }

    /** How many pods are remembered. */
    int pods() {
        return pods.size();
    }
}
