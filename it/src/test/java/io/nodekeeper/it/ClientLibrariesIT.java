package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.NodeConditionBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.jdkhttp.JdkHttpClientFactory;
import io.kubernetes.client.custom.V1Patch;
import io.kubernetes.client.extended.leaderelection.LeaderElectionConfig;
import io.kubernetes.client.extended.leaderelection.LeaderElector;
import io.kubernetes.client.informer.SharedInformerFactory;
import io.kubernetes.client.openapi.ApiClient;
import io.kubernetes.client.openapi.ApiException;
import io.kubernetes.client.openapi.apis.CoordinationV1Api;
import io.kubernetes.client.openapi.apis.CoreV1Api;
import io.kubernetes.client.openapi.models.V1Node;
import io.kubernetes.client.openapi.models.V1NodeList;
import io.kubernetes.client.openapi.models.V1ObjectMeta;
import io.kubernetes.client.util.CallGeneratorParams;
import io.kubernetes.client.util.PatchUtils;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The two client libraries of Java, as they are, against a server process; both by client certificate. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
@Tag("long")
class ClientLibrariesIT {
    private static final Duration SOON = Duration.ofSeconds(15);
    private static final String NAMESPACE = "default";

    @TempDir
    static Path directory;

    private Running server;
    private KubernetesClient fabric8;
    private ApiClient official;
    private CoreV1Api core;

    @BeforeAll
    void start() throws Exception {
        Path data = directory.resolve("data");
        server =
                Running.start(directory, "apiserver", "apiserver", "--data-dir", data.toString(), "--secure-port", "0");
        server.awaitAddress();
        Path kubeconfig = data.resolve("admin.kubeconfig");
        fabric8 = new KubernetesClientBuilder()
                .withConfig(Config.fromKubeconfig(Files.readString(kubeconfig)))
                .withHttpClientFactory(new JdkHttpClientFactory())
                .build();
        official = io.kubernetes.client.util.Config.fromConfig(kubeconfig.toString());
        // Informers keep reading.
        official.setReadTimeout(0);
        core = new CoreV1Api(official);
    }

    @AfterAll
    void stop() throws Exception {
        fabric8.close();
        official.getHttpClient().dispatcher().executorService().shutdownNow();
        official.getHttpClient().connectionPool().evictAll();
        assertThat(server.terminate()).isEqualTo(143);
    }

    // ---- fabric8 -------------------------------------------------------------------------------------------------

    private Node node(String name) {
        return fabric8.resource(new NodeBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .endMetadata()
                        .build())
                .create();
    }

    private Pod pod(String name, String node) {
        return fabric8.resource(new PodBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .withNamespace(NAMESPACE)
                        .endMetadata()
                        .withNewSpec()
                        .withNodeName(node)
                        .addNewContainer()
                        .withName("c")
                        .withImage("i")
                        .endContainer()
                        .endSpec()
                        .build())
                .create();
    }

    private static Node labelled(Node node, String label) {
        return new NodeBuilder(node)
                .editMetadata()
                .addToLabels(label, "1")
                .endMetadata()
                .build();
    }

    @Test
    @Tag("W78")
    void fabric8CreatesListsEditsPatchesAndDeletes() {
        Node first = node("f1");
        assertThat(fabric8.nodes().list().getItems())
                .extracting(node -> node.getMetadata().getName())
                .contains("f1");

        Node edited = fabric8.nodes().withName("f1").edit(node -> labelled(node, "edited"));
        assertThat(edited.getMetadata().getLabels()).containsEntry("edited", "1");
        fabric8.nodes()
                .withName("f1")
                .patch(PatchContext.of(PatchType.STRATEGIC_MERGE), "{\"spec\":{\"unschedulable\":true}}");
        fabric8.nodes()
                .withName("f1")
                .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"metadata\":{\"labels\":{\"merged\":\"1\"}}}");
        fabric8.nodes()
                .withName("f1")
                .patch(
                        PatchContext.of(PatchType.JSON),
                        "[{\"op\":\"add\",\"path\":\"/metadata/labels/json\",\"value\":\"1\"}]");
        Node now = fabric8.nodes().withName("f1").get();
        assertThat(now.getMetadata().getLabels()).containsKeys("edited", "merged", "json");
        assertThat(now.getSpec().getUnschedulable()).isTrue();

        assertThatThrownBy(() -> fabric8.resource(labelled(first, "late"))
                        .lockResourceVersion()
                        .update())
                .isInstanceOfSatisfying(
                        KubernetesClientException.class,
                        error -> assertThat(error.getCode()).isEqualTo(409));
        assertThat(fabric8.nodes().withName("f1").delete()).isNotEmpty();
        assertThat(fabric8.nodes().withName("f1").get()).isNull();
    }

    @Test
    @Tag("W78")
    void fabric8WritesTheStatusOnItsOwn() {
        node("f2");
        NodeCondition ready =
                new NodeConditionBuilder().withType("Ready").withStatus("True").build();
        fabric8.nodes()
                .withName("f2")
                .editStatus(node -> new NodeBuilder(node)
                        .editOrNewStatus()
                        .addToConditions(ready)
                        .endStatus()
                        .build());
        Node read = fabric8.nodes().withName("f2").get();
        assertThat(read.getStatus().getConditions()).hasSize(1);
        Node report = new NodeBuilder(read)
                .editSpec()
                .withUnschedulable(true)
                .endSpec()
                .editStatus()
                .editFirstCondition()
                .withStatus("False")
                .endCondition()
                .endStatus()
                .build();
        Node updated = fabric8.resource(report).updateStatus();
        assertThat(updated.getStatus().getConditions().getFirst().getStatus()).isEqualTo("False");
        assertThat(updated.getSpec().getUnschedulable()).isNull();
    }

    @Test
    @Tag("W78")
    @Tag("W39")
    void fabric8AppliesAndIsToldOfConflicts() {
        ConfigMap one = map("1");
        ConfigMap created = fabric8.resource(one).serverSideApply();
        assertThat(created.getMetadata().getManagedFields())
                .extracting("manager", "operation")
                .containsExactly(org.assertj.core.groups.Tuple.tuple("fabric8", "Apply"));
        assertThat(fabric8.resource(one).serverSideApply().getMetadata().getResourceVersion())
                .isEqualTo(created.getMetadata().getResourceVersion());
        assertThatThrownBy(
                        () -> fabric8.resource(map("2")).fieldManager("other").serverSideApply())
                .hasMessageContaining("Apply failed with 1 conflict: conflict with \"fabric8\": .data.a");
        ConfigMap forced = fabric8.resource(map("2"))
                .fieldManager("other")
                .forceConflicts()
                .serverSideApply();
        assertThat(forced.getData()).containsEntry("a", "2");
    }

    private static ConfigMap map(String value) {
        return new ConfigMapBuilder()
                .withNewMetadata()
                .withName("applied")
                .withNamespace(NAMESPACE)
                .endMetadata()
                .addToData("a", value)
                .build();
    }

    @Test
    @Tag("W78")
    @Tag("W47")
    void fabric8Evicts() {
        node("f3");
        pod("evicted", "f3");
        assertThat(fabric8.pods().inNamespace(NAMESPACE).withName("evicted").evict())
                .isTrue();
        assertThat(fabric8.pods()
                        .inNamespace(NAMESPACE)
                        .withName("evicted")
                        .get()
                        .getMetadata()
                        .getDeletionGracePeriodSeconds())
                .isEqualTo(30);
        assertThatThrownBy(() -> fabric8.pods()
                        .inNamespace(NAMESPACE)
                        .withName("unknown")
                        .evict())
                .hasMessageContaining("pods \"unknown\" not found");
    }

    @Test
    @Tag("W78")
    @Tag("W69")
    void fabric8sInformerFollowsByWebSocket() throws Exception {
        node("f4");
        Queue<String> told = new ConcurrentLinkedQueue<>();
        var handler = new io.fabric8.kubernetes.client.informers.ResourceEventHandler<Node>() {
            @Override
            public void onAdd(Node node) {
                told.add("add " + node.getMetadata().getName());
            }

            @Override
            public void onUpdate(Node before, Node after) {
                told.add("update " + after.getMetadata().getName());
            }

            @Override
            public void onDelete(Node node, boolean unknown) {
                told.add("delete " + node.getMetadata().getName());
            }
        };
        try (SharedIndexInformer<Node> informer = fabric8.nodes().inform(handler)) {
            Eventually.within(SOON, informer::hasSynced);
            assertThat(informer.getStore().getByKey("f4")).isNotNull();
            node("f5");
            fabric8.nodes().withName("f4").edit(node -> labelled(node, "seen"));
            fabric8.nodes().withName("f5").delete();
            Eventually.within(SOON, () -> told.containsAll(List.of("add f4", "add f5", "update f4", "delete f5")));
        }
    }

    @Test
    @Tag("W78")
    void fabric8WaitsUntilAConditionHolds() throws Exception {
        node("f6");
        CompletableFuture<Node> waited = CompletableFuture.supplyAsync(() -> fabric8.nodes()
                .withName("f6")
                .waitUntilCondition(
                        node -> node != null
                                && node.getMetadata().getLabels() != null
                                && node.getMetadata().getLabels().containsKey("awaited"),
                        15,
                        TimeUnit.SECONDS));
        fabric8.nodes().withName("f6").edit(node -> labelled(node, "awaited"));
        assertThat(waited.get(20, TimeUnit.SECONDS).getMetadata().getName()).isEqualTo("f6");
    }

    @Test
    @Tag("W78")
    void fabric8ElectsALeaderAndTheNextOneTakesOver() throws Exception {
        Queue<String> leaders = new ConcurrentLinkedQueue<>();
        CompletableFuture<?> one = contend("one", leaders);
        Eventually.within(SOON, () -> leaders.contains("one"));
        CompletableFuture<?> two = contend("two", leaders);
        String first = lease().getSpec().getRenewTime().toString();
        Eventually.within(
                SOON, () -> !lease().getSpec().getRenewTime().toString().equals(first));
        assertThat(lease().getSpec().getHolderIdentity()).isEqualTo("one");
        assertThat(leaders).containsExactly("one");
        one.cancel(true);
        Eventually.within(SOON, () -> leaders.contains("two"));
        assertThat(lease().getSpec().getHolderIdentity()).isEqualTo("two");
        assertThat(lease().getSpec().getLeaseTransitions()).isPositive();
        two.cancel(true);
    }

    private Lease lease() {
        return fabric8.leases().inNamespace(NAMESPACE).withName("fabric8-lock").get();
    }

    private CompletableFuture<?> contend(String name, Queue<String> leaders) {
        return fabric8.leaderElector()
                .withConfig(new LeaderElectionConfigBuilder()
                        .withName(name)
                        .withLock(new LeaseLock(NAMESPACE, "fabric8-lock", name))
                        .withLeaseDuration(Duration.ofSeconds(9))
                        .withRenewDeadline(Duration.ofSeconds(8))
                        .withRetryPeriod(Duration.ofMillis(500))
                        .withReleaseOnCancel(true)
                        .withLeaderCallbacks(
                                new LeaderCallbacks(() -> leaders.add(name), () -> leaders.remove(name), leader -> {}))
                        .build())
                .build()
                .start();
    }

    // ---- the official client -------------------------------------------------------------------------------------

    private V1Node officialNode(String name) throws ApiException {
        return core.createNode(new V1Node().metadata(new V1ObjectMeta().name(name)))
                .execute();
    }

    private V1Node patched(String name, String patch, String type) throws ApiException {
        return PatchUtils.patch(
                V1Node.class, () -> core.patchNode(name, new V1Patch(patch)).buildCall(null), type, official);
    }

    @Test
    @Tag("W78")
    void theOfficialClientCreatesListsPatchesAndDeletes() throws ApiException {
        officialNode("o1");
        assertThat(core.listNode().execute().getItems())
                .extracting(node -> node.getMetadata().getName())
                .contains("o1");
        patched("o1", "{\"metadata\":{\"labels\":{\"merged\":\"1\"}}}", V1Patch.PATCH_FORMAT_JSON_MERGE_PATCH);
        patched("o1", "{\"spec\":{\"unschedulable\":true}}", V1Patch.PATCH_FORMAT_STRATEGIC_MERGE_PATCH);
        patched(
                "o1",
                "[{\"op\":\"add\",\"path\":\"/metadata/labels/json\",\"value\":\"1\"}]",
                V1Patch.PATCH_FORMAT_JSON_PATCH);
        V1Node applied = PatchUtils.patch(
                V1Node.class,
                () -> core.patchNode(
                                "o1",
                                new V1Patch(
                                        "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"o1\",\"labels\":{\"applied\":\"1\"}}}"))
                        .fieldManager("it")
                        .buildCall(null),
                V1Patch.PATCH_FORMAT_APPLY_YAML,
                official);
        assertThat(applied.getMetadata().getLabels()).containsKeys("merged", "json", "applied");
        assertThat(applied.getSpec().getUnschedulable()).isTrue();

        V1Node stale = core.readNode("o1").execute();
        patched("o1", "{\"metadata\":{\"labels\":{\"later\":\"1\"}}}", V1Patch.PATCH_FORMAT_JSON_MERGE_PATCH);
        assertThatThrownBy(() -> core.replaceNode("o1", stale).execute())
                .isInstanceOfSatisfying(
                        ApiException.class, error -> assertThat(error.getCode()).isEqualTo(409));
        core.deleteNode("o1").execute();
        assertThatThrownBy(() -> core.readNode("o1").execute())
                .isInstanceOfSatisfying(
                        ApiException.class, error -> assertThat(error.getCode()).isEqualTo(404));
    }

    @Test
    @Tag("W78")
    void theOfficialClientsInformerFollows() throws Exception {
        officialNode("o2");
        Map<String, String> labels = new java.util.concurrent.ConcurrentHashMap<>();
        Queue<String> gone = new ConcurrentLinkedQueue<>();
        SharedInformerFactory factory = new SharedInformerFactory(official);
        var informer = factory.sharedIndexInformerFor(
                (CallGeneratorParams params) -> core.listNode()
                        .resourceVersion(params.resourceVersion)
                        .timeoutSeconds(params.timeoutSeconds)
                        .watch(params.watch)
                        .buildCall(null),
                V1Node.class,
                V1NodeList.class);
        informer.addEventHandler(new io.kubernetes.client.informer.ResourceEventHandler<>() {
            @Override
            public void onAdd(V1Node node) {
                labels.put(
                        node.getMetadata().getName(),
                        String.valueOf(node.getMetadata().getLabels()));
            }

            @Override
            public void onUpdate(V1Node before, V1Node after) {
                onAdd(after);
            }

            @Override
            public void onDelete(V1Node node, boolean unknown) {
                gone.add(node.getMetadata().getName());
            }
        });
        factory.startAllRegisteredInformers();
        try {
            Eventually.within(SOON, informer::hasSynced);
            Eventually.within(SOON, () -> labels.containsKey("o2"));
            officialNode("o3");
            patched("o2", "{\"metadata\":{\"labels\":{\"seen\":\"1\"}}}", V1Patch.PATCH_FORMAT_JSON_MERGE_PATCH);
            core.deleteNode("o3").execute();
            Eventually.within(SOON, () -> labels.getOrDefault("o2", "").contains("seen") && gone.contains("o3"));
        } finally {
            factory.stopAllRegisteredInformers();
        }
    }

    @Test
    @Tag("W76")
    @Tag("W78")
    void theOfficialClientElectsALeaderAndTheNextOneTakesOver() throws Exception {
        Queue<String> leaders = new ConcurrentLinkedQueue<>();
        LeaderElector one = elector("one");
        LeaderElector two = elector("two");
        Thread first = Thread.ofPlatform().daemon().start(() -> one.run(() -> leaders.add("one"), () -> {}));
        Eventually.within(SOON, () -> leaders.contains("one"));
        Thread second = Thread.ofPlatform().daemon().start(() -> two.run(() -> leaders.add("two"), () -> {}));
        // It keeps its lease by renewing it for longer than it would last.
        Thread.sleep(10_000);
        assertThat(leaders).containsExactly("one");

        one.close();
        first.interrupt();

        Eventually.within(Duration.ofSeconds(30), () -> leaders.contains("two"));
        assertThat(new CoordinationV1Api(official)
                        .readNamespacedLease("official-lock", NAMESPACE)
                        .execute()
                        .getSpec()
                        .getHolderIdentity())
                .isEqualTo("two");
        two.close();
        second.interrupt();
    }

    private LeaderElector elector(String name) {
        return new LeaderElector(new LeaderElectionConfig(
                new io.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock(
                        NAMESPACE, "official-lock", name, official),
                Duration.ofSeconds(9),
                Duration.ofSeconds(8),
                Duration.ofMillis(500)));
    }
}
