package io.nodekeeper.agent.status;

import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.client.events.EventRecorder;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Detects that another machine reports under this node's name, by the boot id in the Node's {@code nodeInfo}. A kernel makes
 * a new boot id at each boot, so a boot id that is not this machine's belongs to an earlier boot or to another machine. It
 * belongs to another machine if it appears after this machine's own, or if it stays although the kubelet here runs and somebody
 * writes new heartbeats: without those the kubelet here may be unable to write. A Node that
 * is not newer than one with this machine's boot id, as from a server that lags, is ignored. Times are by the monotonic clock in
 * ns. Not thread-safe.
 */
public final class DuplicateNode {
    /** The type of the condition. */
    public static final String TYPE = "DuplicateNode";
    /**
     * A kubelet that runs replaces the boot id of an earlier boot within one status period (10 s); six of them, and as many for
     * an API server that is slow. If nothing else changes, the other kubelet's next heartbeat takes up to five minutes.
     */
    static final Duration PATIENCE = Duration.ofMinutes(2);
    /** Two kubelets replace each other's boot id within seconds; without the other one for this time, it is gone. */
    static final Duration CALM = Duration.ofMinutes(10);

    private static final long NO_VERSION = -1;

    private final String bootId;
    private boolean ownSeen;
    private long ownVersion = NO_VERSION;
    private @Nullable Long foreignSince;
    /** The heartbeat of the Node when {@link #foreignSince} began. */
    private String firstHeartbeat = "";

    private @Nullable Long provenAt;
    private String foreign = "";
    private boolean known;
    private boolean reported;

    /** A detector on the machine whose kernel has {@code bootId}; without one it reports nothing. */
    public DuplicateNode(String bootId) {
        this.bootId = bootId;
    }

    /** Takes the Node as it is at {@code now}; {@code kubeletRuns} is whether the kubelet of this machine answers. */
    public void observe(Node node, boolean kubeletRuns, long now) {
        String stored = node.status().object("nodeInfo").text("bootID");
        if (bootId.isEmpty() || stored.isEmpty()) {
            return;
        }
        known = true;
        long version = version(node);
        if (stored.equals(bootId)) {
            ownSeen = true;
            ownVersion = Math.max(ownVersion, version);
            foreignSince = null;
        } else if (version == NO_VERSION || version > ownVersion) {
            foreign = stored;
            if (!kubeletRuns) {
                foreignSince = null;
            } else if (foreignSince == null) {
                foreignSince = now;
                firstHeartbeat = heartbeat(node);
            }
            boolean stays = foreignSince != null
                    && now - foreignSince >= PATIENCE.toNanos()
                    && !heartbeat(node).equals(firstHeartbeat);
            if (ownSeen || stays) {
                provenAt = now;
            }
        }
        if (provenAt != null && now - provenAt >= CALM.toNanos()) {
            provenAt = null;
        }
    }

    private static String heartbeat(Node node) {
        return node.ready().map(ready -> ready.json().text("lastHeartbeatTime")).orElse("");
    }

    private static long version(Node node) {
        try {
            return Long.parseLong(node.resourceVersion());
        } catch (NumberFormatException e) {
            return NO_VERSION;
        }
    }

    /** The event that another machine was found, once; or that it is gone; empty without news. */
    public Optional<NodeEvent> news() {
        boolean proven = provenAt != null;
        if (proven == reported) {
            return Optional.empty();
        }
        reported = proven;
        return condition()
                .map(report -> proven
                        ? new NodeEvent(EventRecorder.WARNING, TYPE, report.message())
                        : new NodeEvent(EventRecorder.NORMAL, "DuplicateNodeEnded", report.message()));
    }

    /** The condition; empty while no boot id is known. */
    public Optional<ConditionReport> condition() {
        if (!known) {
            return Optional.empty();
        }
        return Optional.of(
                provenAt == null
                        ? new ConditionReport(
                                TYPE, Condition.FALSE, "OneMachine", "only this machine reports under this node's name")
                        : new ConditionReport(
                                TYPE,
                                Condition.TRUE,
                                "OtherMachineReports",
                                "another machine reports under this node's name: the boot id " + foreign
                                        + " was written; this machine's is " + bootId));
    }
}
