package io.nodekeeper.controller.taints;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.PatchType;
import io.nodekeeper.client.workqueue.KeyedJobs;
import io.nodekeeper.client.workqueue.PriorityWorkQueue;
import io.nodekeeper.controller.heartbeats.NodeHealth;
import io.nodekeeper.time.Backoff;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the beta labels for operating system and architecture equal to the stable ones, for clients that still select
 * nodes by them. At most one write per node at a time, repeated until no longer needed. Confined to the loop.
 */
public final class Labels {
    private static final Logger log = LoggerFactory.getLogger(Labels.class);
    /** The stable label and the beta label that copies it, as in Kubernetes. */
    private static final Map<String, String> FOLLOWERS = Map.of(
            "kubernetes.io/os", "beta.kubernetes.io/os",
            "kubernetes.io/arch", "beta.kubernetes.io/arch");
    /**
     * The pauses between attempts: a fast first retry, then seldom enough not to load a server in trouble; no verdict
     * depends on these labels.
     */
    private static final Backoff RETRY = new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(1));

    /** The write of one node's labels. */
    private final class Work implements KeyedJobs.Job {
        private final NodeHealth health;
        private Map<String, String> needed;
        private boolean gone;
        private int failures;

        private Work(NodeHealth health, Map<String, String> needed) {
            this.health = health;
            this.needed = needed;
        }

        @Override
        public CompletionStage<KeyedJobs.Next> run() {
            Map<String, String> sent = needed;
            if (gone || sent.isEmpty() || workQueue.isClosed()) {
                return KeyedJobs.Next.done();
            }
            // The UID is immutable, so a recreated node of that name refuses the patch.
            JsonObject patch = JsonObject.EMPTY.with(
                    "metadata", JsonObject.EMPTY.with("uid", health.uid()).with("labels", JsonObject.ofStrings(sent)));
            return client.patch(ResourceType.NODES, "", health.name(), "", PatchType.STRATEGIC, patch)
                    .handle((written, error) -> error == null ? wrote(sent) : failed(error));
        }

        private KeyedJobs.Next wrote(Map<String, String> sent) {
            log.info("Node {}: set labels {}", health.name(), sent);
            failures = 0;
            // The watch has not sent this write yet: what is needed is still what was sent, unless that changed.
            return needed.equals(sent) ? new KeyedJobs.Next.Done() : new KeyedJobs.Next.Again(Duration.ZERO);
        }

        private KeyedJobs.Next failed(Throwable error) {
            if (Failures.isCode(error, 404)) {
                return new KeyedJobs.Next.Done();
            }
            Duration wait = RETRY.delay(failures++);
            log.warn("Node {}: setting labels failed: {}; retrying in {}", health.name(), Failures.text(error), wait);
            return new KeyedJobs.Next.Again(wait);
        }
    }

    private final KubeClient client;
    private final PriorityWorkQueue workQueue;
    /** One for each node whose labels must be written. */
    private final KeyedJobs<NodeHealth, Work> jobs;

    public Labels(KubeClient client, PriorityWorkQueue workQueue) {
        this.client = client;
        this.workQueue = workQueue;
        this.jobs = new KeyedJobs<>("Labels", workQueue, PriorityWorkQueue.Priority.BACKGROUND, client.loop());
    }

    /** The number of nodes whose labels must be written. */
    public int size() {
        return jobs.size();
    }

    /** The labels to set, with their values. */
    static Map<String, String> needed(Node node) {
        JsonObject labels = node.metadata().object("labels");
        Map<String, String> needed = new HashMap<>();
        FOLLOWERS.forEach((truth, follower) -> {
            if (labels.has(truth)
                    && !(labels.has(follower) && labels.text(follower).equals(labels.text(truth)))) {
                needed.put(follower, labels.text(truth));
            }
        });
        return needed;
    }

    /** This is the newest state of a known node. */
    public void seen(NodeHealth health, Node node) {
        Map<String, String> needed = needed(node);
        jobs.find(health).ifPresentOrElse(work -> work.needed = needed, () -> {
            if (!needed.isEmpty()) {
                jobs.submit(health, new Work(health, needed));
            }
        });
    }

    /** The node is gone, or another node has its name now. */
    public void gone(NodeHealth health) {
        jobs.find(health).ifPresent(work -> work.gone = true);
    }
}
