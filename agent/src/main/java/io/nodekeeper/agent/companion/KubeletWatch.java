package io.nodekeeper.agent.companion;

import io.nodekeeper.api.Failures;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.Transport;
import io.nodekeeper.client.TransportException;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Periodic;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the kubelet of this machine whether it is healthy, and reads its metrics where that is allowed. Confined to its loop,
 * except {@link #start} and {@link #stop}.
 */
final class KubeletWatch {
    private static final Logger log = LoggerFactory.getLogger(KubeletWatch.class);
    /** Kubernetes' period of liveness probes: the kubelet answers from memory. */
    static final Duration HEALTH_PERIOD = Duration.ofSeconds(10);
    /**
     * The kubelet's metrics are up to some megabytes, so they are not read more often than a monitoring system does. A stall
     * is noticed 15 s late at most, of the 150 s that are left then.
     */
    static final Duration METRICS_PERIOD = Duration.ofSeconds(15);
    /** A healthy kubelet answers in milliseconds; less than the shorter period, so that calls do not accumulate. */
    private static final Duration DEADLINE = Duration.ofSeconds(5);
    /** One failed health check is not enough to accuse a busy kubelet. */
    private static final int ACCUSED = 2;
    /** Spreads the readings of nodes that start together. */
    private static final double JITTER = 0.1;

    private final Transport health;
    private final Optional<Transport> metrics;
    private final Loop loop;
    private final RandomGenerator random;
    private final List<Periodic> loops = new ArrayList<>();
    private boolean answered;
    /** The health checks that failed since the last one that did not, and when the first of them began, ns of the loop's clock. */
    private int failures;

    private long failingSince;
    private Optional<KubeletMetrics> lastMetrics = Optional.empty();
    private Instant scrapedAt = Instant.EPOCH;
    private String metricsError = "";

    /**
     * A watch that is not started yet.
     *
     * @param health to the kubelet's health check, which needs no credentials
     * @param metrics to the kubelet's metrics; empty if they are not to be read
     */
    KubeletWatch(Transport health, Optional<Transport> metrics, Loop loop, RandomGenerator random) {
        this.health = health;
        this.metrics = metrics;
        this.loop = loop;
        this.random = random;
    }

    void start() {
        loop.execute(() -> {
            loops.add(Periodic.start("kubelet health", loop, HEALTH_PERIOD, JITTER, random, this::askHealth));
            metrics.ifPresent(transport -> loops.add(
                    Periodic.start("kubelet metrics", loop, METRICS_PERIOD, JITTER, random, () -> scrape(transport))));
        });
    }

    void stop() {
        loop.execute(() -> loops.forEach(Periodic::stop));
    }

    /** Whether the kubelet has ever answered one of the two. */
    boolean observed() {
        return answered || lastMetrics.isPresent();
    }

    /** Whether the kubelet answers its health checks, of which it may miss one. */
    boolean runs() {
        return answered && failures < ACCUSED;
    }

    /**
     * How long ago the first of at least {@link #ACCUSED} health checks in a row began that all failed; empty if they do not, or if
     * none ever succeeded: the port may be another.
     */
    Optional<Duration> silence() {
        return failures >= ACCUSED
                ? Optional.of(Duration.ofNanos(loop.clock().nanoTime() - failingSince))
                : Optional.empty();
    }

    /** The last scrape; empty if none succeeded, or the newest failed. */
    Optional<KubeletMetrics> metrics() {
        return metricsError.isEmpty() ? lastMetrics : Optional.empty();
    }

    /** When {@link #metrics} were read. */
    Instant scrapedAt() {
        return scrapedAt;
    }

    private CompletableFuture<?> askHealth() {
        long asked = loop.clock().nanoTime();
        return read(health, "/healthz", line -> true).handle((done, error) -> {
            if (error == null) {
                if (failures > 0) {
                    log.info("The kubelet answers its health check again");
                }
                answered = true;
                failures = 0;
            } else if (answered && failures++ == 0) {
                log.warn("The kubelet's health check failed: {}", Failures.text(error));
                failingSince = asked;
            }
            return done;
        });
    }

    private CompletableFuture<?> scrape(Transport transport) {
        Instant asked = loop.clock().wallTime();
        KubeletMetrics.Reader reader = new KubeletMetrics.Reader();
        return read(transport, "/metrics", reader::line).handle((done, error) -> {
            String failure = error == null ? "" : Failures.text(error);
            if (error == null) {
                KubeletMetrics read = reader.metrics();
                lastMetrics = Optional.of(lastMetrics.map(read::since).orElse(read));
                scrapedAt = asked;
            } else if (!failure.equals(metricsError)) {
                log.warn("The kubelet's metrics cannot be read: {}", failure);
            }
            metricsError = failure;
            return done;
        });
    }

    /** Reads the lines at {@code path} until {@code lines} returns false; the result completes on the loop. */
    private CompletableFuture<Void> read(Transport transport, String path, Predicate<byte[]> lines) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        Transport.Stream stream = transport.open(Call.get(path), new Transport.StreamHandler() {
            @Override
            public void onOpen() {
                // The lines follow.
            }

            @Override
            public void onLine(byte[] line) {
                if (!end.isDone() && !lines.test(line)) {
                    end.completeExceptionally(new TransportException(
                            path + " of the kubelet is longer than " + KubeletMetrics.MOST_BYTES + " bytes", null));
                }
            }

            @Override
            public void onEnd(Optional<Reply> refusal, Optional<TransportException> why) {
                if (why.isPresent()) {
                    end.completeExceptionally(why.get());
                } else if (refusal.isPresent()) {
                    end.completeExceptionally(new TransportException(
                            path + " of the kubelet was answered with status "
                                    + refusal.get().status(),
                            null));
                } else {
                    end.complete(null);
                }
            }
        });
        return Deadlines.within(loop, DEADLINE, path + " of the kubelet", end)
                .whenComplete((done, error) -> stream.cancel())
                .<Void>handleAsync(
                        (done, error) -> {
                            if (error != null) {
                                throw new CompletionException(Failures.cause(error));
                            }
                            return null;
                        },
                        loop);
    }
}
