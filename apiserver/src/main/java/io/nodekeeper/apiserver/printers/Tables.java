package io.nodekeeper.apiserver.printers;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.Function;
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
            column("Ready", Tables::podReady),
            column("Status", PodColumns::status),
            count(
                    "Restarts",
                    pod -> pod.object("status")
                            .array("containerStatuses")
                            .objects()
                            .mapToLong(status -> status.number("restartCount").orElse(0L))
                            .sum()),
            age(),
            wide("IP", pod -> orNone(pod.object("status").text("podIP"))),
            wide("Node", pod -> orNone(pod.object("spec").text("nodeName"))),
            wide("Nominated Node", pod -> orNone(pod.object("status").text("nominatedNodeName"))),
            wide("Readiness Gates", PodColumns::readinessGates)));

    public static final Table EVENTS = new Table(List.of(
            at("Last Seen", false, (event, now) -> since(lastSeen(event), now)),
            column("Type", event -> event.text("type")),
            column("Reason", event -> event.text("reason")),
            column("Object", Tables::eventObject),
            wide("Subobject", event -> event.object("involvedObject").text("fieldPath")),
            wide("Source", Tables::eventSource),
            column("Message", event -> event.text("message").strip()),
            at("First Seen", true, (event, now) -> since(firstSeen(event), now)),
            new Table.Column(
                    "Count",
                    "integer",
                    true,
                    (event, now) -> Long.toString(event.number("count").orElse(1L))),
            new Table.Column(
                    "Name",
                    "string",
                    true,
                    (event, now) -> event.object("metadata").text("name"))));

    /** The columns of a kind without its own. */
    public static final Table NAME_AND_AGE = new Table(List.of(name(), age()));

    public static final Table NAMESPACES = new Table(List.of(
            name(), column("Status", namespace -> namespace.object("status").text("phase")), age()));

    public static final Table LEASES = new Table(
            List.of(name(), column("Holder", lease -> lease.object("spec").text("holderIdentity")), age()));

    public static final Table ROLES = new Table(
            List.of(name(), column("Created At", role -> role.object("metadata").text("creationTimestamp"))));

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

    /** An age as kubectl prints it: {@code 12s}, {@code 3m48s}, {@code 69m}, {@code 5h12m}, {@code 3d}, {@code 2y10d}. */
    static String age(Duration age) {
        long seconds = Math.max(0, age.toSeconds());
        long minutes = seconds / 60;
        long hours = minutes / 60;
        long days = hours / 24;
        if (seconds < 120) {
            return seconds + "s";
        }
        if (minutes < 10) {
            return minutes + "m" + (seconds % 60 == 0 ? "" : seconds % 60 + "s");
        }
        if (minutes < 180) {
            return minutes + "m";
        }
        if (hours < 8) {
            return hours + "h" + (minutes % 60 == 0 ? "" : minutes % 60 + "m");
        }
        if (hours < 48) {
            return hours + "h";
        }
        if (days < 8) {
            return days + "d" + (hours % 24 == 0 ? "" : hours % 24 + "h");
        }
        if (days < 730) {
            return days + "d";
        }
        return days / 365 + "y" + (days % 365 == 0 || days / 365 >= 8 ? "" : days % 365 + "d");
    }

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
                name, "integer", false, (object, now) -> cell.apply(object).toString());
    }

    private static Table.Column at(String name, boolean wide, BiFunction<JsonObject, Instant, String> cell) {
        return new Table.Column(name, "string", wide, cell);
    }

    private static String since(String time, Instant now) {
        return KubeTime.parse(time)
                .map(instant -> age(Duration.between(instant, now)))
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

    private static String podReady(JsonObject pod) {
        List<JsonObject> statuses =
                pod.object("status").array("containerStatuses").objects().toList();
        long ready = statuses.stream().filter(status -> status.bool("ready")).count();
        int all = pod.object("spec").array("containers").items().size();
        return ready + "/" + all;
    }

    private static String lastSeen(JsonObject event) {
        String series = event.object("series").text("lastObservedTime");
        String last = series.isEmpty() ? event.text("lastTimestamp") : series;
        return last.isEmpty() ? firstSeen(event) : last;
    }

    private static String firstSeen(JsonObject event) {
        String first = event.text("firstTimestamp");
        return first.isEmpty() ? event.text("eventTime") : first;
    }

    private static String eventObject(JsonObject event) {
        JsonObject about = event.object("involvedObject");
        return about.text("kind").toLowerCase(Locale.ROOT) + "/" + about.text("name");
    }

    private static String eventSource(JsonObject event) {
        JsonObject source = event.object("source");
        String component = source.text("component");
        String shown = component.isEmpty() ? event.text("reportingComponent") : component;
        return source.text("host").isEmpty() ? shown : shown + ", " + source.text("host");
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

    static String orNone(String text) {
        return text.isEmpty() ? "<none>" : text;
    }

    private static String orUnknown(String text) {
        return text.isEmpty() ? "<unknown>" : text;
    }
}
