package io.nodekeeper.apiserver;

import io.nodekeeper.api.JsonArray;
import io.nodekeeper.api.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The columns of {@link ClusterResources}, as Kubernetes prints them. */
final class ClusterTables {
    private static final String NONE = "<none>";

    static final Table SERVICE_ACCOUNTS = new Table(List.of(
            Tables.name(),
            count("Secrets", account -> account.array("secrets").items().size()),
            Tables.age()));

    static final Table SECRETS = new Table(List.of(
            Tables.name(),
            text("Type", secret -> secret.text("type")),
            count("Data", secret -> secret.object("data").fields().size()),
            Tables.age()));

    static final Table CONFIG_MAPS = new Table(List.of(
            Tables.name(),
            count(
                    "Data",
                    map -> map.object("data").fields().size()
                            + map.object("binaryData").fields().size()),
            Tables.age()));

    static final Table SERVICES = new Table(List.of(
            Tables.name(),
            text("Type", service -> service.object("spec").text("type")),
            text("Cluster-IP", service -> orNone(service.object("spec").text("clusterIP"))),
            text("External-IP", service -> joined(service.object("spec").array("externalIPs"))),
            text("Port(s)", ClusterTables::ports),
            Tables.age(),
            wide("Selector", service -> labels(service.object("spec").object("selector")))));

    static final Table DAEMON_SETS = new Table(List.of(
            Tables.name(),
            status("Desired", "desiredNumberScheduled"),
            status("Current", "currentNumberScheduled"),
            status("Ready", "numberReady"),
            status("Up-to-date", "updatedNumberScheduled"),
            status("Available", "numberAvailable"),
            text("Node Selector", set -> labels(template(set).object("nodeSelector"))),
            Tables.age(),
            wide("Containers", set -> containers(set, "name")),
            wide("Images", set -> containers(set, "image")),
            wide("Selector", set -> labels(set.object("spec").object("selector").object("matchLabels")))));

    static final Table CSI_NODES = new Table(List.of(
            Tables.name(),
            count(
                    "Drivers",
                    node -> node.object("spec").array("drivers").items().size()),
            Tables.age()));

    static final Table CSI_DRIVERS = new Table(List.of(
            Tables.name(),
            text("AttachRequired", driver -> flag(driver, "attachRequired")),
            text("PodInfoOnMount", driver -> flag(driver, "podInfoOnMount")),
            text("StorageCapacity", driver -> flag(driver, "storageCapacity")),
            text("Modes", driver -> joined(driver.object("spec").array("volumeLifecycleModes"))),
            Tables.age()));

    static final Table VOLUME_ATTACHMENTS = new Table(List.of(
            Tables.name(),
            text("Attacher", attachment -> attachment.object("spec").text("attacher")),
            text("PV", attachment -> attachment.object("spec").object("source").text("persistentVolumeName")),
            text("Node", attachment -> attachment.object("spec").text("nodeName")),
            text(
                    "Attached",
                    attachment -> Boolean.toString(attachment.object("status").bool("attached"))),
            Tables.age()));

    static final Table RUNTIME_CLASSES =
            new Table(List.of(Tables.name(), text("Handler", runtime -> runtime.text("handler")), Tables.age()));

    static final Table POD_DISRUPTION_BUDGETS = new Table(List.of(
            Tables.name(),
            text("Min Available", budget -> amount(budget, "minAvailable")),
            text("Max Unavailable", budget -> amount(budget, "maxUnavailable")),
            status("Allowed Disruptions", "disruptionsAllowed"),
            Tables.age()));

    /** The events of either form look the same. */
    static final Table NEW_EVENTS = new Table(Tables.EVENTS.columns().stream()
            .map(column -> new Table.Column(
                    column.name(),
                    column.type(),
                    column.wide(),
                    (event, now) -> column.cell().apply(EventCodec.toCore(event), now)))
            .toList());

    private ClusterTables() {}

    private static Table.Column text(String name, Function<JsonObject, String> cell) {
        return new Table.Column(name, "string", false, (object, now) -> cell.apply(object));
    }

    private static Table.Column wide(String name, Function<JsonObject, String> cell) {
        return new Table.Column(name, "string", true, (object, now) -> cell.apply(object));
    }

    private static Table.Column count(String name, Function<JsonObject, Integer> cell) {
        return new Table.Column(
                name, "integer", false, (object, now) -> cell.apply(object).toString());
    }

    private static Table.Column status(String name, String field) {
        return new Table.Column(
                name,
                "integer",
                false,
                (object, now) ->
                        Long.toString(object.object("status").number(field).orElse(0L)));
    }

    private static String flag(JsonObject driver, String field) {
        return Boolean.toString(driver.object("spec").bool(field));
    }

    private static JsonObject template(JsonObject set) {
        return set.object("spec").object("template").object("spec");
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
        return orNone(ports);
    }

    private static String amount(JsonObject budget, String field) {
        String text = budget.object("spec").text(field);
        return text.isEmpty()
                ? budget.object("spec").number(field).map(Object::toString).orElse("N/A")
                : text;
    }

    private static String labels(JsonObject labels) {
        return orNone(labels.texts().entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(label -> label.getKey() + "=" + label.getValue())
                .collect(Collectors.joining(",")));
    }

    private static String joined(JsonArray texts) {
        return orNone(texts.strings().collect(Collectors.joining(",")));
    }

    private static String orNone(String text) {
        return text.isEmpty() ? NONE : text;
    }
}
