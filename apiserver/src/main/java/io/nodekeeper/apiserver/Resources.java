package io.nodekeeper.apiserver;

import io.nodekeeper.api.JsonObject;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.Schemas;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** The catalogue of what the server serves: facts of Kubernetes. */
final class Resources {
    static final Resource NODES = new Resource(
            ResourceType.NODES,
            Schemas.NODE,
            "minions",
            List.of("no"),
            true,
            new NodeStrategy(),
            Map.of(
                    "spec.unschedulable",
                    node -> Boolean.toString(node.object("spec").bool("unschedulable"))),
            Tables.NODES);

    static final Resource PODS = new Resource(
            ResourceType.PODS,
            Schemas.POD,
            "pods",
            List.of("po"),
            true,
            new PodStrategy(),
            Map.of(
                    "spec.nodeName", at("spec", "nodeName"),
                    "spec.host", at("spec", "nodeName"),
                    "spec.restartPolicy", at("spec", "restartPolicy"),
                    "spec.schedulerName", at("spec", "schedulerName"),
                    "spec.serviceAccountName", at("spec", "serviceAccountName"),
                    "status.phase", at("status", "phase"),
                    "status.podIP", at("status", "podIP"),
                    "status.nominatedNodeName", at("status", "nominatedNodeName")),
            Tables.PODS);

    static final Resource EVENTS = new Resource(
            ResourceType.EVENTS,
            Schemas.EVENT,
            "events",
            List.of("ev"),
            false,
            new EventStrategy(),
            Map.ofEntries(
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
                    })),
            Tables.EVENTS);

    static final Resource NAMESPACES = new Resource(
            ResourceType.NAMESPACES,
            Schemas.NAMESPACE,
            "namespaces",
            List.of("ns"),
            true,
            new NamespaceStrategy(),
            Map.of("status.phase", at("status", "phase")),
            Tables.NAMESPACES);

    static final Resource LEASES = new Resource(
            ResourceType.LEASES,
            Schemas.LEASE,
            "leases",
            List.of(),
            false,
            new LeaseStrategy(),
            Map.of(),
            Tables.LEASES);

    static final List<Resource> ALL = List.of(NODES, PODS, EVENTS, NAMESPACES, LEASES);

    private Resources() {}

    /** The resource of a path, if it is served. */
    static Optional<Resource> find(RequestInfo.Target target) {
        return ALL.stream()
                .filter(resource -> resource.type().plural().equals(target.plural())
                        && resource.type().group().equals(target.group())
                        && resource.type().version().equals(target.version()))
                .findFirst();
    }

    private static Function<JsonObject, String> at(String object, String field) {
        return json -> json.object(object).text(field);
    }
}
