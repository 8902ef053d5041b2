package io.nodekeeper.apiserver;

import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.Schema;
import java.util.List;

/** What clients of node health also ask for, as kubelets and kube-controller-managers list it at their start: facts of Kubernetes. */
final class ClusterResources {
    static final Resource SERVICE_ACCOUNTS = Resource.stored(
                    new ResourceType("", "v1", "serviceaccounts", "ServiceAccount", true),
                    Schema.open("metadata", Schema.open()),
                    "serviceaccounts")
            .shortNames("sa")
            .subresources(Subresource.action("token", "authentication.k8s.io", "v1", "TokenRequest"));

    static final Resource SECRETS = Resource.stored(
            new ResourceType("", "v1", "secrets", "Secret", true),
            Schema.open("metadata", Schema.open()),
            "secrets");

    static final Resource CONFIG_MAPS = Resource.stored(
                    new ResourceType("", "v1", "configmaps", "ConfigMap", true),
                    Schema.open("metadata", Schema.open()),
                    "configmaps")
            .shortNames("cm");

    static final List<Resource> ALL = List.of(SERVICE_ACCOUNTS, SECRETS, CONFIG_MAPS);

    private ClusterResources() {}
}
