package io.nodekeeper.controller.canary;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.heartbeats.Heartbeats;
import io.nodekeeper.controller.heartbeats.ListedParts;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.controller.heartbeats.NodeStates;
import io.nodekeeper.controller.heartbeats.Signal;
import io.nodekeeper.controller.heartbeats.Versions;
import io.nodekeeper.controller.observer.CanaryLease;
import io.nodekeeper.controller.observer.Now;
import io.nodekeeper.controller.observer.ObserverGuard;
import io.nodekeeper.controller.observer.OwnWrites;
import io.nodekeeper.controller.observer.ProofKind;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lists the leases while the controller is blind, one page and one list at a time, so that verdicts do not depend on
 * the watch. A list proves sight of everything stored before it began, if writes are known to succeed: the list has a
 * canary that was acknowledged in time, or shows that at least half of the nodes have recently renewed their leases, or
 * this process wrote another lease in time before the list. If lists are refused, it reads the canary and a sample of
 * the leases one by one. Confined to the loop.
 */
final class LeasePolls {
    private static final Logger log = LoggerFactory.getLogger(LeasePolls.class);
    /** Leases per page, as in client-go. */
    private static final int PAGE = 500;
    /**
     * Of one page: a server that is so slow that the watch is late may take longer for five hundred leases than for a single call.
     * Shorter than that of other lists, so that a page that hangs is soon requested again.
     */
    private static final Duration PAGE_TIMEOUT = Duration.ofSeconds(10);
    /** The most leases to list per second: 10,000 nodes are listed every 4 s. */
    private static final int PER_SECOND = 2_500;
    /** Leases in a sample: if half of 16 are renewed, writes succeed. */
    private static final int SAMPLE = 16;

    private final KubeClient pages;
    private final KubeClient single;
    private final ObserverGuard guard;
    private final Canary canary;
    private final Heartbeats heartbeats;
    private final NodeStates states;
    private final RandomGenerator random;
    private final OwnWrites writes;
    private final Now now;
    /** Called when waiting verdicts should check for a proof. */
    private final Runnable checkWaiting;

    private final long period;
    /**
     * A node with a heartbeat within this time counts as renewing: two of the usual four renewals in a grace period.
     */
    private final long recent;

    private boolean underWay;
    private boolean stopped;
    private long nextAt;

    LeasePolls(
            KubeClient client,
            ControllerConfig config,
            ObserverGuard guard,
            Canary canary,
            Heartbeats heartbeats,
            NodeStates states,
            RandomGenerator random,
            Now now,
            Runnable checkWaiting) {
        this.checkWaiting = checkWaiting;
        this.pages = client.withTimeout(PAGE_TIMEOUT).keepingOfItems(ListedParts::ofLease);
        this.single = client.withTimeout(ControllerConfig.CALL_TIMEOUT);
        this.guard = guard;
        this.canary = canary;
        this.heartbeats = heartbeats;
        this.states = states;
        this.random = random;
        this.writes = new OwnWrites(config.canaryTolerance().toNanos());
        this.now = now;
        this.period = config.canaryTolerance().toNanos() * 2 / 3;
        this.recent = config.nodeMonitorGracePeriod().dividedBy(2).toNanos();
    }

    /** A period of the canary has passed. */
    void ticked() {
        if (!stopped && !underWay && guard.isBlind(now.nanos()) && now.nanos() >= nextAt) {
            underWay = true;
            long startedAt = now.nanos();
            List<Lease> leases = new ArrayList<>();
            page("", leases)
                    .exceptionallyCompose(error -> Failures.cause(error) instanceof ApiException
                            ? sample(leases)
                            : CompletableFuture.failedFuture(Failures.cause(error)))
                    .thenRun(() -> read(leases, startedAt))
                    .whenComplete((done, error) -> {
                        underWay = false;
                        nextAt = startedAt + interval(leases.size());
                        if (error != null) {
                            log.debug("reading leases failed: {}", Failures.text(error));
                        }
                    });
        }
    }

    /** This process wrote another lease; see {@link OwnWrites#acknowledged}. */
    void wrote(long sentAt, long acknowledgedAt, long usual) {
        writes.acknowledged(sentAt, acknowledgedAt, usual);
    }

    /** The number of remembered writes of this process to other leases. */
    int size() {
        return writes.size();
    }

    void stop() {
        stopped = true;
    }

    private long interval(int leases) {
        return Math.max(period, Duration.ofSeconds(1).toNanos() * leases / PER_SECOND);
    }

    private CompletableFuture<Void> page(String next, List<Lease> leases) {
        String query = "limit=" + PAGE + (next.isEmpty() ? "" : "&continue=" + next);
        return pages.list(ResourceType.LEASES, Lease.NODE_NAMESPACE, query).thenCompose(list -> {
            list.array("items").objects().map(Lease::new).forEach(leases::add);
            String more = list.object("metadata").text("continue");
            return more.isEmpty() || stopped ? CompletableFuture.completedFuture(null) : page(encoded(more), leases);
        });
    }

    private static String encoded(String token) {
        return URLEncoder.encode(token, StandardCharsets.UTF_8);
    }

    private CompletableFuture<Void> sample(List<Lease> leases) {
        leases.clear();
        List<String> names = heartbeats.sample(random, SAMPLE);
        names.add(CanaryLease.NAME);
        return CompletableFuture.allOf(names.stream()
                        .map(name -> single.get(ResourceType.LEASES, Lease.NODE_NAMESPACE, name)
                                .thenAccept(lease -> leases.add(new Lease(lease)))
                                .exceptionally(error -> {
                                    log.debug("lease {}: {}", name, Failures.text(error));
                                    return null;
                                }))
                        .toArray(CompletableFuture[]::new))
                .thenRun(() -> {
                    if (leases.isEmpty()) {
                        throw new IllegalStateException("none of " + names.size() + " leases could be read");
                    }
                });
    }

    private void read(List<Lease> leases, long startedAt) {
        if (stopped) {
            return;
        }
        List<Lease> others = new ArrayList<>(leases.size());
        boolean renewing = isHalfRenewing(leases);
        // The proof first, so that the nodes' clock runs again before heartbeats are recorded.
        for (Lease lease : leases) {
            if (!canary.saw(lease, ProofKind.LIST)) {
                others.add(lease);
            }
        }
        long interval = interval(leases.size());
        if (renewing) {
            guard.renewalsRead(startedAt, interval, now.nanos());
        }
        // These come second: the nodes' renewals say more about the nodes' writes than another lease does.
        long usual = Math.max(interval, writes.period());
        writes.takeUntil(startedAt).forEach(sentAt -> guard.otherWrite(sentAt, usual, now.nanos()));
        // Watch events that arrived meanwhile are newer.
        others.forEach(lease -> states.saw(lease, Heartbeats.Source.LATE));
        canary.settle();
        checkWaiting.run();
    }

    private boolean isHalfRenewing(List<Lease> leases) {
        int voters = 0;
        int renewing = 0;
        for (Lease lease : leases) {
            NodeHealth health = heartbeats.find(lease.name()).orElse(null);
            if (health == null || !health.hasLease() || health.ready().equals(Condition.UNKNOWN)) {
                continue;
            }
            voters++;
            boolean renewed = Versions.isNewer(Versions.number(lease.resourceVersion()), health.leaseVersion())
                    || health.signal() == Signal.LEASE && now.nanos() - health.arrivedAt() <= recent;
            renewing += renewed ? 1 : 0;
        }
        return voters > 0 && 2 * renewing >= voters;
    }
}
