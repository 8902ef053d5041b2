package io.nodekeeper.apiserver.printers;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonBool;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The table columns of each kind, as in Kubernetes. */
public final class Tables {

    public static final Table NODES = new Table(List.of(
            name(),
            column("Status", Tables::nodeStatus),
            column("Roles", Tables::nodeRoles),
            age(),
            column("Version", node -> info(node, "kubeletVersion")),
            wide("Internal-IP", node -> address(node, "InternalIP")),
            wide("External-IP", node -> address(node, "ExternalIP")),
            wide("OS-Image", node -> orUnknown(info(node, "osImage"))),
            wide("Kernel-Version", node -> orUnknown(info(node, "kernelVersion"))),
            wide("Container-Runtime", node -> orUnknown(info(node, "containerRuntimeVersion")))));

    public static final Table PODS = new Table(List.of(
            name(),
            column("Ready", pod -> new PodColumns(pod).ready()),
            column("Status", pod -> new PodColumns(pod).status()),
            at("Restarts", false, (pod, now) -> new PodColumns(pod).restarts(now)),
            age(),
            wide("IP", PodColumns::ip),
            wide("Node", pod -> CellText.orNone(pod.object("spec").text("nodeName"))),
            wide("Nominated Node", pod -> CellText.orNone(pod.object("status").text("nominatedNodeName"))),
            wide("Readiness Gates", PodColumns::readinessGates)));

    public static final Table EVENTS = new Table(List.of(
            at("Last Seen", false, (event, now) -> since(EventColumns.lastSeen(event), now)),
            column("Type", event -> event.text("type")),
            column("Reason", event -> event.text("reason")),
            column("Object", EventColumns::object),
            wide("Subobject", event -> event.object("involvedObject").text("fieldPath")),
            wide("Source", EventColumns::source),
            column("Message", event -> event.text("message").strip()),
            at("First Seen", true, (event, now) -> since(EventColumns.firstSeen(event), now)),
            new Table.Column("Count", "integer", true, (event, now) -> JsonNumber.of(EventColumns.count(event))),
            wide("Name", event -> event.object("metadata").text("name"))));

    /** The columns of a kind without its own. */
    public static final Table NAME_AND_AGE = new Table(List.of(name(), age()));

    public static final Table NAMESPACES = new Table(List.of(
            name(), column("Status", namespace -> namespace.object("status").text("phase")), age()));

    public static final Table LEASES = new Table(
            List.of(name(), column("Holder", lease -> lease.object("spec").text("holderIdentity")), age()));

    public static final Table ROLES = new Table(List.of(
            name(),
            new Table.Column(
                    "Created At",
                    "date",
                    false,
                    (role, now) -> new JsonString(role.object("metadata").text("creationTimestamp")))));

    public static final Table ROLE_BINDINGS = new Table(List.of(
            name(),
            column(
                    "Role",
                    binding -> binding.object("roleRef").text("kind") + "/"
                            + binding.object("roleRef").text("name")),
            age(),
            wide("Users", binding -> subjects(binding, "User")),
            wide("Groups", binding -> subjects(binding, "Group")),
            wide("ServiceAccounts", binding -> subjects(binding, "ServiceAccount"))));

    private Tables() {}

    static Table.Column name() {
        return column("Name", object -> object.object("metadata").text("name"));
    }

    public static Table.Column age() {
        return at("Age", false, (object, now) -> since(object.object("metadata").text("creationTimestamp"), now));
    }

    static Table.Column column(String name, Function<JsonObject, String> cell) {
        return at(name, false, (object, now) -> cell.apply(object));
    }

    static Table.Column wide(String name, Function<JsonObject, String> cell) {
        return at(name, true, (object, now) -> cell.apply(object));
    }

    static Table.Column count(String name, Function<JsonObject, Number> cell) {
        return new Table.Column(
                name,
                "integer",
                false,
                (object, now) -> JsonNumber.of(cell.apply(object).longValue()));
    }

    static Table.Column flag(String name, Predicate<JsonObject> cell) {
        return new Table.Column(
                name, "boolean", false, (object, now) -> cell.test(object) ? JsonBool.TRUE : JsonBool.FALSE);
    }

    private static Table.Column at(String name, boolean wide, BiFunction<JsonObject, Instant, String> cell) {
        return new Table.Column(name, "string", wide, (object, now) -> new JsonString(cell.apply(object, now)));
    }

    private static String since(String time, Instant now) {
        return KubeTime.parse(time)
                .map(instant -> CellText.age(Duration.between(instant, now)))
                .orElse("<unknown>");
    }

    private static String nodeStatus(JsonObject json) {
        Node node = new Node(json);
        String status = node.ready()
                .map(ready -> ready.status().equals(Condition.TRUE) ? "Ready" : "NotReady")
                .orElse("Unknown");
        return node.unschedulable() ? status + ",SchedulingDisabled" : status;
    }

    private static String nodeRoles(JsonObject json) {
        TreeSet<String> roles = new TreeSet<>();
        new Node(json).labels().forEach((key, value) -> {
            if (key.startsWith("node-role.kubernetes.io/")) {
                roles.add(key.substring("node-role.kubernetes.io/".length()));
            } else if (key.equals("kubernetes.io/role") && !value.isEmpty()) {
                roles.add(value);
            }
        });
        roles.remove("");
        return roles.isEmpty() ? "<none>" : String.join(",", roles);
    }

    private static String address(JsonObject node, String type) {
        return node.object("status")
                .array("addresses")
                .objects()
                .filter(address -> address.text("type").equals(type))
                .map(address -> address.text("address"))
                .findFirst()
                .orElse("<none>");
    }

    private static String info(JsonObject node, String field) {
        return node.object("status").object("nodeInfo").text(field);
    }

    private static String subjects(JsonObject binding, String kind) {
        return binding.array("subjects")
                .objects()
                .filter(subject -> subject.text("kind").equals(kind))
                .map(subject -> kind.equals("ServiceAccount")
                        ? subject.text("namespace") + "/" + subject.text("name")
                        : subject.text("name"))
                .collect(Collectors.joining(", "));
    }

    private static String orUnknown(String text) {
        return text.isEmpty() ? "<unknown>" : text;
    }
}
