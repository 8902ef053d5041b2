package io.nodekeeper.agent.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.config.PodSecurityConfig;
import io.nodekeeper.agent.eviction.Pressure;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.security.SecurityAdmission;
import io.nodekeeper.agent.pods.security.SimulatedSupport;
import io.nodekeeper.agent.pods.sync.Wanted;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which pods a node takes. */
class AdmissionTest {
    private static final JsonObject ALLOCATABLE =
            Json.parseObject("{\"cpu\": \"2\", \"memory\": \"1Gi\", \"ephemeral-storage\": \"10Gi\"}");

    private static final Node NODE = new Node(Json.parseObject("""
            {"metadata": {"name": "n1", "labels": {"disk": "fast", "cores": "8"}},
             "spec": {"taints": [{"key": "repair", "effect": "NoExecute"}, {"key": "busy", "effect": "NoSchedule"}]}}"""));

    private static final SecurityAdmission SECURITY =
            new SecurityAdmission(PodSecurityConfig.DEFAULT, new SimulatedSupport());

    private static Pod pod(String requests, String spec) {
        return new Pod(Json.parseObject("""
                {"spec": {"containers": [{"name": "c", "resources": {"requests": {%s}}}]%s}}
                """.formatted(requests, spec)));
    }

    private static Pod pod(String requests) {
        return pod(requests, "");
    }

    private static String reason(Set<Pressure> pressures, Pod pod, Pod... active) {
        return verdict(
                new Admission(110, ALLOCATABLE, Optional.empty(), pressures, false, SECURITY), pod, false, active);
    }

    private static String onNode(Pod pod, boolean isStatic, Pod... active) {
        return verdict(
                new Admission(110, ALLOCATABLE, Optional.of(NODE), Set.of(Pressure.DISK), false, SECURITY),
                pod,
                isStatic,
                active);
    }

    private static String verdict(Admission admission, Pod pod, boolean isStatic, Pod... active) {
        return switch (admission.judge(pod, isStatic, List.of(active), List.of(active))) {
            case Admission.Verdict.Admitted admitted -> "";
            case Admission.Verdict.Refused(Wanted.Eviction why) -> why.reason() + ": " + why.message();
            case Admission.Verdict.Preempts(List<Pod> victims) ->
                "ends " + victims.stream().map(Pod::name).toList();
        };
    }

    @Test
    @Tag("A41")
    void shouldCountExtendedResourcesAndHugePages() {
        JsonObject allocatable = Json.parseObject("{\"example.com/dongle\": \"3\", \"hugepages-2Mi\": \"8Mi\"}");
        Admission admission = new Admission(110, allocatable, Optional.empty(), Set.of(), false, SECURITY);
        Pod two = pod("\"example.com/dongle\": \"2\"");

        assertThat(verdict(admission, two, false)).isEmpty();
        assertThat(verdict(admission, two, false, two))
                .isEqualTo("OutOfexample.com/dongle: Node didn't have enough resource: example.com/dongle,"
                        + " requested: 2, used: 2, capacity: 3");
        assertThat(verdict(admission, pod("\"hugepages-2Mi\": \"10Mi\""), false))
                .isEqualTo("OutOfhugepages-2Mi: Node didn't have enough resource: hugepages-2Mi,"
                        + " requested: 10485760, used: 0, capacity: 8388608");
        // As in a kubelet, what the node does not have at all was given by a scheduler extender.
        assertThat(verdict(admission, pod("\"example.com/elsewhere\": \"1\""), false))
                .isEmpty();
    }

    @Test
    void shouldRefuseSysctlsThatAreNotAllowed() {
        Pod pod =
                pod("", ", \"securityContext\": {\"sysctls\": [{\"name\": \"net.core.somaxconn\", \"value\": \"9\"}]}");

        assertThat(reason(Set.of(), pod))
                .isEqualTo("SysctlForbidden: forbidden sysctl: \"net.core.somaxconn\" not allowlisted");
    }

    @Test
    void shouldCountTheOverheadOfARuntime() {
        Pod pod = pod("\"cpu\": \"1500m\"", ", \"overhead\": {\"cpu\": \"600m\"}");

        assertThat(reason(Set.of(), pod))
                .isEqualTo("OutOfcpu: Node didn't have enough resource: cpu, requested: 2100, used: 0, capacity: 2000");
        assertThat(reason(Set.of(), pod("\"cpu\": \"1500m\"", ", \"overhead\": {\"cpu\": \"500m\"}")))
                .isEmpty();
    }

    @Test
    void shouldTakeWhatFitsExactly() {
        Pod half = pod("\"cpu\": \"1\", \"memory\": \"512Mi\"");

        assertThat(reason(Set.of(), half, half)).isEmpty();
        assertThat(reason(Set.of(), pod("\"cpu\": \"1m\""), half, half))
                .isEqualTo("OutOfcpu: Node didn't have enough resource: cpu, requested: 1, used: 2000,"
                        + " capacity: 2000");
        assertThat(reason(Set.of(), pod("\"memory\": \"1\""), half, half))
                .isEqualTo("OutOfmemory: Node didn't have enough resource: memory, requested: 1,"
                        + " used: 1073741824, capacity: 1073741824");
        assertThat(reason(Set.of(), pod("\"ephemeral-storage\": \"11Gi\""))).startsWith("OutOfephemeral-storage: ");
        assertThat(reason(Set.of(), pod(""), half, half)).isEmpty();
    }

    @Test
    void shouldLimitNothingWhoseAmountIsNotKnown() {
        assertThat(verdict(
                        new Admission(110, JsonObject.EMPTY, Optional.empty(), Set.of(), false, SECURITY),
                        pod("\"cpu\": \"1000\""),
                        false))
                .isEmpty();
    }

    @Test
    void shouldCountInitContainersAndSidecarsAsTheSchedulerDoes() {
        Pod pod = new Pod(Json.parseObject("""
                {"spec": {"initContainers": [
                   {"name": "a", "resources": {"requests": {"cpu": "300m"}}},
                   {"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "200m"}}},
                   {"name": "b", "resources": {"requests": {"cpu": "900m"}}}],
                 "containers": [{"name": "c", "resources": {"requests": {"cpu": "500m"}}}]}}"""));

        assertThat(pod.request("cpu").toMillis()).isEqualTo(1_100);
    }

    @Test
    void shouldTakeUnderMemoryPressureOnlyWhatRequestsSomethingOrToleratesIt() {
        Set<Pressure> memory = Set.of(Pressure.MEMORY);
        String refused = "Evicted: The node had condition: [MemoryPressure]. ";

        assertThat(reason(memory, pod(""))).isEqualTo(refused);
        assertThat(reason(memory, pod("\"cpu\": \"1m\""))).isEmpty();
        assertThat(reason(memory, pod("", ", \"priority\": 2000000000"))).isEmpty();
        assertThat(reason(memory, pod("", tolerations("""
                {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"}""")))).isEmpty();
        assertThat(reason(memory, pod("", tolerations("{\"operator\": \"Exists\"}"))))
                .isEmpty();
        assertThat(reason(memory, pod("", tolerations("""
                {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoExecute"}""")))).isEqualTo(refused);
        assertThat(reason(memory, pod("", tolerations("{\"key\": \"other\", \"operator\": \"Exists\"}"))))
                .isEqualTo(refused);
        assertThat(reason(Set.of(Pressure.DISK, Pressure.MEMORY), pod("\"cpu\": \"1m\"")))
                .isEqualTo("Evicted: The node had condition: [MemoryPressure DiskPressure]. ");
    }

    private static String tolerations(String one) {
        return ", \"tolerations\": [" + one + "]";
    }

    @Test
    void shouldTakeStaticPodsUnderPressure() {
        assertThat(onNode(pod("\"cpu\": \"1\""), true)).isEmpty();
        assertThat(onNode(pod("\"cpu\": \"1\""), false)).startsWith("Evicted: ");
    }

    @Test
    void shouldTakeOnlyWhatSelectsTheNode() {
        String refused =
                "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";

        assertThat(onNode(pod("", ", \"nodeSelector\": {\"disk\": \"fast\"}"), true))
                .isEmpty();
        assertThat(onNode(pod("", ", \"nodeSelector\": {\"disk\": \"slow\"}"), true))
                .isEqualTo(refused);
        assertThat(onNode(affine("{\"key\": \"disk\", \"operator\": \"In\", \"values\": [\"fast\"]}"), true))
                .isEmpty();
        assertThat(onNode(affine("{\"key\": \"disk\", \"operator\": \"NotIn\", \"values\": [\"fast\"]}"), true))
                .isEqualTo(refused);
        assertThat(onNode(affine("{\"key\": \"cores\", \"operator\": \"Gt\", \"values\": [\"7\"]}"), true))
                .isEmpty();
        assertThat(onNode(affine("{\"key\": \"cores\", \"operator\": \"Lt\", \"values\": [\"8\"]}"), true))
                .isEqualTo(refused);
        assertThat(onNode(affine("{\"key\": \"gpu\", \"operator\": \"DoesNotExist\"}"), true))
                .isEmpty();
        // A term without requirements selects nothing.
        assertThat(onNode(affine(""), true)).isEqualTo(refused);
        // What is not known refuses nothing.
        assertThat(reason(Set.of(), pod("", ", \"nodeSelector\": {\"disk\": \"slow\"}")))
                .isEmpty();
    }

    private static Pod affine(String expression) {
        return pod("", """
                , "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                  {"nodeSelectorTerms": [{"matchExpressions": [%s]}]}}}""".formatted(expression));
    }

    @Test
    void shouldRefuseAPodOfTheApiThatDoesNotTolerateAnExecutionTaint() {
        Admission admission = new Admission(110, ALLOCATABLE, Optional.of(NODE), Set.of(), false, SECURITY);

        assertThat(verdict(admission, pod(""), false))
                .isEqualTo("TaintToleration: Predicate TaintToleration failed: node(s) had taints that the pod didn't"
                        + " tolerate");
        assertThat(verdict(admission, pod("", tolerations("{\"key\": \"repair\", \"operator\": \"Exists\"}")), false))
                .isEmpty();
        assertThat(verdict(admission, pod(""), true)).isEmpty();
    }

    @Test
    void shouldRefuseAPodWhosePortOfTheHostIsTaken() {
        String refused = "NodePorts: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod"
                + " ports";
        Pod web = ported("{\"hostPort\": 80, \"containerPort\": 1}", false);

        assertThat(reason(Set.of(), web, ported("{\"hostPort\": 80, \"containerPort\": 2}", false)))
                .isEqualTo(refused);
        assertThat(reason(Set.of(), web, ported("{\"containerPort\": 80}", true)))
                .isEqualTo(refused);
        assertThat(reason(Set.of(), web, ported("{\"containerPort\": 80}", false)))
                .isEmpty();
        assertThat(reason(Set.of(), web, ported("{\"hostPort\": 80, \"protocol\": \"UDP\"}", false)))
                .isEmpty();
        assertThat(reason(Set.of(), web, ported("{\"hostPort\": 80, \"hostIP\": \"10.0.0.1\"}", false)))
                .isEqualTo(refused);
        assertThat(reason(
                        Set.of(),
                        ported("{\"hostPort\": 80, \"hostIP\": \"10.0.0.2\"}", false),
                        ported("{\"hostPort\": 80, \"hostIP\": \"10.0.0.1\"}", false)))
                .isEmpty();
        assertThat(reason(
                        Set.of(),
                        ported("{\"hostPort\": 80, \"hostIP\": \"10.0.0.2\"}", false),
                        ported("{\"hostPort\": 80, \"hostIP\": \"0.0.0.0\"}", false)))
                .isEqualTo(refused);
        assertThat(reason(Set.of(), ported("{\"hostPort\": 80, \"hostIP\": \"10.0.0.2\"}", false), web))
                .isEqualTo(refused);
    }

    @Test
    void shouldCountPortsOfSidecarsAndNotThoseOfOtherInitContainers() {
        Pod web = ported("{\"hostPort\": 80, \"containerPort\": 1}", false);
        String init = """
                {"spec": {"initContainers": [{"name": "i", %s"ports": [{"hostPort": 80}]}],
                          "containers": [{"name": "c"}]}}
                """;

        assertThat(reason(Set.of(), web, new Pod(Json.parseObject(init.formatted("\"restartPolicy\": \"Always\", ")))))
                .startsWith("NodePorts: ");
        assertThat(reason(Set.of(), web, new Pod(Json.parseObject(init.formatted("")))))
                .isEmpty();
    }

    /** If each port were compared with each other one, and each container with each other one, this would take hours. */
    @Test
    void shouldDecideAboutPodsWithThousandsOfContainersAndPorts() {
        Pod some = manyPorts(1);
        Pod others = manyPorts(10_001);

        assertThat(reason(Set.of(), some, others)).isEmpty();
        assertThat(reason(Set.of(), some, others, manyPorts(10_000))).startsWith("NodePorts: ");
    }

    /** A pod of 10,000 containers, each with a port of the host. */
    private static Pod manyPorts(int first) {
        String containers = IntStream.range(first, first + 10_000)
                .mapToObj(port -> "{\"name\": \"c%1$d\", \"ports\": [{\"hostPort\": %1$d}]}".formatted(port))
                .collect(Collectors.joining(", "));
        return new Pod(Json.parseObject("{\"spec\": {\"containers\": [" + containers + "]}}"));
    }

    private static Pod ported(String port, boolean hostNetwork) {
        return new Pod(Json.parseObject("""
                {"spec": {"hostNetwork": %s, "containers": [{"name": "c", "ports": [%s]}]}}
                """.formatted(hostNetwork, port)));
    }

    @Test
    void shouldEndTheFewestAndLeastGuaranteedPodsForACriticalOne() {
        Pod critical = pod("\"cpu\": \"1500m\"", ", \"priority\": 2000000000");
        Pod idle = named("idle", "", "");
        Pod small = named("small", "\"cpu\": \"300m\"", "");
        Pod large = named("large", "\"cpu\": \"900m\"", "");
        Pod sure = named("sure", "\"cpu\": \"500m\", \"memory\": \"1Mi\"", "\"cpu\": \"500m\", \"memory\": \"1Mi\"");
        Pod system = new Pod(named("system", "\"cpu\": \"300m\"", "")
                .json()
                .update("spec", spec -> spec.with("priority", Json.parse("2000000001"))));

        // 1,200 of 2,000 are missing 700.
        assertThat(reason(Set.of(), critical, idle, small, large)).isEqualTo("ends [large]");
        // 700 are missing, and all but the guaranteed one have 300.
        assertThat(reason(Set.of(), pod("\"cpu\": \"1900m\"", ", \"priority\": 2000000000"), small, sure))
                .isEqualTo("ends [small, sure]");
        assertThat(verdict(
                        new Admission(110, ALLOCATABLE, Optional.empty(), Set.of(), false, SECURITY),
                        pod("\"cpu\": \"1500m\""),
                        true,
                        large))
                .isEqualTo("ends [large]");
        assertThat(reason(Set.of(), pod("\"cpu\": \"1900m\"", ", \"priority\": 2000000000"), system))
                .isEqualTo("UnexpectedAdmissionError: Unexpected error while attempting to recover from admission"
                        + " failure: preemption: error finding a set of pods to preempt: no set of running pods found"
                        + " to reclaim resources: [(res: cpu, q: 200), ]");
        assertThat(reason(Set.of(), pod("\"cpu\": \"1500m\""), large)).startsWith("OutOfcpu: ");
    }

    private static Pod named(String name, String requests, String limits) {
        return new Pod(Json.parseObject("""
                {"metadata": {"name": "%s"},
                 "spec": {"containers": [{"name": "c", "resources": {"requests": {%s}, "limits": {%s}}}]}}
                """.formatted(name, requests, limits)));
    }

    @Test
    @Tag("A102")
    void shouldTakeNothingWhileTheMachineIsShutDown() {
        assertThat(verdict(new Admission(110, ALLOCATABLE, Optional.empty(), Set.of(), true, SECURITY), pod(""), true))
                .isEqualTo("NodeShutdown: Pod was rejected as the node is shutting down.");
    }
}
