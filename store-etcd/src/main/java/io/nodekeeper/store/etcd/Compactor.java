package io.nodekeeper.store.etcd;

import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.TxnResponse;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compacts etcd's history, in cooperation with all other servers on the cluster, kube-apiservers included. After each interval
 * every server tries to write the revision of one interval ago to a common key, on condition that the key has not changed since
 * its last attempt. The server that succeeds compacts to that revision. The others read the key's version and the current
 * revision. So etcd keeps the history of at least one interval. Confined to the loop.
 */
final class Compactor {
    private static final Logger log = LoggerFactory.getLogger(Compactor.class);
    private static final Duration DEADLINE = Duration.ofSeconds(10);

    private final EtcdMembers members;
    private final Loop loop;
    private final Duration interval;
    /** The version of the key, and the revision of etcd, at the last attempt. */
    private long times;

    private long revision;

    Compactor(EtcdMembers members, Loop loop, Duration interval) {
        this.members = members;
        this.loop = loop;
        this.interval = interval;
    }

    /** Makes the first attempt now and one after each interval. */
    void start() {
        if (!interval.isZero()) {
            look();
        }
    }

    private void look() {
        long to = revision;
        members.write(KVGrpc.getTxnMethod(), EtcdRequests.agree(times, to), DEADLINE)
                .whenComplete((answer, error) -> {
                    if (error == null) {
                        looked(answer, to);
                    } else {
                        log.warn(
                                "cannot compact the history, retrying after the next interval: {}", error.getMessage());
                    }
                    loop.schedule(interval, this::look);
                });
    }

    private void looked(TxnResponse answer, long to) {
        revision = answer.getHeader().getRevision();
        if (!answer.getSucceeded()) {
            times = answer.getResponses(0).getResponseRange().getKvsList().stream()
                    .mapToLong(KeyValue::getVersion)
                    .findFirst()
                    .orElse(0);
            return;
        }
        times++;
        if (to > 0) {
            CompactionRequest request =
                    CompactionRequest.newBuilder().setRevision(to).build();
            members.write(KVGrpc.getCompactMethod(), request, DEADLINE).whenComplete((done, error) -> {
                if (error == null) {
                    log.debug("compacted the history up to revision {}", to);
                } else {
                    log.warn("cannot compact the history up to revision {}: {}", to, error.getMessage());
                }
            });
        }
    }
}
