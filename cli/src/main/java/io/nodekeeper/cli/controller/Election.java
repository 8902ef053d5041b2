package io.nodekeeper.cli.controller;

import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.events.EventRecorder;
import io.nodekeeper.client.leaderelection.LeaderElectionConfig;
import io.nodekeeper.client.leaderelection.LeaderElector;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.time.GoDuration;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;

/**
 * One process' part in leader election. It has its own loop and client, so that neither a busy controller nor its many
 * calls delay a renewal. Thread-safe.
 */
final class Election implements LeaderElector.Callbacks {
    private final LeaderElectionConfig config;
    private final String identity;
    private final KubeClient client;
    private final ControllerMetrics metrics;
    private final LeaderElector elector;
    private final CompletableFuture<Void> won = new CompletableFuture<>();
    private final CompletableFuture<String> lost = new CompletableFuture<>();
    private volatile String leader = "";
    private volatile Written written = (sentAt, acknowledgedAt) -> {};

    /** Receives the writes of the lease. */
    interface Written {
        /** See {@link LeaderElector.Callbacks#wrote}; called on the election's loop. */
        void wrote(long sentAt, long acknowledgedAt);
    }

    /** Creates a candidate that has not started; the parameters are {@link LeaderElector}'s. */
    Election(
            LeaderElectionConfig config,
            String identity,
            KubeClient client,
            EventRecorder recorder,
            RandomGenerator random,
            ControllerMetrics metrics) {
        this.config = config;
        this.identity = identity;
        this.client = client;
        this.metrics = metrics;
        this.elector = new LeaderElector(config, identity, client, recorder, random, this);
        metrics.leader(config.name(), false);
    }

    /** The identity in Kubernetes' form, {@code <hostname>_<uuid>}, unique also among processes on one host. */
    static String identity(String hostname, RandomGenerator random) {
        byte[] bytes = new byte[16];
        random.nextBytes(bytes);
        // A random UUID (RFC 9562, version 4).
        bytes[6] = (byte) ((bytes[6] & 0x0f) | 0x40);
        bytes[8] = (byte) ((bytes[8] & 0x3f) | 0x80);
        String hex = HexFormat.of().formatHex(bytes);
        return hostname + "_" + hex.substring(0, 8) + "-" + hex.substring(8, 12) + "-" + hex.substring(12, 16) + "-"
                + hex.substring(16, 20) + "-" + hex.substring(20);
    }

    /** {@code listener} receives each write of the lease from now on. */
    void whenWritten(Written listener) {
        written = listener;
    }

    /** Starts to try to acquire the lease. */
    void start() {
        elector.start();
    }

    /** Releases the lease if this process holds it. Completes normally when the release succeeded or failed. */
    CompletableFuture<Void> stop() {
        return elector.stop();
    }

    /** Completes, on the election's loop, when this process has become the leader. */
    CompletableFuture<Void> won() {
        return won;
    }

    /** Completes with the reason when this process loses the leadership. */
    CompletableFuture<String> lost() {
        return lost;
    }

    /** Whether this process may write at this moment; see {@link LeaderElector#leads}. */
    boolean leads() {
        return elector.leads();
    }

    /** Describes the other leader; empty if none is known or this process leads. */
    Optional<String> standby() {
        String other = leader;
        return other.isEmpty() || other.equals(identity)
                ? Optional.empty()
                : Optional.of("standing by; " + other + " leads");
    }

    /** The fault for the health check if this leader's lease has expired unnoticed; empty if healthy. */
    Optional<String> unhealthy() {
        return elector.healthy(client.loop().clock().nanoTime())
                ? Optional.empty()
                : Optional.of("failed election renewal check on lease " + lock());
    }

    /** The lock's namespace and name. */
    String lock() {
        return config.namespace() + "/" + config.name();
    }

    @Override
    public void started() {
        metrics.leader(config.name(), true);
        won.complete(null);
    }

    @Override
    public void stopped(boolean byOthers) {
        metrics.leader(config.name(), false);
        if (byOthers) {
            lost.complete("leaderelection lost: the lease " + lock() + " was taken over or not renewed for "
                    + GoDuration.format(config.renewDeadline()));
        }
    }

    @Override
    public void wrote(long sentAt, long acknowledgedAt) {
        written.wrote(sentAt, acknowledgedAt);
    }

    @Override
    public void newLeader(String other) {
        leader = other;
    }

    @Override
    public void slowPath() {
        metrics.slowPath(config.name());
    }
}
