package io.nodekeeper.apiserver.printers;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.storage.EventCodec;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The columns of the kinds that clients of node health list beside nodes, pods and leases, as Kubernetes prints them. */
public final class ClusterTables {
    public static final Table SERVICE_ACCOUNTS = new Table(List.of(
            Tables.name(),
            Tables.count("Secrets", account -> account.array("secrets").items().size()),
            Tables.age()));

    public static final Table SECRETS = new Table(List.of(
            Tables.name(),
            Tables.column("Type", secret -> secret.text("type")),
            Tables.count("Data", secret -> secret.object("data").fields().size()),
            Tables.age()));

    public static final Table CONFIG_MAPS = new Table(List.of(
            Tables.name(),
            Tables.count(
                    "Data",
                    map -> map.object("data").fields().size()
                            + map.object("binaryData").fields().size()),
            Tables.age()));

    public static final Table SERVICES = new Table(List.of(
            Tables.name(),
            Tables.column("Type", service -> service.object("spec").text("type")),
            Tables.column(
                    "Cluster-IP",
                    service -> Tables.orNone(service.object("spec").text("clusterIP"))),
            Tables.column(
                    "External-IP", service -> joined(service.object("spec").array("externalIPs"))),
            Tables.column("Port(s)", ClusterTables::ports),
            Tables.age(),
            Tables.wide("Selector", service -> labels(service.object("spec").object("selector")))));

    public static final Table DAEMON_SETS = new Table(List.of(
            Tables.name(),
            status("Desired", "desiredNumberScheduled"),
            status("Current", "currentNumberScheduled"),
            status("Ready", "numberReady"),
            status("Up-to-date", "updatedNumberScheduled"),
            status("Available", "numberAvailable"),
            Tables.column("Node Selector", set -> labels(template(set).object("nodeSelector"))),
            Tables.age(),
            Tables.wide("Containers", set -> containers(set, "name")),
            Tables.wide("Images", set -> containers(set, "image")),
            Tables.wide("Selector", ClusterTables::selector)));

    public static final Table DEPLOYMENTS = new Table(List.of(
            Tables.name(),
            Tables.column(
                    "Ready",
                    deployment -> deployment
                                    .object("status")
                                    .number("readyReplicas")
                                    .orElse(0L) + "/"
                            + deployment.object("spec").number("replicas").orElse(0L)),
            status("Up-to-date", "updatedReplicas"),
            status("Available", "availableReplicas"),
            Tables.age(),
            Tables.wide("Containers", deployment -> containers(deployment, "name")),
            Tables.wide("Images", deployment -> containers(deployment, "image")),
            Tables.wide("Selector", ClusterTables::selector)));

    public static final Table NETWORK_POLICIES = new Table(List.of(
            Tables.name(),
            Tables.column(
                    "Pod-Selector",
                    policy -> labels(policy.object("spec").object("podSelector").object("matchLabels"))),
            Tables.age()));

    public static final Table VALIDATING_WEBHOOK_CONFIGURATIONS = new Table(List.of(
            Tables.name(),
            Tables.count(
                    "Webhooks",
                    configuration -> configuration.array("webhooks").items().size()),
            Tables.age()));

    public static final Table CSI_NODES = new Table(List.of(
            Tables.name(),
            Tables.count(
                    "Drivers",
                    node -> node.object("spec").array("drivers").items().size()),
            Tables.age()));

    public static final Table CSI_DRIVERS = new Table(List.of(
            Tables.name(),
            Tables.column("AttachRequired", driver -> flag(driver, "attachRequired")),
            Tables.column("PodInfoOnMount", driver -> flag(driver, "podInfoOnMount")),
            Tables.column("StorageCapacity", driver -> flag(driver, "storageCapacity")),
            Tables.column("Modes", driver -> joined(driver.object("spec").array("volumeLifecycleModes"))),
            Tables.age()));

    public static final Table VOLUME_ATTACHMENTS = new Table(List.of(
            Tables.name(),
            Tables.column("Attacher", attachment -> attachment.object("spec").text("attacher")),
            Tables.column(
                    "PV",
                    attachment -> attachment.object("spec").object("source").text("persistentVolumeName")),
            Tables.column("Node", attachment -> attachment.object("spec").text("nodeName")),
            Tables.column(
                    "Attached",
                    attachment -> Boolean.toString(attachment.object("status").bool("attached"))),
            Tables.age()));

    public static final Table RUNTIME_CLASSES = new Table(
            List.of(Tables.name(), Tables.column("Handler", runtime -> runtime.text("handler")), Tables.age()));

    public static final Table PRIORITY_CLASSES = new Table(List.of(
            Tables.name(),
            Tables.column(
                    "Value", priority -> priority.number("value").orElse(0L).toString()),
            Tables.column("Global-Default", priority -> Boolean.toString(priority.bool("globalDefault"))),
            Tables.age(),
            Tables.column("PreemptionPolicy", priority -> priority.text("preemptionPolicy"))));

    public static final Table POD_DISRUPTION_BUDGETS = new Table(List.of(
            Tables.name(),
            Tables.column("Min Available", budget -> amount(budget, "minAvailable")),
            Tables.column("Max Unavailable", budget -> amount(budget, "maxUnavailable")),
            status("Allowed Disruptions", "disruptionsAllowed"),
            Tables.age()));

    /** The same columns for both event APIs. */
    public static final Table NEW_EVENTS = new Table(Tables.EVENTS.columns().stream()
            .map(column -> new Table.Column(
                    column.name(),
                    column.type(),
                    column.wide(),
                    (event, now) -> column.cell().apply(EventCodec.toCore(event), now)))
            .toList());

    private ClusterTables() {}

    private static Table.Column status(String name, String field) {
        return Tables.count(
                name, object -> object.object("status").number(field).orElse(0L));
    }

    private static String flag(JsonObject driver, String field) {
        return Boolean.toString(driver.object("spec").bool(field));
    }

    private static JsonObject template(JsonObject set) {
        return set.object("spec").object("template").object("spec");
    }

    private static String selector(JsonObject workload) {
        return labels(workload.object("spec").object("selector").object("matchLabels"));
    }

    private static String containers(JsonObject set, String field) {
        return template(set)
                .array("containers")
                .objects()
                .map(container -> container.text(field))
                .collect(Collectors.joining(","));
    }

    private static String ports(JsonObject service) {
        String ports = service.object("spec")
                .array("ports")
                .objects()
                .map(port -> port.number("port").orElse(0L) + "/" + port.text("protocol"))
                .collect(Collectors.joining(","));
        return Tables.orNone(ports);
    }

    private static String amount(JsonObject budget, String field) {
        String text = budget.object("spec").text(field);
        return text.isEmpty()
                ? budget.object("spec").number(field).map(Object::toString).orElse("N/A")
                : text;
    }

    private static String labels(JsonObject labels) {
        return Tables.orNone(labels.texts().entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(label -> label.getKey() + "=" + label.getValue())
                .collect(Collectors.joining(",")));
    }

    private static String joined(JsonArray texts) {
        return Tables.orNone(texts.strings().collect(Collectors.joining(",")));
    }
}
