package io.nodekeeper.agent.pleg;

import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.Container;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.ContainerStatus;
import io.nodekeeper.cri.PodSandbox;
import io.nodekeeper.cri.PodSandboxStatus;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.Clock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Inspects as Kubernetes does: pod after pod and call after call, each with its own deadline; the relist ends
 * when all have ended. Only then does the cache count as fresh, for all pods at once. Confined to its loop.
 */
final class SerialInspector implements Inspector {
    private static final Logger log = LoggerFactory.getLogger(SerialInspector.class);

    private final ContainerRuntime runtime;
    private final Clock clock;
    private final PlegConfig config;
    private final PodRecords records;
    private final PodStatusCache cache;
    private final Runnable turn;
    private final Set<String> failedBefore = new LinkedHashSet<>();
    private CompletableFuture<?> call = new CompletableFuture<>();
    private boolean stopped;

    /** {@code turn} runs after each pod. */
    SerialInspector(
            ContainerRuntime runtime,
            Clock clock,
            PlegConfig config,
            PodRecords records,
            PodStatusCache cache,
            Runnable turn) {
        this.runtime = runtime;
        this.clock = clock;
        this.config = config;
        this.records = records;
        this.cache = cache;
        this.turn = turn;
    }

    @Override
    public CompletableFuture<Void> listed(List<String> gone, long began) {
        Queue<PodRecord> due = new ArrayDeque<>();
        records.all().stream().filter(PodRecord::isDue).forEach(due::add);
        if (config.mode() == PlegConfig.Mode.SERIAL_TWICE) {
            failedBefore.stream().flatMap(uid -> records.get(uid).stream()).forEach(due::add);
        }
        failedBefore.clear();
        CompletableFuture<Void> done = new CompletableFuture<>();
        next(due, done);
        return done.thenRun(() -> {
            records.all().forEach(record -> cache.observed(record.uid(), began));
            cache.listed(began);
        });
    }

    @Override
    public void stop() {
        stopped = true;
        call.cancel(true);
    }

    private void next(Queue<PodRecord> due, CompletableFuture<Void> done) {
        PodRecord record = due.poll();
        // A pod that is here for a second time may have succeeded the first time.
        while (record != null && !record.isDue()) {
            record = due.poll();
        }
        if (record == null || stopped) {
            done.complete(null);
        } else {
            inspect(record, due, done);
        }
    }

    private void inspect(PodRecord record, Queue<PodRecord> due, CompletableFuture<Void> done) {
        long began = clock.nanoTime();
        fetch(record.ref()).whenComplete((status, error) -> {
            if (error == null) {
                records.inspected(record, record.current(), status, began);
            } else {
                log.debug("inspection of pod {} failed", record.ref(), error);
                failedBefore.add(record.uid());
                records.failed(record, Failures.cause(error), began);
            }
            turn.run();
            next(due, done);
        });
    }

    private CompletableFuture<PodStatus> fetch(PodRef pod) {
        Optional<String> uid = Optional.of(pod.uid());
        return call(new RuntimeCall.ListSandboxes(uid))
                .thenCompose(listed -> each(
                        listed.stream()
                                .sorted(ListedPod.NEWEST_FIRST)
                                .map(PodSandbox::id)
                                .iterator(),
                        RuntimeCall.GetSandbox::new,
                        new ArrayList<PodSandboxStatus>()))
                .thenCompose(sandboxes -> call(new RuntimeCall.ListContainers(uid))
                        .thenCompose(listed -> each(
                                        listed.stream().map(Container::id).iterator(),
                                        RuntimeCall.GetContainer::new,
                                        new ArrayList<ContainerStatus>())
                                .thenApply(containers -> PodStatus.of(pod, sandboxes, containers, listed))));
    }

    private <T> CompletableFuture<List<T>> each(
            Iterator<String> ids, Function<String, RuntimeCall<T>> question, List<T> answers) {
        if (!ids.hasNext()) {
            return CompletableFuture.completedFuture(List.copyOf(answers));
        }
        return CallErrors.unlessNotFound(call(question.apply(ids.next()))).thenCompose(answer -> {
            answer.ifPresent(answers::add);
            return each(ids, question, answers);
        });
    }

    private <T> CompletableFuture<T> call(RuntimeCall<T> question) {
        CompletableFuture<T> answer = runtime.call(question, config.callDeadline());
        call = answer;
        return answer;
    }
}
