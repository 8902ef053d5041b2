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
 * Has etcd forget what is older than an interval, together with all other servers on it, Kubernetes' own included: at every
 * interval each of them tries to write the revision of one interval before to a common key, expecting that nobody wrote
 * since it looked last. The one that succeeds compacts; the others learn how often the key was written and which revision
 * there is now. So history is always kept for one interval at least. Confined to the loop.
 */
final class Compactor {
    private static final Logger log = LoggerFactory.getLogger(Compactor.class);
    private static final Duration DEADLINE = Duration.ofSeconds(10);

    private final Members members;
    private final Loop loop;
    private final Duration interval;
    /** How often the key had been written when this server looked last, and which revision there was. */
    private long times;

    private long revision;

    Compactor(Members members, Loop loop, Duration interval) {
        this.members = members;
        this.loop = loop;
        this.interval = interval;
    }

    /** Looks now and from then on at every interval. */
    void start() {
        if (!interval.isZero()) {
            look();
        }
    }

    private void look() {
        long to = revision;
        members.write(KVGrpc.getTxnMethod(), Requests.agree(times, to), DEADLINE)
                .whenComplete((answer, error) -> {
                    if (error == null) {
                        looked(answer, to);
                    } else {
                        log.warn("history is not compacted this time: {}", error.getMessage());
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
                    log.debug("history up to revision {} is compacted", to);
                } else {
                    log.warn("history up to revision {} is not compacted: {}", to, error.getMessage());
                }
            });
        }
    }
}
