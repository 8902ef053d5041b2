package io.nodekeeper.agent.pods.status;

import io.nodekeeper.agent.pleg.PodStatus;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.model.Qos;
import io.nodekeeper.agent.pods.status.ContainerReport.Stage;
import io.nodekeeper.agent.pods.sync.Decision;
import io.nodekeeper.agent.pods.sync.Observed;
import io.nodekeeper.agent.pods.sync.Wanted;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Computes {@code status} of a pod from what the runtime shows, as a kubelet 1.32 reports it. */
public final class PodReport {
    /** The conditions that the node owns. */
    private static final Set<String> OWN =
            Set.of("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled");

    private final Wanted wanted;
    private final Pod pod;
    private final PodStatus observed;
    private final Inputs inputs;
    private final JsonObject before;
    private final List<ContainerReport> containers;

    /**
     * What a report needs besides the pod. Immutable.
     *
     * @param waiting by container: why it does not run
     * @param hostIps the node's addresses, the primary one first
     * @param runtime the runtime's name, such as {@code containerd}
     */
    public record Inputs(Map<String, Decision.Waiting> waiting, List<String> hostIps, String runtime, Instant now) {}

    private PodReport(Wanted wanted, PodStatus observed, JsonObject before, Inputs inputs) {
        this.wanted = wanted;
        this.pod = wanted.pod();
        this.observed = observed;
        this.inputs = inputs;
        this.before = before;
        Observed view = new Observed(observed);
        Map<String, JsonObject> known = before.array("containerStatuses")
                .objects()
                .collect(Collectors.toMap(entry -> entry.text("name"), entry -> entry, (first, second) -> first));
        containers = pod.containers().stream()
                .sorted(Comparator.comparing(ContainerSpec::name))
                .map(container -> ContainerReport.of(
                        container,
                        view,
                        Optional.ofNullable(inputs.waiting().get(container.name())),
                        inputs.runtime(),
                        known.getOrDefault(container.name(), JsonObject.EMPTY)))
                .toList();
    }

    /** The status; {@code before} is the last one that was reported, and keeps the times of what did not change. */
    public static JsonObject status(Wanted wanted, PodStatus observed, JsonObject before, Inputs inputs) {
        return new PodReport(wanted, observed, before, inputs).status();
    }

    private JsonObject status() {
        String phase = phase();
        JsonObject.Builder status = JsonObject.builder().put("phase", phase).put("conditions", conditions(phase));
        if (!inputs.hostIps().isEmpty()) {
            status.put("hostIP", inputs.hostIps().getFirst()).put("hostIPs", ips(inputs.hostIps()));
        }
        List<String> own = pod.hostNetwork() && !observed.sandboxes().isEmpty() ? inputs.hostIps() : observed.ips();
        if (!own.isEmpty()) {
            status.put("podIP", own.getFirst()).put("podIPs", ips(own));
        }
        String started = before.text("startTime");
        return status.put("startTime", started.isEmpty() ? KubeTime.format(inputs.now()) : started)
                .put(
                        "containerStatuses",
                        new JsonArray(containers.stream()
                                .<JsonValue>map(ContainerReport::json)
                                .toList()))
                .put("qosClass", Qos.of(pod).text())
                .build();
    }

    private static JsonArray ips(List<String> addresses) {
        return new JsonArray(addresses.stream()
                .<JsonValue>map(ip -> JsonObject.builder().put("ip", ip).build())
                .toList());
    }

    private String phase() {
        if (pod.isTerminal()) {
            return pod.phase();
        }
        long running = count(Stage.RUNNING);
        long waiting = count(Stage.WAITING);
        long failed = count(Stage.FAILED);
        if (!wanted.run() && running == 0 && waiting == 0) {
            return failed > 0 ? Pod.FAILED : Pod.SUCCEEDED;
        }
        if (waiting > 0) {
            return Pod.PENDING;
        }
        if (running > 0 || pod.restartPolicy() == Pod.RestartPolicy.ALWAYS) {
            return Pod.RUNNING;
        }
        if (failed == 0) {
            return Pod.SUCCEEDED;
        }
        return pod.restartPolicy() == Pod.RestartPolicy.NEVER ? Pod.FAILED : Pod.RUNNING;
    }

    private long count(Stage stage) {
        return containers.stream()
                .filter(container -> container.stage() == stage)
                .count();
    }

    private JsonArray conditions(String phase) {
        boolean sandbox = !observed.sandboxes().isEmpty()
                && observed.sandboxes().getFirst().sandbox().ready();
        List<String> unready = containers.stream()
                .filter(container -> !container.isReady())
                .map(container -> container.json().text("name"))
                .toList();
        boolean ready = unready.isEmpty() && !phase.equals(Pod.SUCCEEDED) && !phase.equals(Pod.FAILED);
        String reason = ready
                ? ""
                : switch (phase) {
                    case Pod.SUCCEEDED -> "PodCompleted";
                    case Pod.FAILED -> "PodFailed";
                    default -> "ContainersNotReady";
                };
        String message = reason.equals("ContainersNotReady")
                ? "containers with unready status: [" + String.join(" ", unready) + "]"
                : "";
        List<JsonValue> conditions = new ArrayList<>();
        conditions.add(condition("PodReadyToStartContainers", sandbox, "", ""));
        conditions.add(condition("Initialized", true, phase.equals(Pod.SUCCEEDED) ? "PodCompleted" : "", ""));
        conditions.add(condition("Ready", ready, reason, message));
        conditions.add(condition("ContainersReady", ready, reason, message));
        conditions.add(condition("PodScheduled", true, "", ""));
        // Conditions of others, such as DisruptionTarget, stay.
        pod.status()
                .array("conditions")
                .objects()
                .filter(condition -> !OWN.contains(condition.text("type")))
                .forEach(conditions::add);
        return new JsonArray(conditions);
    }

    private JsonObject condition(String type, boolean holds, String reason, String message) {
        String status = holds ? Condition.TRUE : Condition.FALSE;
        String since = before.array("conditions")
                .objects()
                .filter(old ->
                        old.text("type").equals(type) && old.text("status").equals(status))
                .map(old -> old.text("lastTransitionTime"))
                .findFirst()
                .orElseGet(() -> KubeTime.format(inputs.now()));
        return JsonObject.builder()
                .put("type", type)
                .put("status", status)
                .put("lastTransitionTime", since)
                .putUnlessEmpty("reason", reason)
                .putUnlessEmpty("message", message)
                .build();
    }
}
