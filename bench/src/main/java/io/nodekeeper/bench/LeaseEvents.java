package io.nodekeeper.bench;

import io.nodekeeper.api.KubeTime;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Creates lease events as an API server sends them on a watch. */
final class LeaseEvents {
    /** The managedFields that kube-apiserver stores for each kubelet's lease. */
    private static final String MANAGED_FIELDS = "\"managedFields\":[{\"manager\":\"kubelet\",\"operation\":\"Update\","
            + "\"apiVersion\":\"coordination.k8s.io/v1\",\"time\":\"2026-01-31T12:00:10Z\",\"fieldsType\":\"FieldsV1\","
            + "\"fieldsV1\":{\"f:metadata\":{\"f:ownerReferences\":{\".\":{},"
            + "\"k:{\\\"uid\\\":\\\"6d0a6f1c-7a53-4b0e-9c7d-0d7e6b1a2f33\\\"}\":{}}},\"f:spec\":{"
            + "\"f:acquireTime\":{},\"f:holderIdentity\":{},\"f:leaseDurationSeconds\":{},\"f:leaseTransitions\":{},"
            + "\"f:preferredHolder\":{},\"f:renewTime\":{},\"f:strategy\":{}}}},{\"manager\":\"controller\","
            + "\"operation\":\"Update\",\"apiVersion\":\"coordination.k8s.io/v1\",\"time\":\"2026-01-31T12:00:11Z\","
            + "\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:metadata\":{\"f:labels\":{\".\":{},\"f:zone\":{}}}}}],";

    private static final Instant START = Instant.parse("2026-01-31T12:00:00Z");

    private LeaseEvents() {}

    static String name(int node) {
        return "node-" + (100_000 + node);
    }

    /** Renewal number {@code round} of a node's lease, 10 s after the previous one. */
    static byte[] renewal(int node, int round, boolean managedFields) {
        String time = KubeTime.formatMicro(START.plusSeconds(10L * round).plus(node, ChronoUnit.MICROS));
        String name = name(node);
        String text = "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\","
                + "\"metadata\":{\"name\":\"" + name + "\",\"namespace\":\"kube-node-lease\","
                + "\"uid\":\"6d0a6f1c-7a53-4b0e-9c7d-0d7e6b1a2f33\",\"resourceVersion\":\""
                + (1_000_000L * (round + 1) + node)
                + "\",\"creationTimestamp\":\"2026-01-31T12:00:00Z\"," + (managedFields ? MANAGED_FIELDS : "")
                + "\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"" + name
                + "\",\"uid\":\"0c7d8a4e-1111-4222-8333-944445555666\"}]},\"spec\":{\"holderIdentity\":\"" + name
                + "\",\"leaseDurationSeconds\":40,\"renewTime\":\"" + time + "\"}}}";
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
