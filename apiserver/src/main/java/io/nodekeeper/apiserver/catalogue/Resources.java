package io.nodekeeper.apiserver.catalogue;

import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.kinds.EventStrategy;
import io.nodekeeper.apiserver.kinds.LeaseStrategy;
import io.nodekeeper.apiserver.kinds.NamespaceStrategy;
import io.nodekeeper.apiserver.kinds.NodeStrategy;
import io.nodekeeper.apiserver.kinds.PodStrategy;
import io.nodekeeper.apiserver.printers.Tables;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.registry.Subresource;
import io.nodekeeper.apiserver.request.RequestTarget;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The catalogue of the server's resources, as in Kubernetes. */
public final class Resources {
    public static final Resource NODES = Resource.stored(ResourceType.NODES, "minions")
            .shortNames("no")
            .subresources(
                    Subresource.status("Node"),
                    new Subresource(
                            "proxy", "", "", "NodeProxyOptions", List.of("create", "delete", "get", "patch", "update")))
            .strategy(new NodeStrategy())
            .fields(Map.of(
                    "spec.unschedulable",
                    node -> Boolean.toString(node.object("spec").bool("unschedulable"))))
            .table(Tables.NODES);

    public static final Resource PODS = Resource.stored(ResourceType.PODS, "pods")
            .shortNames("po")
            .categories("all")
            .subresources(
                    Subresource.status("Pod"),
                    Subresource.action("eviction", "policy", "v1", "Eviction"),
                    Subresource.action("binding", "", "", "Binding"),
                    new Subresource("log", "", "", "Pod", List.of("get")),
                    new Subresource("ephemeralcontainers", "", "", "Pod", List.of("get", "patch", "update")),
                    Subresource.stream("exec", "PodExecOptions"),
                    Subresource.stream("attach", "PodAttachOptions"),
                    Subresource.stream("portforward", "PodPortForwardOptions"))
            .strategy(new PodStrategy())
            .fields(Map.of(
                    "spec.nodeName", at("spec", "nodeName"),
                    "spec.host", at("spec", "nodeName"),
                    "spec.restartPolicy", at("spec", "restartPolicy"),
                    "spec.schedulerName", at("spec", "schedulerName"),
                    "spec.serviceAccountName", at("spec", "serviceAccountName"),
                    "spec.hostNetwork",
                            pod -> Boolean.toString(pod.object("spec").bool("hostNetwork")),
                    "status.phase", at("status", "phase"),
                    "status.podIP", at("status", "podIP"),
                    "status.podIPs", at("status", "podIP"),
                    "status.nominatedNodeName", at("status", "nominatedNodeName")))
            .table(Tables.PODS);

    public static final Resource EVENTS = Resource.stored(ResourceType.EVENTS, "events")
            .shortNames("ev")
            .strategy(new EventStrategy())
            .fields(Map.ofEntries(
                    Map.entry("involvedObject.kind", at("involvedObject", "kind")),
                    Map.entry("involvedObject.namespace", at("involvedObject", "namespace")),
                    Map.entry("involvedObject.name", at("involvedObject", "name")),
                    Map.entry("involvedObject.uid", at("involvedObject", "uid")),
                    Map.entry("involvedObject.apiVersion", at("involvedObject", "apiVersion")),
                    Map.entry("involvedObject.resourceVersion", at("involvedObject", "resourceVersion")),
                    Map.entry("involvedObject.fieldPath", at("involvedObject", "fieldPath")),
                    Map.entry("reason", event -> event.text("reason")),
                    Map.entry("reportingComponent", event -> event.text("reportingComponent")),
                    Map.entry("type", event -> event.text("type")),
                    Map.entry("source", event -> {
                        String component = event.object("source").text("component");
                        return component.isEmpty() ? event.text("reportingComponent") : component;
                    })))
            .table(Tables.EVENTS);

    public static final Resource NAMESPACES = Resource.stored(ResourceType.NAMESPACES, "namespaces")
            .shortNames("ns")
            .verbs(Resource.VERBS.stream()
                    .filter(verb -> !verb.equals("deletecollection"))
                    .toList())
            .subresources(
                    Subresource.status("Namespace"),
                    new Subresource("finalize", "", "", "Namespace", List.of("update")))
            .strategy(new NamespaceStrategy())
            .fields(Map.of("status.phase", at("status", "phase")))
            .table(Tables.NAMESPACES);

    static final Resource LEASES = Resource.stored(ResourceType.LEASES, "leases")
            .strategy(new LeaseStrategy())
            .table(Tables.LEASES);

    /** All resources: those of node health, those that its clients also use, and those of authorization. */
    public static final List<Resource> ALL = Stream.of(
                    List.of(NODES, PODS, EVENTS, NAMESPACES, LEASES),
                    ClusterResources.ALL,
                    StorageResources.ALL,
                    AccessResources.ALL,
                    CertificateResources.ALL,
                    UsageResources.ALL)
            .flatMap(List::stream)
            .toList();

    private static final Map<String, Resource> BY_PATH = ALL.stream()
            .collect(Collectors.toUnmodifiableMap(resource -> resource.type().path(), resource -> resource));

    private Resources() {}

    /** The resource of a path, if it is served. */
    public static Optional<Resource> find(RequestTarget target) {
        String path = (target.group().isEmpty() ? "/api/" : "/apis/" + target.group() + "/") + target.version() + "/"
                + target.plural();
        return Optional.ofNullable(BY_PATH.get(path));
    }

    /** The resource whose stored objects {@code resource} is about: the nodes or pods that it measures, or itself. */
    public static Resource stored(Resource resource) {
        if (resource.type().equals(UsageResources.POD_USAGE.type())) {
            return PODS;
        }
        return resource.type().equals(UsageResources.NODE_USAGE.type()) ? NODES : resource;
    }

    private static Function<JsonObject, String> at(String object, String field) {
        return json -> json.object(object).text(field);
    }
}
