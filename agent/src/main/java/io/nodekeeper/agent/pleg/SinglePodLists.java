package io.nodekeeper.agent.pleg;

import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lists of single pods, on demand. The list of all pods has precedence: while it is in progress none of these starts, those
 * in progress are cancelled, and it answers all requests made before it began. So two lists never show one pod at
 * the same time, and an older one never overwrites a newer. Confined to its loop.
 */
final class SinglePodLists {
    private static final Logger log = LoggerFactory.getLogger(SinglePodLists.class);

    private final ContainerRuntime runtime;
    private final Clock clock;
    private final PlegConfig config;
    private final PodRecords records;
    private final ParallelInspector inspector;
    private final PlegMetrics metrics;
    private final Map<String, Long> requests = new LinkedHashMap<>();
    private final Map<String, PendingList> underWay = new HashMap<>();
    private boolean held = true;

    SinglePodLists(
            ContainerRuntime runtime,
            Clock clock,
            PlegConfig config,
            PodRecords records,
            ParallelInspector inspector,
            PlegMetrics metrics) {
        this.runtime = runtime;
        this.clock = clock;
        this.config = config;
        this.records = records;
        this.inspector = inspector;
        this.metrics = metrics;
    }

    /** Requests a list of that pod; false if too many wait already. */
    boolean request(String uid) {
        if (requests.size() >= PlegConfig.REQUEST_CAPACITY && !requests.containsKey(uid)) {
            return false;
        }
        requests.put(uid, clock.nanoTime());
        dispatch();
        return true;
    }

    /** The list of all pods starts. */
    void hold() {
        held = true;
        List<PendingList> late = List.copyOf(underWay.values());
        underWay.clear();
        late.forEach(PendingList::cancel);
    }

    /** The list of all pods that began at {@code began} succeeded. */
    void listed(long began) {
        requests.values().removeIf(at -> at - began <= 0);
    }

    /** The list of all pods has ended. */
    void resume() {
        held = false;
        dispatch();
    }

    private void dispatch() {
        Iterator<String> uids = List.copyOf(requests.keySet()).iterator();
        while (!held && underWay.size() < config.parallel() && uids.hasNext()) {
            String uid = uids.next();
            if (!underWay.containsKey(uid)) {
                begin(uid);
            }
        }
    }

    private void begin(String uid) {
        long began = clock.nanoTime();
        PendingList listing = PendingList.start(runtime, Optional.of(uid), config.callDeadline());
        underWay.put(uid, listing);
        listing.inventory().whenComplete((inventory, error) -> {
            metrics.podRelistEnded(Duration.ofNanos(clock.nanoTime() - began));
            if (underWay.remove(uid, listing)) {
                Long asked = requests.get(uid);
                // A request made after the list began needs another list.
                if (asked != null && asked - began <= 0) {
                    requests.remove(uid);
                }
                if (error == null) {
                    settle(uid, inventory, began);
                } else {
                    log.debug("list of pod {} failed; the next list of all will show it", uid, error);
                }
                dispatch();
            }
        });
    }

    private void settle(String uid, Inventory inventory, long began) {
        ListedPod pod = inventory.listed().get(uid);
        if (pod != null) {
            inspector.listedAlone(records.put(pod, began), began);
        } else {
            records.gone(uid);
            inspector.absentAlone(uid, began);
        }
    }
}
