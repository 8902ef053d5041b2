package io.nodekeeper.agent.shutdown;

import io.nodekeeper.agent.config.ShutdownConfig;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.Failures;
import io.nodekeeper.time.Backoff;
import io.nodekeeper.time.BlockingCalls;
import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.Loop;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delays a shutdown of the machine until the pods have ended. It holds a lock of logind; when a shutdown begins, the node is no
 * longer Ready, takes no more pods, and ends those that it has, group by group from the lowest priority on; then it closes the
 * lock. Pods that are ending already have no more time than the others of their group. A pod that becomes known after its group has
 * begun, because the agent has just started, ends at once. A cancelled shutdown stops that, and the lock is taken again. If the
 * connection is lost, or cannot be made, it is made again; an agent that starts while the machine shuts down goes on with it.
 * Confined to its loop.
 */
public final class ShutdownManager {
    /** What the node's condition says meanwhile. */
    public static final String NOT_READY = "node is shutting down";

    private static final Logger log = LoggerFactory.getLogger(ShutdownManager.class);
    private static final String REASON = "Terminated";
    private static final String MESSAGE = "Pod was terminated in response to imminent node shutdown.";
    private static final Backoff RECONNECT = new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(1));
    /** Of all calls for one connection, the reload of logind's configuration included. */
    private static final Duration DEADLINE = Duration.ofSeconds(15);
    /** How often the manager looks whether pods have ended. */
    private static final Duration LOOK = Duration.ofMillis(250);

    private final ShutdownConfig config;
    private final Logind logind;
    private final BlockingCalls disk;
    private final EndingPods pods;
    private final Consumer<String> event;
    private final Runnable statusNow;
    private final ShutdownMetrics metrics;
    private final Loop loop;
    private Optional<Logind.Session> session = Optional.empty();
    private Optional<Logind.Lock> lock = Optional.empty();
    private boolean shuttingDown;
    /** Counts shutdowns: what belongs to a cancelled one does nothing more. */
    private int round;

    /** The UIDs of the pods that were told to end in this round; as many as the node has. */
    private final Set<String> told = new HashSet<>();

    /** The round whose pods have all ended. */
    private int done = -1;

    private int failures;
    /** The number of the newest connection. */
    private int connections;

    /** The number of the connection that was lost last; 0 for none. */
    private int lost;

    /** The number of the connection of the last signal, which is newer than what was read with that connection. */
    private int signalledBy;

    private boolean stopped;

    /** A new connection with its lock, which there is none of once a shutdown has begun. */
    private record Connected(Logind.Session session, Optional<Logind.Lock> lock, boolean shuttingDown) {}

    /**
     * A manager that is not started yet.
     *
     * @param event records the message of a normal event {@code Shutdown} about the node
     * @param statusNow writes the node's status now
     */
    public ShutdownManager(
            ShutdownConfig config,
            Logind logind,
            BlockingCalls disk,
            EndingPods pods,
            Consumer<String> event,
            Runnable statusNow,
            ShutdownMetrics metrics,
            Loop loop) {
        this.config = config;
        this.logind = logind;
        this.disk = disk;
        this.pods = pods;
        this.event = event;
        this.statusNow = statusNow;
        this.metrics = metrics;
        this.loop = loop;
    }

    /** Begins, if the configuration has groups. */
    public void start() {
        if (!config.groups().isEmpty()) {
            loop.execute(this::connect);
        }
    }

    /** Closes the lock: a shutdown then no longer waits for this agent. */
    public void stop() {
        loop.execute(() -> {
            stopped = true;
            round++;
            disconnect();
        });
    }

    /** Whether the machine is shut down; then the node is not Ready. */
    public boolean isShuttingDown() {
        return shuttingDown;
    }

    private void connect() {
        if (stopped) {
            return;
        }
        int number = ++connections;
        disk.call("logind", DEADLINE, () -> open(number))
                .whenComplete((connected, error) -> loop.execute(() -> connected(number, connected, error)));
    }

    private Connected open(int number) throws IOException {
        Logind.Session open = logind.connect(
                begun -> loop.execute(() -> signalled(number, begun)), () -> loop.execute(() -> lost(number)));
        try {
            // Meanwhile logind gives no lock.
            boolean begun = open.isShuttingDown();
            return new Connected(open, begun ? Optional.empty() : Optional.of(lock(open)), begun);
        } catch (IOException | RuntimeException e) {
            open.close();
            throw e;
        }
    }

    private Logind.Lock lock(Logind.Session open) throws IOException {
        if (open.longestDelay().compareTo(config.total()) < 0) {
            open.extendDelay(config.total());
        }
        Duration longest = open.longestDelay();
        if (longest.compareTo(config.total()) < 0) {
            throw new IOException("a shutdown waits " + GoDuration.format(longest) + " at most, but "
                    + GoDuration.format(config.total()) + " are configured; set InhibitDelayMaxSec of logind");
        }
        return open.delayShutdown();
    }

    private void connected(int number, @Nullable Connected connected, @Nullable Throwable error) {
        if (number != connections) {
            // Another one is being made.
            if (connected != null) {
                close(connected.lock(), Optional.of(connected.session()));
            }
            return;
        }
        if (connected == null) {
            String why = error == null ? "no connection" : Failures.text(error);
            // After the first try logind may still read its new limit.
            if (failures == 1) {
                log.warn("Shutdowns of the machine are not delayed: {}", why);
            } else {
                log.debug("Logind: {}", why);
            }
            loop.schedule(RECONNECT.delay(failures++), this::connect);
            return;
        }
        session = Optional.of(connected.session());
        if (connected.lock().isPresent()) {
            close(lock, Optional.empty());
            lock = connected.lock();
        }
        if (stopped) {
            disconnect();
            return;
        }
        if (number == lost) {
            // While the lock was taken, which does not need the connection.
            lost(number);
            return;
        }
        failures = 0;
        if (lock.isPresent()) {
            log.info("A shutdown of the machine waits up to {} for pods", GoDuration.format(config.total()));
        } else {
            log.warn("The machine is shut down already, and does not wait for pods");
        }
        if (signalledBy == number && connected.shuttingDown() && !shuttingDown) {
            // It was cancelled meanwhile: the next connection has a lock.
            disconnect();
            connect();
            return;
        }
        if (signalledBy != number && connected.shuttingDown() != shuttingDown) {
            turn(connected.shuttingDown());
        }
        if (done == round) {
            // All pods ended while the connection was made.
            release();
        }
    }

    /** The connection of that number has ended, which may not be in use yet. */
    private void lost(int number) {
        lost = number;
        if (!stopped && session.isPresent() && number == connections) {
            log.warn("The connection to logind is lost");
            if (shuttingDown) {
                // The lock does not need the connection, and there is no new one until the shutdown is cancelled.
                close(Optional.empty(), session);
                session = Optional.empty();
            } else {
                disconnect();
            }
            loop.schedule(RECONNECT.delay(failures++), this::connect);
        }
    }

    private void disconnect() {
        Optional<Logind.Lock> held = lock;
        Optional<Logind.Session> open = session;
        lock = Optional.empty();
        session = Optional.empty();
        close(held, open);
    }

    private void close(Optional<Logind.Lock> held, Optional<Logind.Session> open) {
        disk.call("logind", DEADLINE, () -> {
            held.ifPresent(Logind.Lock::close);
            open.ifPresent(Logind.Session::close);
            return "";
        });
    }

    private void signalled(int number, boolean begun) {
        signalledBy = number;
        if (stopped || begun == shuttingDown) {
            return;
        }
        turn(begun);
        if (!begun) {
            // With a new lock, for the next one.
            disconnect();
            connect();
        }
    }

    /** A shutdown has begun or is cancelled. */
    private void turn(boolean begun) {
        shuttingDown = begun;
        boolean cancelled = !begun && done != round;
        round++;
        told.clear();
        pods.refuseAll(begun);
        if (cancelled) {
            metrics.shutdownEnded(loop.clock().wallTime());
        }
        if (begun) {
            metrics.shutdownBegan(loop.clock().wallTime());
            event.accept("Shutdown manager detected shutdown event");
            statusNow.run();
            endGroup(0, round);
        } else {
            event.accept("Shutdown manager detected shutdown cancellation");
        }
    }

    private void endGroup(int index, int of) {
        if (of != round) {
            return;
        }
        if (index == config.groups().size()) {
            log.info("The machine may shut down");
            done = of;
            metrics.shutdownEnded(loop.clock().wallTime());
            release();
            endLatecomers(of);
            return;
        }
        Duration period = config.groups().get(index).period();
        long until = loop.clock().nanoTime() + period.toNanos();
        await(index, of, endPods(index, period), until);
    }

    /** Ends the pods of that group and of those before it which were not told yet; they have {@code most} for it. */
    private List<Pod> endPods(int index, Duration most) {
        List<Pod> ending = pods.left().stream()
                .filter(pod -> groupOf(pod) <= index && !told.contains(pod.uid()))
                .toList();
        for (Pod pod : ending) {
            told.add(pod.uid());
            // Of an outline only the containers know the time that it has.
            boolean has = !pod.isOutline() && pod.grace().compareTo(most) < 0;
            Duration grace = has ? pod.grace() : most;
            pods.end(pod, grace, REASON, MESSAGE);
        }
        return ending;
    }

    /** Ends pods that become known after all groups: the machine may still take long. */
    private void endLatecomers(int of) {
        if (of == round) {
            endPods(config.groups().size(), config.groups().getLast().period());
            loop.schedule(LOOK, () -> endLatecomers(of));
        }
    }

    private void release() {
        Optional<Logind.Lock> held = lock;
        lock = Optional.empty();
        held.ifPresent(open -> disk.call("logind", DEADLINE, () -> {
            open.close();
            return "";
        }));
    }

    /** A group without pods takes no time, but the first one waits until the pods are known. */
    private void await(int index, int of, List<Pod> ending, long until) {
        if (of != round) {
            return;
        }
        long remaining = until - loop.clock().nanoTime();
        boolean over = remaining <= 0;
        boolean known = index > 0 || pods.areKnown();
        List<Pod> late = over ? List.of() : endPods(index, Duration.ofNanos(remaining));
        List<Pod> left = Stream.concat(ending.stream(), late.stream())
                .filter(pods::isEnding)
                .toList();
        if (left.isEmpty() && known || over) {
            if (!known) {
                log.warn("Pods are still not known, so not all can be ended before the shutdown");
            }
            if (!left.isEmpty()) {
                Set<String> names = new HashSet<>();
                left.forEach(pod -> names.add(pod.fullName()));
                log.warn("Pods have not ended in time before the shutdown: {}", names);
            }
            endGroup(index + 1, of);
        } else {
            loop.schedule(LOOK, () -> await(index, of, left, until));
        }
    }

    /** The group with the highest priority that is not above the pod's; the first one for pods below all of them. */
    private int groupOf(Pod pod) {
        int found = 0;
        for (int i = 0; i < config.groups().size(); i++) {
            if (config.groups().get(i).priority() <= pod.priority()) {
                found = i;
            }
        }
        return found;
    }
}
