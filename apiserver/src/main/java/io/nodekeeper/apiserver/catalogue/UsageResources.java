package io.nodekeeper.apiserver.catalogue;

import io.nodekeeper.api.ResourceType;
import io.nodekeeper.apiserver.printers.UsageTables;
import io.nodekeeper.apiserver.registry.Resource;
import java.util.List;

/** The resources of {@code metrics.k8s.io}, which the server measures and does not store, as metrics-server has them. */
public final class UsageResources {
    private static final List<String> VERBS = List.of("get", "list");

    public static final Resource NODE_USAGE = Resource.asked(
                    new ResourceType("metrics.k8s.io", "v1beta1", "nodes", "NodeMetrics", false))
            .verbs(VERBS)
            .table(UsageTables.NODES);

    public static final Resource POD_USAGE = Resource.asked(
                    new ResourceType("metrics.k8s.io", "v1beta1", "pods", "PodMetrics", true))
            .verbs(VERBS)
            .table(UsageTables.PODS);

    static final List<Resource> ALL = List.of(NODE_USAGE, POD_USAGE);

    private UsageResources() {}
}
