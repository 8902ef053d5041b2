package io.nodekeeper.apiserver.flowcontrol;

import io.nodekeeper.apiserver.catalogue.RequestInfo;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.RequestTarget;
import java.util.HashMap;
import java.util.Map;

/**
 * Limits what open watches cost. Their memory is shared among flows as in a {@link FairMemoryBudget}. And each change of a collection is
 * offered to all its watches on the thread that commits heartbeats, so the work for that is limited for each flow and collection.
 * Thread-safe.
 */
final class WatchLimits {
    /**
     * What the watches of one flow may cost for a change of one collection: 2,000 watches without a selector, some 2 ms. A kubelet has
     * some hundreds, one for each Secret and ConfigMap of its pods.
     */
    private static final int WORK = 10_000;

    /** What a watch costs besides its selector: about as much as five requirements. */
    private static final int PLAIN = 5;

    /** The bytes of a watch without its selector: less than it takes, so that a large cluster's kubelets fit. */
    private static final int BYTES = 1 << 10;

    /** The bytes that a selector needs for each character of the URL, at most: a value of three characters in a set takes 72 or more. */
    private static final int EXPANSION = 24;

    /** The objects of a resource in a namespace, or all of them, as one flow watches them. */
    private record Collection(String flow, String group, String resource, String namespace) {}

    /** What a watch costs. */
    record Cost(Collection collection, long bytes, int work) {
        /** The cost of the watch for which a user with the flow {@code flow} asks. */
        static Cost of(String flow, RequestInfo info, ApiRequest request) {
            RequestTarget target = info.resource().orElseThrow();
            long terms = terms(request.parameter("labelSelector")) + terms(request.parameter("fieldSelector"));
            long headers = request.headers().entrySet().stream()
                    .mapToLong(header ->
                            header.getKey().length() + header.getValue().length())
                    .sum();
            return new Cost(
                    new Collection(flow, target.group(), target.plural(), target.namespace()),
                    BYTES + headers + (long) EXPANSION * request.uri().length(),
                    (int) Math.min(WORK, PLAIN + terms));
        }

        private static long terms(String selector) {
            return selector.isEmpty()
                    ? 0
                    : selector.chars().filter(c -> c == ',').count() + 1;
        }
    }

    private final FairMemoryBudget memory;
    /** Only collections that are watched. */
    private final Map<Collection, Integer> work = new HashMap<>();

    /** All watches together may use {@code bytes}. */
    WatchLimits(long bytes) {
        memory = new FairMemoryBudget(bytes);
    }

    /** Whether a watch may be opened. */
    synchronized boolean hasRoom(Cost cost) {
        return work.getOrDefault(cost.collection, 0) + cost.work <= WORK
                && memory.has(cost.collection.flow, cost.bytes);
    }

    /** A watch was opened; those that are opened at the same time may exceed the limit. */
    synchronized void opened(Cost cost) {
        work.merge(cost.collection, cost.work, Integer::sum);
        memory.add(cost.collection.flow, cost.bytes);
    }

    /** A watch was closed. */
    synchronized void closed(Cost cost) {
        work.computeIfPresent(cost.collection, (key, sum) -> sum > cost.work ? sum - cost.work : null);
        memory.giveBack(cost.collection.flow, cost.bytes);
    }
}
