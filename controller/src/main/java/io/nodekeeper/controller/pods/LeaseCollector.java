package io.nodekeeper.controller.pods;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.workqueue.KeyedJobs;
import io.nodekeeper.client.workqueue.PriorityWorkQueue;
import io.nodekeeper.controller.observer.CanaryLease;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes leases of nodes that no longer exist. A lease is an orphan if it had no event for an hour, if its node does
 * not exist and the lease does not change in two live reads a minute apart, and if it is a node's lease: its holder has
 * its name, and it is not a canary. Confined to the loop.
 */
final class LeaseCollector {

    private static final Logger log = LoggerFactory.getLogger(LeaseCollector.class);
    /** An hour: longer than a reboot, so that a node that is only late has returned. */
    private static final long QUARANTINE = Duration.ofHours(1).toNanos();
    /** Longer than the 40 s for which a kubelet's lease is valid (Kubernetes default). */
    private static final long BETWEEN_READS = Duration.ofSeconds(60).toNanos();

    /**
     * A lease without a node: the time of its last event or of the answer to its last read, monotonic, and its version at that
     * read.
     */
    private record Suspect(long since, String version) {
        boolean isDue(long now) {
            return now - since >= (version.isEmpty() ? QUARANTINE : BETWEEN_READS);
        }
    }

    private final KubeClient client;
    private final NodeReads reads;
    private final PodReport report;
    /** Leases without a node, by name; at most as many as there are leases. */
    private final Map<String, Suspect> suspects = new LinkedHashMap<>();
    /** At most one job for each lease. */
    private final KeyedJobs<String, Check> jobs;

    LeaseCollector(KubeClient client, PriorityWorkQueue workQueue, NodeReads reads, PodReport report) {
        this.client = client;
        this.reads = reads;
        this.report = report;
        this.jobs =
                new KeyedJobs<>("Check of the lease", workQueue, PriorityWorkQueue.Priority.COLLECTION, client.loop());
    }

    /** A lease of that name has, or may have, no node. */
    void seen(String name) {
        suspects.put(name, new Suspect(now(), ""));
    }

    /** A listed lease of that name has no node; if that is already known, the earlier time stays. */
    void listed(String name) {
        suspects.putIfAbsent(name, new Suspect(now(), ""));
    }

    /** The lease was deleted, or its node exists. */
    void clear(String name) {
        suspects.remove(name);
    }

    /** Checks the leases that are due; each has at most one check at a time. */
    void run() {
        long now = now();
        for (Map.Entry<String, Suspect> entry : List.copyOf(suspects.entrySet())) {
            if (entry.getValue().isDue(now)) {
                jobs.submit(entry.getKey(), new Check(entry.getKey(), entry.getValue()));
            }
        }
    }

    /** The number of leases without a node, and of their checks that wait or run. */
    Map<String, Integer> sizes() {
        return Map.of("suspects", suspects.size(), "lease checks", jobs.size());
    }

    /** The check of one lease: reads the lease and its node live. */
    private final class Check implements KeyedJobs.Job {
        private final String name;
        private final Suspect suspect;

        private Check(String name, Suspect suspect) {
            this.name = name;
            this.suspect = suspect;
        }

        @Override
        public CompletionStage<KeyedJobs.Next> run() {
            if (suspects.get(name) != suspect) {
                return KeyedJobs.Next.done();
            }
            CompletableFuture<JsonObject> lease = client.get(ResourceType.LEASES, Lease.NODE_NAMESPACE, name);
            return reads.fresh(name)
                    .thenCombine(
                            lease,
                            (node, json) -> node.isPresent() ? Optional.<Lease>empty() : Optional.of(new Lease(json)))
                    .handle(this::checked)
                    .thenCompose(next -> next)
                    .thenApply(over -> new KeyedJobs.Next.Done());
        }

        private CompletableFuture<Void> checked(@Nullable Optional<Lease> orphan, @Nullable Throwable error) {
            if (suspects.get(name) != suspect) {
                // There was an event in the meantime.
                return CompletableFuture.completedFuture(null);
            }
            if (error != null) {
                failed(name, error);
            } else if (orphan == null || orphan.isEmpty() || !isNodeLease(orphan.get())) {
                suspects.remove(name);
            } else if (suspect.version.equals(orphan.get().resourceVersion())) {
                return delete(orphan.get());
            } else {
                suspects.put(name, new Suspect(now(), orphan.get().resourceVersion()));
            }
            return CompletableFuture.completedFuture(null);
        }
    }

    private long now() {
        return client.loop().clock().nanoTime();
    }

    private static boolean isNodeLease(Lease lease) {
        return lease.holderIdentity().equals(lease.name()) && !lease.labels().containsKey(CanaryLease.LABEL);
    }

    private CompletableFuture<Void> delete(Lease lease) {
        JsonObject preconditions =
                JsonObject.EMPTY.with("uid", lease.uid()).with("resourceVersion", lease.resourceVersion());
        return client.delete(
                        ResourceType.LEASES,
                        Lease.NODE_NAMESPACE,
                        lease.name(),
                        JsonObject.EMPTY.with("preconditions", preconditions))
                .handle((deleted, error) -> {
                    if (error != null) {
                        failed(lease.name(), error);
                        return null;
                    }
                    suspects.remove(lease.name());
                    String text = "Lease " + lease.name() + " was deleted: its node no longer exists";
                    log.info("{}", text);
                    report.decided(
                            lease.name(),
                            "",
                            "OrphanLeaseDeleted",
                            text,
                            JsonObject.EMPTY.with("renewTime", lease.spec().text("renewTime")));
                    return null;
                });
    }

    private void failed(String name, Throwable error) {
        if (Failures.isCode(error, 404)) {
            suspects.remove(name);
        } else {
            log.info("Lease {} without a node is not deleted yet: {}", name, Failures.text(error));
        }
    }
}
