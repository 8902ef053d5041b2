package io.nodekeeper.agent.pleg;

import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.Loop;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Inspects pods in parallel, and concurrently with lists: a list never waits for an inspection.
 *
 * <p>A pod has one inspection at a time. A limited number run at once. One that takes longer than the configured patience
 * continues until its deadline but no longer counts towards that limit, so pods that begin to hang delay the others by that
 * patience at most. A pod whose inspection times out is quarantined. Quarantined pods are retried under a lower limit, which
 * leaves room for healthy pods. An inspection that fails otherwise is repeated after the next list.
 *
 * <p>Confined to its loop.
 */
final class ParallelInspector implements Inspector {
    private static final Logger log = LoggerFactory.getLogger(ParallelInspector.class);

    private final ContainerRuntime runtime;
    private final Loop loop;
    private final PlegConfig config;
    private final PodRecords records;
    private final PodStatusCache cache;
    private final Quarantine quarantine;
    private final Runnable turn;
    private final Map<String, Flight> flights = new HashMap<>();
    private final Set<String> waiting = new LinkedHashSet<>();
    private final Set<String> retries = new LinkedHashSet<>();
    private int places;
    private int retryPlaces;
    private boolean stopped;

    /** {@code turn} runs after each inspection. */
    ParallelInspector(
            ContainerRuntime runtime,
            Loop loop,
            PlegConfig config,
            PodRecords records,
            PodStatusCache cache,
            Quarantine quarantine,
            Runnable turn) {
        this.runtime = runtime;
        this.loop = loop;
        this.config = config;
        this.records = records;
        this.cache = cache;
        this.quarantine = quarantine;
        this.turn = turn;
    }

    /** An inspection in progress, which started when {@code listed} was current. */
    private final class Flight {
        private final PodRecord record;
        private final ListedPod listed;
        /** When that list began: of what was made later, the inspection may know nothing. */
        private final long listedAt;

        private final long began = loop.clock().nanoTime();
        private final boolean retry;
        private final PodInspection inspection;
        private Loop.@Nullable Timer timer;
        private boolean placed = true;

        private Flight(PodRecord record, boolean retry) {
            this.record = record;
            this.listed = record.current();
            this.listedAt = record.listedAt();
            this.retry = retry;
            this.inspection = PodInspection.start(runtime, record.ref(), listed, config.podDeadline());
        }

        private void makeRoom() {
            if (placed) {
                placed = false;
                places--;
                retryPlaces -= retry ? 1 : 0;
            }
            if (timer != null) {
                timer.cancel();
            }
        }
    }

    @Override
    public CompletableFuture<Void> listed(List<String> gone, long began) {
        gone.forEach(this::gone);
        records.all().forEach(record -> consider(record, began));
        cache.listed(began);
        dispatch();
        return CompletableFuture.completedFuture(null);
    }

    /** Records contain a list of this pod alone, which began at {@code began}. */
    void listedAlone(PodRecord record, long began) {
        consider(record, began);
        dispatch();
    }

    /** A list of this pod alone, which began at {@code began}, did not show it; it is no longer in the records. */
    void absentAlone(String uid, long began) {
        gone(uid);
        cache.absent(uid, began);
        dispatch();
    }

    /** The pod is no longer in the records. */
    void gone(String uid) {
        waiting.remove(uid);
        retries.remove(uid);
        quarantine.release(uid);
        Flight flight = flights.remove(uid);
        if (flight != null) {
            flight.makeRoom();
            flight.inspection.cancel();
        }
    }

    @Override
    public void stop() {
        stopped = true;
        List.copyOf(flights.keySet()).forEach(this::gone);
    }

    private void consider(PodRecord record, long listedAt) {
        String uid = record.uid();
        if (flights.containsKey(uid)) {
            return;
        }
        if (!record.isDue()) {
            waiting.remove(uid);
            cache.observed(uid, listedAt);
            return;
        }
        quarantine.reconsider(uid, record.current());
        if (!quarantine.holds(uid)) {
            retries.remove(uid);
            waiting.add(uid);
        } else if (quarantine.mayTry(uid, loop.clock().nanoTime())) {
            retries.add(uid);
        }
    }

    private void dispatch() {
        while (!stopped && places < config.parallel() && !waiting.isEmpty()) {
            begin(takeFirst(waiting), false);
        }
        while (!stopped && places < config.parallel() && retryPlaces < config.parallelRetries() && !retries.isEmpty()) {
            begin(takeFirst(retries), true);
        }
    }

    private void begin(String uid, boolean retry) {
        records.get(uid).ifPresent(record -> {
            places++;
            retryPlaces += retry ? 1 : 0;
            Flight flight = new Flight(record, retry);
            flights.put(uid, flight);
            flight.timer = loop.schedule(config.patience(), () -> {
                flight.makeRoom();
                dispatch();
            });
            flight.inspection.status().whenComplete((status, error) -> {
                if (flights.remove(uid, flight)) {
                    flight.makeRoom();
                    land(flight, status, error);
                    turn.run();
                    dispatch();
                }
            });
        });
    }

    private void land(Flight flight, PodStatus status, @Nullable Throwable error) {
        PodRecord record = flight.record;
        if (error != null) {
            failed(flight, Failures.cause(error));
            return;
        }
        if (quarantine.holds(record.uid())) {
            log.info("Pod {} can be inspected again", record.ref());
            quarantine.release(record.uid());
            quarantine.hastenAll(loop.clock().nanoTime());
        }
        records.inspected(record, flight.listed, status, flight.listedAt);
        if (record.isDue()) {
            waiting.add(record.uid());
        } else {
            // A list that came during the inspection showed the same.
            cache.observed(record.uid(), record.listedAt());
        }
    }

    private void failed(Flight flight, Throwable error) {
        PodRecord record = flight.record;
        if (!CallErrors.isTimeout(error)) {
            quarantine.release(record.uid());
            log.debug("inspection of pod {} failed", record.ref(), error);
        } else {
            RuntimeCall<?> call = flight.inspection.calls().culprit().orElseThrow();
            StuckPod stuck = quarantine.timedOut(
                    record.ref(), call, flight.began, loop.clock().nanoTime());
            if (stuck.tries() == 1) {
                log.warn("Pod {} is stuck: {}", record.ref(), error.getMessage());
            } else {
                log.debug("pod {} is still stuck after {} tries: {}", record.ref(), stuck.tries(), error.getMessage());
            }
        }
        records.failed(record, error, flight.began);
    }

    private static String takeFirst(Set<String> uids) {
        Iterator<String> first = uids.iterator();
        String uid = first.next();
        first.remove();
        return uid;
    }
}
