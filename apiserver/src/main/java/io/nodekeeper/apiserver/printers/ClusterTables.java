package io.nodekeeper.apiserver.printers;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.storage.EventCodec;
import java.util.List;
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
            Tables.column("Cluster-IP", ServiceColumns::clusterIp),
            Tables.column("External-IP", ServiceColumns::externalIp),
            Tables.column("Port(s)", ServiceColumns::ports),
            Tables.age(),
            Tables.wide(
                    "Selector",
                    service -> Selectors.labels(service.object("spec").object("selector")))));

    public static final Table DAEMON_SETS = new Table(List.of(
            Tables.name(),
            status("Desired", "desiredNumberScheduled"),
            status("Current", "currentNumberScheduled"),
            status("Ready", "numberReady"),
            status("Up-to-date", "updatedNumberScheduled"),
            status("Available", "numberAvailable"),
            Tables.column("Node Selector", set -> Selectors.labels(template(set).object("nodeSelector"))),
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
                    "Pod-Selector", policy -> Selectors.of(policy.object("spec").object("podSelector"))),
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
            Tables.flag("AttachRequired", driver -> driver.object("spec").bool("attachRequired")),
            Tables.flag("PodInfoOnMount", driver -> driver.object("spec").bool("podInfoOnMount")),
            Tables.flag("StorageCapacity", driver -> driver.object("spec").bool("storageCapacity")),
            Tables.column("TokenRequests", ClusterTables::audiences),
            Tables.flag("RequiresRepublish", driver -> driver.object("spec").bool("requiresRepublish")),
            Tables.column(
                    "Modes",
                    driver -> CellText.orNone(driver.object("spec")
                            .array("volumeLifecycleModes")
                            .strings()
                            .collect(Collectors.joining(",")))),
            Tables.age()));

    public static final Table VOLUME_ATTACHMENTS = new Table(List.of(
            Tables.name(),
            Tables.column("Attacher", attachment -> attachment.object("spec").text("attacher")),
            Tables.column(
                    "PV",
                    attachment -> attachment.object("spec").object("source").text("persistentVolumeName")),
            Tables.column("Node", attachment -> attachment.object("spec").text("nodeName")),
            Tables.flag("Attached", attachment -> attachment.object("status").bool("attached")),
            Tables.age()));

    public static final Table RUNTIME_CLASSES = new Table(
            List.of(Tables.name(), Tables.column("Handler", runtime -> runtime.text("handler")), Tables.age()));

    public static final Table PRIORITY_CLASSES = new Table(List.of(
            Tables.name(),
            Tables.count("Value", priority -> priority.number("value").orElse(0L)),
            Tables.flag("Global-Default", priority -> priority.bool("globalDefault")),
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

    private static String audiences(JsonObject driver) {
        JsonArray requests = driver.object("spec").array("tokenRequests");
        return requests.isEmpty()
                ? "<unset>"
                : requests.objects().map(request -> request.text("audience")).collect(Collectors.joining(","));
    }

    private static JsonObject template(JsonObject set) {
        return set.object("spec").object("template").object("spec");
    }

    private static String selector(JsonObject workload) {
        return Selectors.of(workload.object("spec").object("selector"));
    }

    private static String containers(JsonObject set, String field) {
        return template(set)
                .array("containers")
                .objects()
                .map(container -> container.text(field))
                .collect(Collectors.joining(","));
    }

    private static String amount(JsonObject budget, String field) {
        String text = budget.object("spec").text(field);
        return text.isEmpty()
                ? budget.object("spec").number(field).map(Object::toString).orElse("N/A")
                : text;
    }
}
