package io.nodekeeper.agent.pods.status;

import io.nodekeeper.agent.pleg.PodStatus;
import io.nodekeeper.agent.pods.model.ContainerHealth;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.status.ContainerReport.Stage;
import io.nodekeeper.agent.pods.sync.Decision;
import io.nodekeeper.agent.pods.sync.Observed;
import io.nodekeeper.agent.pods.sync.Reasons;
import io.nodekeeper.agent.pods.sync.Wanted;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.QosClass;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.cri.ContainerState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Computes the node's part of {@code status} of a pod from what the runtime shows, as a kubelet 1.32 reports it. */
public final class PodReport {
    /** The conditions that the node owns. */
    private static final Set<String> OWN =
            Set.of("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled");

    /** Says that the pod's end was not decided by its owner. */
    private static final String TARGET = "DisruptionTarget";

    /** The most bytes of all containers' messages about their ends: the kubelet's. */
    private static final int MESSAGES = 12 << 10;

    private final Wanted wanted;
    private final Pod pod;
    private final PodStatus observed;
    private final Inputs inputs;
    private final JsonObject before;
    private final List<ContainerReport> containers;
    private final List<ContainerSpec> initContainers;
    /** Of the {@link #initContainers}, in their order. */
    private final List<ContainerReport> init;

    private final List<ContainerReport> ephemeral;
    /** Whether the pod must end and nothing of it runs any more: what has not started never will. */
    private final boolean over;

    /**
     * What a report needs besides the pod. Immutable.
     *
     * @param waiting by container: why it does not run
     * @param health of running containers, by the runtime's id
     * @param hostIps the node's addresses, the primary one first
     * @param runtime the runtime's name, such as {@code containerd}
     */
    public record Inputs(
            Map<String, Decision.Waiting> waiting,
            Map<String, ContainerHealth> health,
            List<String> hostIps,
            String runtime,
            Instant now) {}

    private PodReport(Wanted wanted, PodStatus observed, JsonObject before, Inputs inputs) {
        this.wanted = wanted;
        this.pod = wanted.pod();
        this.observed = observed;
        this.inputs = inputs;
        this.before = before;
        initContainers = pod.initContainers();
        Observed view = new Observed(observed);
        ContainerReport.Known known = new ContainerReport.Known(
                view,
                inputs.health(),
                inputs.runtime(),
                initContainers.isEmpty() ? Reasons.CONTAINER_CREATING : Reasons.POD_INITIALIZING,
                MESSAGES
                        / Math.max(
                                1,
                                pod.allContainers().size()
                                        + pod.ephemeralContainers().size()));
        Map<String, JsonObject> last = entries("containerStatuses");
        List<ContainerReport> main = pod.containers().stream()
                .sorted(Comparator.comparing(ContainerSpec::name))
                .map(container -> ContainerReport.of(container, known, waiting(container), entry(last, container)))
                .toList();
        Map<String, JsonObject> lastEphemeral = entries("ephemeralContainerStatuses");
        ephemeral = pod.ephemeralContainers().stream()
                .map(container -> ContainerReport.ofEphemeral(
                        container, known, waiting(container), entry(lastEphemeral, container)))
                .toList();
        boolean begun = pod.containers().stream()
                .anyMatch(container -> view.newest(container.name()).isPresent());
        Map<String, JsonObject> lastInit = entries("initContainerStatuses");
        List<ContainerReport> first = initContainers.stream()
                .map(container -> container.isSidecar()
                        ? ContainerReport.of(container, known, waiting(container), entry(lastInit, container))
                        : ContainerReport.ofInit(
                                container, known, waiting(container), entry(lastInit, container), begun))
                .toList();
        over = !wanted.run() && observed.containers().stream().noneMatch(Observed::mayRun);
        init = over ? ended(first, attempted(first)) : first;
        containers = over && hasInitialized(first, main) ? ended(main, main.size()) : main;
    }

    /** The entries, of which the first {@code count} have ended for good. */
    private static List<ContainerReport> ended(List<ContainerReport> reports, int count) {
        return IntStream.range(0, reports.size())
                .mapToObj(i -> i < count ? reports.get(i).ended() : reports.get(i))
                .toList();
    }

    /** How many init containers the pod got to: all but the last ones that never started, and at least the first. */
    private static int attempted(List<ContainerReport> init) {
        int count = init.size();
        while (count > 1 && init.get(count - 1).stage() == Stage.WAITING) {
            count--;
        }
        return count;
    }

    /** Whether the pod got to its main containers. */
    private static boolean hasInitialized(List<ContainerReport> init, List<ContainerReport> main) {
        return init.isEmpty()
                || init.getLast().stage() == Stage.SUCCEEDED
                || init.getLast().isStarted()
                || main.stream().anyMatch(report -> report.stage() != Stage.WAITING);
    }

    private Map<String, JsonObject> entries(String field) {
        return before.array(field)
                .objects()
                .collect(Collectors.toMap(entry -> entry.text("name"), entry -> entry, (first, second) -> first));
    }

    private static JsonObject entry(Map<String, JsonObject> entries, ContainerSpec container) {
        return entries.getOrDefault(container.name(), JsonObject.EMPTY);
    }

    private Optional<Decision.Waiting> waiting(ContainerSpec container) {
        return Optional.ofNullable(inputs.waiting().get(container.name()));
    }

    /**
     * The status without the conditions of others; {@code before} is the last one that was reported, and keeps the times of what did
     * not change.
     */
    public static JsonObject status(Wanted wanted, PodStatus observed, JsonObject before, Inputs inputs) {
        return new PodReport(wanted, observed, before, inputs).status();
    }

    /** The conditions in {@code status} that the node owns: their status by type. */
    public static Map<String, String> ownConditions(JsonObject status) {
        return status.array("conditions")
                .objects()
                .filter(condition -> OWN.contains(condition.text("type")))
                .collect(Collectors.toMap(
                        condition -> condition.text("type"),
                        condition -> condition.text("status"),
                        (first, second) -> second));
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
        wanted.eviction().ifPresent(why -> status.put("reason", why.reason()).put("message", why.message()));
        if (!init.isEmpty()) {
            status.put("initContainerStatuses", statuses(init));
        }
        if (!ephemeral.isEmpty()) {
            status.put("ephemeralContainerStatuses", statuses(ephemeral));
        }
        return status.put("startTime", started.isEmpty() ? KubeTime.format(inputs.now()) : started)
                .put("containerStatuses", statuses(containers))
                .put("qosClass", QosClass.of(pod.spec()).text())
                .build();
    }

    private static JsonArray statuses(List<ContainerReport> reports) {
        return new JsonArray(
                reports.stream().<JsonValue>map(ContainerReport::json).toList());
    }

    private static JsonArray ips(List<String> addresses) {
        return new JsonArray(addresses.stream()
                .<JsonValue>map(ip -> JsonObject.builder().put("ip", ip).build())
                .toList());
    }

    /**
     * A pod does not get to its last phase while a container may run, whichever it is: owners such as Jobs would replace it, and
     * others use its resources and volumes. Until then it has the phase before.
     */
    private String phase() {
        if (pod.isTerminal()) {
            return pod.phase();
        }
        String phase = byStages();
        String last = before.text("phase");
        if (!isTerminal(phase) || isTerminal(last) || !mayRun()) {
            return phase;
        }
        if (last.equals(Pod.PENDING) || last.equals(Pod.RUNNING)) {
            return last;
        }
        return count(Stage.WAITING) > 0 ? Pod.PENDING : Pod.RUNNING;
    }

    private static boolean isTerminal(String phase) {
        return phase.equals(Pod.FAILED) || phase.equals(Pod.SUCCEEDED);
    }

    /** Whether a container may run. One whose state the runtime has lost ends with its sandbox. */
    private boolean mayRun() {
        boolean sandbox = observed.sandboxes().stream()
                .anyMatch(status -> status.sandbox().ready());
        return observed.containers().stream()
                .anyMatch(container ->
                        container.state() == ContainerState.RUNNING || sandbox && Observed.mayRun(container));
    }

    /** The phase by the stages of the containers. */
    private String byStages() {
        long running = count(Stage.RUNNING);
        long waiting = count(Stage.WAITING);
        long failed = count(Stage.FAILED);
        if (wanted.eviction().isPresent()) {
            return Pod.FAILED;
        }
        if (over) {
            // A container that never started has not succeeded. Owners such as Jobs wait for one of these phases.
            return failed + waiting > 0 ? Pod.FAILED : Pod.SUCCEEDED;
        }
        boolean never = pod.restartPolicy() == Pod.RestartPolicy.NEVER;
        boolean noneRuns = waiting == containers.size() || running == 0 && startsAgain();
        if (never && noneRuns && initFailed()) {
            return Pod.FAILED;
        }
        if (waiting > 0) {
            return Pod.PENDING;
        }
        // A pod has not completed while a sidecar still runs.
        running += init.stream()
                .filter(sidecar -> sidecar.stage() == Stage.RUNNING)
                .count();
        if (running > 0 || pod.restartPolicy() == Pod.RestartPolicy.ALWAYS || startsAgain()) {
            return Pod.RUNNING;
        }
        if (failed == 0) {
            return Pod.SUCCEEDED;
        }
        return never ? Pod.FAILED : Pod.RUNNING;
    }

    /** Whether a container that has ended runs again whatever its exit code, such as one that was ended by a probe. */
    private boolean startsAgain() {
        Observed view = new Observed(observed);
        return pod.containers().stream()
                .anyMatch(container -> waiting(container).isPresent()
                        && view.newest(container.name()).isPresent());
    }

    /** Whether an init container that is not a sidecar ended with an error. */
    private boolean initFailed() {
        for (int i = 0; i < init.size(); i++) {
            if (!initContainers.get(i).isSidecar() && init.get(i).stage() == Stage.FAILED) {
                return true;
            }
        }
        return false;
    }

    /** The init containers that the main ones wait for: those that have not succeeded, and sidecars that have not started. */
    private List<String> incomplete() {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < init.size(); i++) {
            ContainerReport report = init.get(i);
            if (initContainers.get(i).isSidecar() ? !report.isStarted() : !report.isReady()) {
                names.add(report.json().text("name"));
            }
        }
        return names;
    }

    private long count(Stage stage) {
        return containers.stream()
                .filter(container -> container.stage() == stage)
                .count();
    }

    private JsonArray conditions(String phase) {
        boolean sandbox = !observed.sandboxes().isEmpty()
                && observed.sandboxes().getFirst().sandbox().ready();
        List<JsonValue> conditions = new ArrayList<>();
        Verdict ready = containersReady(phase);
        Verdict gates = ready.holds() ? gates() : ready;
        conditions.add(condition("PodReadyToStartContainers", new Verdict(sandbox, "", "")));
        conditions.add(condition("Initialized", initialized(phase)));
        conditions.add(condition("Ready", gates));
        conditions.add(condition("ContainersReady", ready));
        conditions.add(condition("PodScheduled", new Verdict(true, "", "")));
        wanted.eviction()
                .filter(Wanted.Eviction::disrupted)
                .ifPresent(why ->
                        conditions.add(condition(TARGET, new Verdict(true, "TerminationByKubelet", why.message()))));
        return new JsonArray(conditions);
    }

    /** Whether a condition holds, and why not. */
    private record Verdict(boolean holds, String reason, String message) {}

    private Verdict containersReady(String phase) {
        if (phase.equals(Pod.SUCCEEDED)) {
            return new Verdict(false, "PodCompleted", "");
        }
        if (phase.equals(Pod.FAILED)) {
            return new Verdict(false, "PodFailed", "");
        }
        List<String> unready = new ArrayList<>();
        for (int i = 0; i < init.size(); i++) {
            if (initContainers.get(i).isSidecar() && !init.get(i).isReady()) {
                unready.add(init.get(i).json().text("name"));
            }
        }
        containers.stream()
                .filter(container -> !container.isReady())
                .forEach(container -> unready.add(container.json().text("name")));
        return unready.isEmpty()
                ? new Verdict(true, "", "")
                : new Verdict(
                        false,
                        "ContainersNotReady",
                        "containers with unready status: [" + String.join(" ", unready) + "]");
    }

    private Verdict initialized(String phase) {
        if (phase.equals(Pod.SUCCEEDED)) {
            return new Verdict(true, "PodCompleted", "");
        }
        List<String> incomplete = incomplete();
        // Once main containers have started, a sidecar that starts again changes nothing.
        boolean begun = count(Stage.WAITING) < containers.size();
        return incomplete.isEmpty() || begun
                ? new Verdict(true, "", "")
                : new Verdict(
                        false,
                        "ContainersNotInitialized",
                        "containers with incomplete status: [" + String.join(" ", incomplete) + "]");
    }

    /** The conditions that the pod must have besides, set by others. */
    private Verdict gates() {
        List<String> missing = new ArrayList<>();
        for (String type : pod.readinessGates()) {
            Optional<String> status = pod.status()
                    .array("conditions")
                    .objects()
                    .filter(condition -> condition.text("type").equals(type))
                    .map(condition -> condition.text("status"))
                    .findFirst();
            if (status.isEmpty()) {
                missing.add("corresponding condition of pod readiness gate \"" + type + "\" does not exist.");
            } else if (!status.get().equals(Condition.TRUE)) {
                missing.add("the status of pod readiness gate \"" + type + "\" is not \"True\", but " + status.get());
            }
        }
        return missing.isEmpty()
                ? new Verdict(true, "", "")
                : new Verdict(false, "ReadinessGatesNotReady", String.join(", ", missing));
    }

    private JsonObject condition(String type, Verdict verdict) {
        String status = verdict.holds() ? Condition.TRUE : Condition.FALSE;
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
                .putUnlessEmpty("reason", verdict.reason())
                .putUnlessEmpty("message", verdict.message())
                .build();
    }
}
