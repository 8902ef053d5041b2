package io.nodekeeper.apiserver.writes;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Creates, updates and patches. */
class WriteTest {
    private static final String NODES = "/api/v1/nodes";
    private static final String LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

    private final TestServer server = new TestServer();

    /** Valid and invalid values of podCIDR and podCIDRs. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            "podCIDR":"10.1.0.0/24"                                        | "podCIDRs":["10.1.0.0/24"]
            "podCIDRs":["10.1.0.0/24","fd00::/64"]                         | "podCIDR":"10.1.0.0/24"
            "podCIDRs":["fd00::/64"]                                       | "podCIDR":"fd00::/64"
            "podCIDR":"10.2.0.0/24","podCIDRs":["10.1.0.0/24"]             | "podCIDRs":["10.2.0.0/24"]
            "podCIDRs":["::ffff:10.1.0.0/120"]                             | "podCIDR":"::ffff:10.1.0.0/120"
            "podCIDR":"10.1.0.0"                                           | spec.podCIDRs[0]: Invalid value: "10.1.0.0": must be a valid CIDR value
            "podCIDR":"10.1.0.0/33"                                        | spec.podCIDRs[0]: Invalid value: "10.1.0.0/33": must be a valid CIDR value
            "podCIDR":"10.1.0/24"                                          | must be a valid CIDR value
            "podCIDR":"10.1.0.256/24"                                      | must be a valid CIDR value
            "podCIDR":"010.1.0.0/24"                                       | must be a valid CIDR value
            "podCIDR":"fd00::/129"                                         | must be a valid CIDR value
            "podCIDR":"fd00::%eth0/64"                                     | must be a valid CIDR value
            "podCIDR":"1/8"                                                | must be a valid CIDR value
            "podCIDR":"localhost/8"                                        | must be a valid CIDR value
            "podCIDRs":["10.1.0.0/24","x"]                                 | spec.podCIDRs[1]: Invalid value: "x": must be a valid CIDR value
            "podCIDRs":["10.1.0.0/24","10.2.0.0/24"]                       | spec.podCIDRs: Invalid value: ["10.1.0.0/24", "10.2.0.0/24"]: may specify no more than one CIDR for each IP family
            "podCIDRs":["10.1.0.0/24","fd00::/64","10.2.0.0/24"]           | may specify no more than one CIDR for each IP family
            """)
    void podCidrsAreWellFormedAndOnePerIpFamily(String spec, String expected) {
        Answer answer = server.post(NODES, "{\"metadata\":{\"name\":\"n1\"},\"spec\":{" + spec + "}}");

        assertThat(answer.status()).isEqualTo(expected.startsWith("\"pod") ? 201 : 422);
        assertThat(answer.status() == 201 ? answer.text() : answer.message()).contains(expected);
    }

    @Test
    void podCidrsCanBeSetOnce() {
        server.node("n1");
        String both = "{\"spec\":{\"podCIDR\":\"10.1.0.0/24\",\"podCIDRs\":[\"10.1.0.0/24\",\"fd00::/64\"]}}";
        assertThat(server.patch(TestServer.MERGE, NODES + "/n1", both).status()).isEqualTo(200);

        for (String change : new String[] {
            "{\"spec\":{\"podCIDR\":\"10.2.0.0/24\"}}",
            "{\"spec\":{\"podCIDRs\":[\"10.1.0.0/24\"]}}",
            "{\"spec\":{\"podCIDR\":null,\"podCIDRs\":null}}"
        }) {
            assertThat(server.patch(TestServer.MERGE, NODES + "/n1", change).message())
                    .as(change)
                    .contains(
                            "spec.podCIDRs: Forbidden: node updates may not change podCIDR except from \"\" to valid");
        }
    }

    @Test
    void generateNameIsValidated() {
        Answer bad = server.post(NODES, "{\"metadata\":{\"generateName\":\"A_\"}}");
        assertThat(bad.message()).contains("metadata.generateName: Invalid value: \"A_\"");
        assertThat(server.post(NODES, "{\"metadata\":{\"generateName\":\"a-\"}}")
                        .status())
                .isEqualTo(201);
    }

    @Test
    @Tag("W5")
    void onlyJsonAndYamlBodiesAreAccepted() {
        String body = "{\"metadata\":{\"name\":\"n1\"}}";
        Answer refused = server.ask(TestServer.ADMIN, "POST", NODES, Map.of("content-type", "text/plain"), body);
        assertThat(refused.status()).isEqualTo(415);
        assertThat(refused.reason()).isEqualTo("UnsupportedMediaType");
        assertThat(refused.message())
                .isEqualTo(
                        "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf");
        assertThat(server.ask(
                                TestServer.ADMIN,
                                "POST",
                                NODES,
                                Map.of("content-type", "application/json; charset=utf-8"),
                                body)
                        .status())
                .isEqualTo(201);
        assertThat(server.post(NODES, "{\"metadata\":{\"name\":\"n2\"}}").status())
                .isEqualTo(201);
        assertThat(server.ask(
                                TestServer.ADMIN,
                                "POST",
                                NODES,
                                Map.of("content-type", "application/yaml"),
                                "metadata:\n  name: n3\n  labels: {a: \"1\"}\n")
                        .status())
                .isEqualTo(201);
        assertThat(server.get(NODES).names()).containsExactly("n1", "n2", "n3");
    }

    @Test
    void yamlAliasBombIsRefused() {
        StringBuilder yaml = new StringBuilder("a0: &a0 [xxxxxxxxxxxxxxxxxxxx]\n");
        for (int i = 1; i < 25; i++) {
            yaml.append("a" + i + ": &a" + i + " [*a" + (i - 1) + ",*a" + (i - 1) + "]\n");
        }
        Answer answer = server.ask(
                TestServer.ADMIN, "POST", NODES, Map.of("content-type", "application/yaml"), yaml.toString());
        assertThat(answer.status()).isEqualTo(400);
    }

    @Test
    @Tag("W15")
    void newNodeGetsDefaults() {
        JsonObject node = server.post(NODES, "{\"metadata\":{\"name\":\"n1\",\"creationTimestamp\":null}}")
                .json();
        JsonObject metadata = node.object("metadata");
        assertThat(node.text("kind")).isEqualTo("Node");
        assertThat(node.text("apiVersion")).isEqualTo("v1");
        assertThat(metadata.text("uid")).matches("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
        assertThat(metadata.text("creationTimestamp")).isEqualTo("2026-11-21T07:00:00Z");
        assertThat(metadata.text("resourceVersion")).isEqualTo("5");
        assertThat(node.object("spec"))
                .hasToString("{\"taints\":[{\"key\":\"node.kubernetes.io/not-ready\",\"effect\":\"NoSchedule\"}]}");
        assertThat(server.get(NODES + "/n1").json()).isEqualTo(node);
    }

    @Test
    @Tag("W16")
    void secondObjectOfANameIsRefused() {
        server.node("n1");
        Answer answer = server.post(NODES, "{\"metadata\":{\"name\":\"n1\"}}");
        assertThat(answer.json())
                .hasToString(
                        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"nodes \\\"n1\\\" already exists\",\"reason\":\"AlreadyExists\",\"details\":{\"name\":\"n1\",\"kind\":\"nodes\"},\"code\":409}");
    }

    @Test
    @Tag("W17")
    void invalidNameIsRefused() {
        Answer answer = server.post(NODES, "{\"metadata\":{\"name\":\"Bad_Name\"}}");
        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.reason()).isEqualTo("Invalid");
        assertThat(answer.message())
                .startsWith("Node \"Bad_Name\" is invalid: metadata.name: Invalid value: \"Bad_Name\": a lowercase RFC"
                        + " 1123 subdomain must");
        JsonObject cause = answer.json()
                .object("details")
                .array("causes")
                .objects()
                .findFirst()
                .orElseThrow();
        assertThat(cause.text("reason")).isEqualTo("FieldValueInvalid");
        assertThat(cause.text("field")).isEqualTo("metadata.name");
        assertThat(server.get(NODES).names()).isEmpty();
    }

    @Test
    @Tag("W18")
    void missingNamespaceIsRefused() {
        Answer answer = server.post("/api/v1/namespaces/nons/pods", TestServer.pod("p", ""));
        assertThat(answer.status()).isEqualTo(404);
        assertThat(answer.message()).isEqualTo("namespaces \"nons\" not found");
        assertThat(answer.json().object("details")).hasToString("{\"name\":\"nons\",\"kind\":\"namespaces\"}");
    }

    @Test
    @Tag("W19")
    void nameOrGenerateNameIsRequired() {
        Answer answer = server.post(NODES, "{\"metadata\":{\"generateName\":\"x-\"}}");
        assertThat(answer.json().object("metadata").text("name")).matches("^x-[bcdfghjklmnpqrstvwxz2456789]{5}$");
        String longName = server.post(NODES, "{\"metadata\":{\"generateName\":\"" + "y".repeat(80) + "\"}}")
                .json()
                .object("metadata")
                .text("name");
        assertThat(longName).hasSize(63);
        assertThat(server.post(NODES, "{}").message())
                .isEqualTo("Node \"\" is invalid: metadata.name: Required value: name or generateName is required");
    }

    @Test
    @Tag("W20")
    void updateWithAnOldVersionIsAConflict() {
        server.node("n1");
        Answer stale = server.put(NODES + "/n1", "{\"metadata\":{\"name\":\"n1\",\"resourceVersion\":\"1\"}}");
        assertThat(stale.json())
                .hasToString(
                        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"Operation cannot be fulfilled on nodes \\\"n1\\\": the object has been modified; please apply your changes to the latest version and try again\",\"reason\":\"Conflict\",\"details\":{\"name\":\"n1\",\"kind\":\"nodes\"},\"code\":409}");
        assertThat(server.put(NODES + "/n1", "{\"metadata\":{\"name\":\"n1\",\"labels\":{\"a\":\"b\"}}}")
                        .status())
                .isEqualTo(200);
        assertThat(server.put(NODES + "/n1", "{\"metadata\":{\"name\":\"n1\",\"resourceVersion\":\"x\"}}")
                        .status())
                .isEqualTo(409);
    }

    @Test
    @Tag("W20")
    @Tag("W21")
    void updateCreatesALeaseButNeedsAVersionToReplaceIt() {
        Answer created =
                server.put(LEASES + "/n1", "{\"metadata\":{\"name\":\"n1\"},\"spec\":{\"holderIdentity\":\"a\"}}");
        assertThat(created.status()).isEqualTo(201);
        Answer blind =
                server.put(LEASES + "/n1", "{\"metadata\":{\"name\":\"n1\"},\"spec\":{\"holderIdentity\":\"b\"}}");
        assertThat(blind.status()).isEqualTo(422);
        assertThat(blind.message())
                .isEqualTo(
                        "leases.coordination.k8s.io \"n1\" is invalid: metadata.resourceVersion: Invalid value: 0x0: must be specified for an update");
        Answer absent = server.put(NODES + "/n1", "{\"metadata\":{\"name\":\"n1\"}}");
        assertThat(absent.status()).isEqualTo(404);
        assertThat(absent.message()).isEqualTo("nodes \"n1\" not found");
    }

    /** As kubelets renew their leases; after the conflict they read the lease and create it again. */
    @Test
    @Tag("W21")
    void updateOfADeletedLeaseIsAConflictIfItNamesTheUid() {
        JsonObject lease = server.post(LEASES, "{\"metadata\":{\"name\":\"n1\"},\"spec\":{\"holderIdentity\":\"a\"}}")
                .json();
        server.delete(LEASES + "/n1", "");

        Answer answer = server.put(LEASES + "/n1", lease.toString());

        String uid = lease.object("metadata").text("uid");
        assertThat(answer.status()).isEqualTo(409);
        assertThat(answer.reason()).isEqualTo("Conflict");
        assertThat(answer.message())
                .isEqualTo(
                        "Operation cannot be fulfilled on leases.coordination.k8s.io \"n1\": Precondition failed: UID in"
                                + " precondition: " + uid + ", UID in object meta: ");
        assertThat(server.get(LEASES + "/n1").status()).isEqualTo(404);
    }

    /** A kube-apiserver ignores the version of an object that its update creates. */
    @Test
    @Tag("W21")
    void updateOfADeletedLeaseCreatesItIfItNamesTheVersionOnly() {
        Answer answer =
                server.put(LEASES + "/n1", "{\"metadata\":{\"name\":\"n1\",\"resourceVersion\":\"3\"},\"spec\":{}}");

        assertThat(answer.status()).isEqualTo(201);
    }

    @Test
    @Tag("W22")
    void bodyMustMatchThePath() {
        server.node("n1");
        assertThat(server.put(NODES + "/n1", "{\"metadata\":{\"name\":\"nope\"}}")
                        .message())
                .isEqualTo("the name of the object (nope) does not match the name on the URL (n1)");
        Answer pod = server.post(NODES, "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"n2\"}}");
        assertThat(pod.status()).isEqualTo(400);
        assertThat(pod.message())
                .isEqualTo("Pod in version \"v1\" cannot be handled as a Node: the object provided is a Pod");
        assertThat(server.post(
                                "/api/v1/namespaces/default/pods",
                                "{\"metadata\":{\"name\":\"p\",\"namespace\":\"other\"}}")
                        .message())
                .isEqualTo("the namespace of the provided object does not match the namespace sent on the request");
        Answer version = server.post(NODES, "{\"metadata\":{\"name\":\"n2\",\"resourceVersion\":\"1\"}}");
        assertThat(version.status()).isEqualTo(400);
        assertThat(version.message()).isEqualTo("resourceVersion should not be set on objects to be created");
        assertThat(server.put(NODES + "/n1", "{\"metadata\":{\"name\":\"n1\",\"uid\":\"other\"}}")
                        .message())
                .startsWith(
                        "Operation cannot be fulfilled on nodes \"n1\": Precondition failed: UID in precondition: other, UID in object meta: ");
    }

    /** Clients that set the same namespace for all objects work with Kubernetes, too. */
    @ParameterizedTest
    @Tag("W22")
    @ValueSource(strings = {"", "?dryRun=All"})
    void objectWithoutANamespaceGetsNoneWhateverTheBodySays(String query) {
        server.node("n1");
        String body =
                "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"%s\",\"namespace\":\"default\",\"labels\":{\"a\":\"%s\"}}}";

        List<Answer> answers = List.of(
                server.post(NODES + query, body.formatted("n2", "b")),
                server.put(NODES + "/n1" + query, body.formatted("n1", "put")),
                server.put(NODES + "/n1/status" + query, body.formatted("n1", "status")),
                server.patch(TestServer.MERGE, NODES + "/n1" + query, body.formatted("n1", "merged")),
                server.patch(TestServer.STRATEGIC, NODES + "/n1" + query, body.formatted("n1", "strategic")),
                server.patch(
                        TestServer.JSON_PATCH,
                        NODES + "/n1" + query,
                        "[{\"op\":\"add\",\"path\":\"/metadata/namespace\",\"value\":\"default\"}]"),
                apply(NODES + "/n1" + query, body.formatted("n1", "strategic")),
                apply(NODES + "/n3" + query, body.formatted("n3", "applied")));

        assertThat(answers).allSatisfy(answer -> {
            assertThat(answer.status()).as(answer.text()).isIn(200, 201);
            assertThat(answer.json().object("metadata").has("namespace")).isFalse();
        });
        assertThat(server.get(NODES).text()).contains("\"n1\"").doesNotContain("namespace");
    }

    private Answer apply(String uri, String body) {
        String separator = uri.contains("?") ? "&" : "?";
        return server.patch("application/apply-patch+yaml", uri + separator + "fieldManager=m", body);
    }

    @Test
    @Tag("W23")
    void mainResourceWritesTheSpecAndSubresourceTheStatus() {
        server.node("n1");
        JsonObject main = server.put(
                        NODES + "/n1",
                        "{\"metadata\":{\"name\":\"n1\"},\"spec\":{\"unschedulable\":true},\"status\":{\"phase\":\"x\"}}")
                .json();
        assertThat(main.object("spec")).hasToString("{\"unschedulable\":true}");
        assertThat(main.has("status")).isFalse();
        JsonObject status = server.put(
                        NODES + "/n1/status",
                        "{\"metadata\":{\"name\":\"n1\",\"labels\":{\"a\":\"b\"}},\"spec\":{\"unschedulable\":false},\"status\":{\"phase\":\"x\"}}")
                .json();
        assertThat(status.object("spec")).hasToString("{\"unschedulable\":true}");
        assertThat(status.object("status")).hasToString("{\"phase\":\"x\"}");
        assertThat(status.object("metadata").object("labels")).hasToString("{\"a\":\"b\"}");
    }

    @Test
    @Tag("W24")
    @Tag("W32")
    void writeWithoutAChangeKeepsTheVersion() {
        JsonObject node = server.node("n1");
        TestServer.Lines watch = server.watch(NODES + "?watch=true&resourceVersion=5");
        assertThat(server.put(NODES + "/n1", node.toString()).version()).isEqualTo("5");
        assertThat(server.patch(TestServer.MERGE, NODES + "/n1", "{}").version())
                .isEqualTo("5");
        assertThat(server.patch(TestServer.STRATEGIC, NODES + "/n1/status", "{}")
                        .version())
                .isEqualTo("5");
        assertThat(server.patch(TestServer.JSON_PATCH, NODES + "/n1", "[]").version())
                .isEqualTo("5");
        assertThat(watch.events).isEmpty();
    }

    @Test
    @Tag("W25")
    void newNodeKeepsItsStatusAndNewPodDoesNot() {
        JsonObject node = server.post(
                        NODES,
                        "{\"metadata\":{\"name\":\"n1\"},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}")
                .json();
        assertThat(node.object("status")).hasToString("{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}");
        JsonObject pod = server.post(
                        "/api/v1/namespaces/default/pods",
                        "{\"metadata\":{\"name\":\"p1\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]},\"status\":{\"phase\":\"Running\"}}")
                .json();
        assertThat(pod.object("status")).hasToString("{\"phase\":\"Pending\",\"qosClass\":\"BestEffort\"}");
        assertThat(pod.object("spec").number("terminationGracePeriodSeconds")).contains(30L);
        assertThat(pod.object("spec").array("tolerations").items()).hasSize(2);
    }

    @Test
    @Tag("W26")
    void renewTimeKeepsItsMicroseconds() {
        JsonObject lease = server.post(
                        LEASES,
                        "{\"metadata\":{\"name\":\"n1\"},\"spec\":{\"renewTime\":\"2026-11-21T07:00:00.123456Z\",\"acquireTime\":\"2026-11-21T09:00:00+02:00\"}}")
                .json();
        assertThat(lease.object("spec").text("renewTime")).isEqualTo("2026-11-21T07:00:00.123456Z");
        assertThat(lease.object("spec").text("acquireTime")).isEqualTo("2026-11-21T07:00:00.000000Z");
    }

    @Test
    @Tag("W27")
    void fieldsThatAreSetOnceCannotChange() {
        server.node("n1");
        JsonObject node = server.patch(
                        TestServer.MERGE,
                        NODES + "/n1",
                        "{\"spec\":{\"podCIDR\":\"10.0.0.0/24\",\"providerID\":\"p://1\"}}")
                .json();
        assertThat(node.object("spec").array("podCIDRs")).hasToString("[\"10.0.0.0/24\"]");
        assertThat(server.patch(
                                TestServer.MERGE,
                                NODES + "/n1",
                                "{\"spec\":{\"podCIDR\":\"10.0.1.0/24\",\"podCIDRs\":[\"10.0.1.0/24\"]}}")
                        .message())
                .isEqualTo(
                        "Node \"n1\" is invalid: spec.podCIDRs: Forbidden: node updates may not change podCIDR except from \"\" to valid");
        assertThat(server.patch(TestServer.MERGE, NODES + "/n1", "{\"spec\":{\"podCIDR\":\"10.0.1.0/24\"}}")
                        .message())
                .as("by one who knows only the older field")
                .isEqualTo(
                        "Node \"n1\" is invalid: spec.podCIDRs: Forbidden: node updates may not change podCIDR except from \"\" to valid");
        assertThat(server.patch(TestServer.MERGE, NODES + "/n1", "{\"spec\":{\"providerID\":\"p://2\"}}")
                        .message())
                .isEqualTo(
                        "Node \"n1\" is invalid: spec.providerID: Forbidden: node updates may not change providerID except from \"\" to valid");
        assertThat(server.patch(TestServer.MERGE, NODES + "/n1", "{\"metadata\":{\"uid\":\"zz\"}}")
                        .message())
                .isEqualTo("Node \"n1\" is invalid: metadata.uid: Invalid value: \"zz\": field is immutable");
    }

    @ParameterizedTest
    @Tag("W28")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{\"key\":\"a\",\"effect\":\"Bad\"} | metadata.taints[0].effect: Unsupported value: \"Bad\": supported values: \"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\"",
                "{\"key\":\"a\"} | metadata.taints[0].effect: Required value",
                "{\"key\":\"a\",\"effect\":\"NoExecute\"},{\"key\":\"a\",\"value\":\"v\",\"effect\":\"NoExecute\"} | metadata.taints[1]: Duplicate value: {\"key\":\"a\",\"value\":\"v\",\"effect\":\"NoExecute\"}: taints must be unique by key and effect pair"
            })
    void invalidTaintsAreRefused(String taints, String fault) {
        server.node("n1");
        Answer answer = server.patch(TestServer.STRATEGIC, NODES + "/n1", "{\"spec\":{\"taints\":[" + taints + "]}}");
        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.message()).isEqualTo("Node \"n1\" is invalid: " + fault);
    }

    @Test
    @Tag("W28")
    void invalidTaintKeysAndValuesAreRefused() {
        server.node("n1");
        Answer answer = server.patch(
                TestServer.STRATEGIC,
                NODES + "/n1",
                "{\"spec\":{\"taints\":[{\"key\":\"-a\",\"value\":\"-\",\"effect\":\"NoExecute\"}]}}");
        assertThat(answer.json().object("details").array("causes").objects().map(cause -> cause.text("field")))
                .containsExactly("metadata.taints[0].key", "metadata.taints[0].value");
    }

    @Test
    @Tag("W29")
    void prefixOfAnAnnotationMayHaveUpperCaseLettersButNotThatOfALabel() {
        String key = "Example.COM/MyKey";

        assertThat(server.post(NODES, "{\"metadata\":{\"name\":\"n1\",\"annotations\":{\"" + key + "\":\"v\"}}}")
                        .json()
                        .object("metadata")
                        .object("annotations")
                        .text(key))
                .isEqualTo("v");
        assertThat(server.post(NODES, "{\"metadata\":{\"name\":\"n2\",\"labels\":{\"" + key + "\":\"v\"}}}")
                        .status())
                .isEqualTo(422);
        assertThat(server.post(NODES, "{\"metadata\":{\"name\":\"n2\",\"annotations\":{\"-.B/c\":\"v\"}}}")
                        .message())
                .contains("metadata.annotations: Invalid value: \"-.B/c\": prefix part");
        // and of one of a template
        Answer template = server.post("/apis/apps/v1/namespaces/default/deployments", """
                {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
                 "metadata": {"labels": {"a": "b"}, "annotations": {"Example.COM/MyKey": "v"}},
                 "spec": {"containers": [{"name": "c", "image": "i"}]}}}}
                """);
        assertThat(template.status()).as(template.text()).isEqualTo(201);
    }

    @Test
    @Tag("W29")
    void annotationsAndObjectsHaveALimit() {
        String large = "x".repeat(270_000);
        Answer annotations =
                server.post(NODES, "{\"metadata\":{\"name\":\"n1\",\"annotations\":{\"a\":\"" + large + "\"}}}");
        assertThat(annotations.status()).isEqualTo(422);
        assertThat(annotations.message())
                .isEqualTo("Node \"n1\" is invalid: metadata.annotations: Too long: must have at most 262144 bytes");
        Answer object = server.post(
                NODES, "{\"metadata\":{\"name\":\"n1\"},\"spec\":{\"externalID\":\"" + "x".repeat(1_600_000) + "\"}}");
        assertThat(object.status()).isEqualTo(413);
        assertThat(server.get(NODES).names()).isEmpty();
    }

    @Test
    @Tag("W30")
    void dryRunStoresNothing() {
        server.node("n1");
        long revision = server.store.revision();
        Answer created = server.post(NODES + "?dryRun=All", "{\"metadata\":{\"name\":\"n2\"}}");
        assertThat(created.status()).isEqualTo(201);
        assertThat(created.json().object("metadata").has("uid")).isTrue();
        assertThat(created.version()).isEmpty();
        assertThat(server.post(NODES + "?dryRun=All", "{\"metadata\":{\"name\":\"n1\"}}")
                        .status())
                .isEqualTo(409);
        assertThat(server.put(NODES + "/n1?dryRun=All", "{\"spec\":{\"unschedulable\":true}}")
                        .json()
                        .object("spec"))
                .hasToString("{\"unschedulable\":true}");
        assertThat(server.patch(TestServer.MERGE, NODES + "/n1?dryRun=All", "{\"spec\":{\"unschedulable\":true}}")
                        .status())
                .isEqualTo(200);
        assertThat(server.delete(NODES + "/n1?dryRun=All", "").status()).isEqualTo(200);
        Answer bad = server.post(NODES + "?dryRun=Bad", "{\"metadata\":{\"name\":\"n2\"}}");
        assertThat(bad.status()).isEqualTo(422);
        assertThat(bad.message()).isEqualTo("dryRun: Unsupported value: []string{\"Bad\"}: supported values: \"All\"");
        assertThat(server.store.revision()).isEqualTo(revision);
    }

    @Test
    @Tag("W32")
    void mergePatchRemovesALabel() {
        server.post(NODES, "{\"metadata\":{\"name\":\"n1\",\"labels\":{\"a\":\"1\",\"b\":\"2\"}}}");
        JsonObject node = server.patch(TestServer.MERGE, NODES + "/n1", "{\"metadata\":{\"labels\":{\"a\":null}}}")
                .json();
        assertThat(node.object("metadata").object("labels")).hasToString("{\"b\":\"2\"}");
    }

    @Test
    @Tag("W33")
    @Tag("W34")
    @Tag("W35")
    void strategicPatchesOfAgentAndControllerApply() {
        server.node("n1");
        assertThat(server.patch(TestServer.STRATEGIC, NODES + "/n1", "{\"spec\":{\"taints\":null}}")
                        .json()
                        .object("spec"))
                .hasToString("{}");
        server.patch(
                TestServer.STRATEGIC,
                NODES + "/n1/status",
                "{\"status\":{\"conditions\":[{\"type\":\"A\",\"status\":\"True\"},{\"type\":\"Ready\",\"status\":\"True\"}]}}");
        JsonObject node = server.patch(
                        TestServer.STRATEGIC,
                        NODES + "/n1/status",
                        "{\"status\":{\"$setElementOrder/conditions\":[{\"type\":\"A\"},{\"type\":\"Ready\"}],\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"}]}}")
                .json();
        assertThat(node.object("status"))
                .hasToString(
                        "{\"conditions\":[{\"type\":\"A\",\"status\":\"True\"},{\"type\":\"Ready\",\"status\":\"False\"}]}");
        assertThat(server.patch(
                                TestServer.STRATEGIC,
                                NODES + "/n1/status",
                                "{\"status\":{\"conditions\":[{\"$patch\":\"delete\",\"type\":\"Ready\"}]}}")
                        .json()
                        .object("status"))
                .hasToString("{\"conditions\":[{\"type\":\"A\",\"status\":\"True\"}]}");
        assertThat(server.patch(
                                TestServer.STRATEGIC,
                                NODES + "/n1/status",
                                "{\"status\":{\"conditions\":[{\"status\":\"True\"}]}}")
                        .status())
                .isEqualTo(422);
    }

    @Test
    @Tag("W36")
    void jsonPatchIsAtomic() {
        server.node("n1");
        Answer failed = server.patch(
                TestServer.JSON_PATCH,
                NODES + "/n1",
                "[{\"op\":\"add\",\"path\":\"/spec/unschedulable\",\"value\":true},{\"op\":\"test\",\"path\":\"/metadata/name\",\"value\":\"n2\"}]");
        assertThat(failed.status()).isEqualTo(422);
        assertThat(failed.reason()).isEqualTo("Invalid");
        assertThat(failed.message()).startsWith("the server rejected our request due to an error in our request");
        assertThat(server.patch(TestServer.JSON_PATCH, NODES + "/n1", "[{\"op\":\"remove\",\"path\":\"/spec/nope\"}]")
                        .status())
                .isEqualTo(422);
        for (String malformed :
                List.of("", "{}", "[1]", "[{\"op\":\"fly\",\"path\":\"/a\"}]", "[{\"op\":\"add\"}]", "[")) {
            assertThat(server.patch(TestServer.JSON_PATCH, NODES + "/n1", malformed)
                            .status())
                    .as(malformed)
                    .isEqualTo(400);
        }
        assertThat(server.patch(
                                TestServer.JSON_PATCH,
                                NODES + "/n1",
                                "[{\"op\":\"add\",\"path\":\"/metadata/resourceVersion\",\"value\":\"1\"}]")
                        .status())
                .isEqualTo(409);
        assertThat(server.get(NODES + "/n1").version()).isEqualTo("5");
        assertThat(server.patch(
                                TestServer.JSON_PATCH,
                                NODES + "/n1",
                                "[{\"op\":\"add\",\"path\":\"/metadata/labels\",\"value\":{\"fab\":\"1\"}},{\"op\":\"add\",\"path\":\"/metadata/resourceVersion\",\"value\":\"5\"}]")
                        .version())
                .isEqualTo("6");
    }

    @Test
    void repeatedCopiesInAJsonPatchAreLimited() {
        server.node("n1");
        StringBuilder patch = new StringBuilder(
                "[{\"op\":\"add\",\"path\":\"/metadata/annotations\",\"value\":{\"a\":\"" + "x".repeat(1_000) + "\"}}");
        for (int i = 0; i < 40; i++) {
            patch.append(",{\"op\":\"copy\",\"from\":\"/metadata\",\"path\":\"/metadata/c" + i + "\"}");
        }
        assertThat(server.patch(TestServer.JSON_PATCH, NODES + "/n1", patch + "]")
                        .status())
                .isEqualTo(413);
    }

    @Test
    @Tag("W37")
    void parallelPatchesOfDifferentLabelsAllSucceed() {
        server.node("n1");
        List<CompletableFuture<ApiResponse>> patches = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            patches.add(server.send(
                    TestServer.ADMIN,
                    "PATCH",
                    NODES + "/n1",
                    Map.of("content-type", TestServer.MERGE),
                    "{\"metadata\":{\"labels\":{\"l" + i + "\":\"v\"}}}"));
        }
        server.settle();
        patches.forEach(patch -> assertThat(TestServer.answer(patch).status()).isEqualTo(200));
        assertThat(server.get(NODES + "/n1")
                        .json()
                        .object("metadata")
                        .object("labels")
                        .fields())
                .hasSize(20);
        assertThat(server.patch(
                                TestServer.MERGE,
                                NODES + "/n1",
                                "{\"metadata\":{\"resourceVersion\":\"5\",\"labels\":{\"late\":\"v\"}}}")
                        .status())
                .isEqualTo(409);
    }

    @Test
    @Tag("W38")
    void patchNeedsAPatchType() {
        server.node("n1");
        for (String type : List.of("application/json", "text/plain", "")) {
            assertThat(server.patch(type, NODES + "/n1", "{}").status())
                    .as(type)
                    .isEqualTo(415);
        }
    }

    @Test
    @Tag("W41")
    void unknownFieldsAreWarnedRefusedOrIgnored() {
        String body = "{\"metadata\":{\"name\":\"n1\"},\"spec\":{\"foo\":1}}";
        Answer strict = server.post(NODES + "?fieldValidation=Strict", body);
        assertThat(strict.status()).isEqualTo(400);
        assertThat(strict.message())
                .isEqualTo(
                        "Node in version \"v1\" cannot be handled as a Node: strict decoding error: unknown field \"spec.foo\"");
        Answer warned = server.post(NODES, body);
        assertThat(warned.status()).isEqualTo(201);
        assertThat(warned.headers()).containsEntry("warning", "299 - \"unknown field \\\"spec.foo\\\"\"");
        assertThat(warned.json().object("spec").number("foo")).contains(1L);
        // A patch is not blamed for unknown fields that are already stored.
        Answer patched = server.patch(
                TestServer.MERGE, NODES + "/n1?fieldValidation=Strict", "{\"spec\":{\"unschedulable\":true}}");
        assertThat(patched.status()).isEqualTo(200);
        assertThat(server.patch(TestServer.MERGE, NODES + "/n1?fieldValidation=Strict", "{\"spec\":{\"bar\":1}}")
                        .status())
                .isEqualTo(422);
        Answer ignored = server.patch(TestServer.MERGE, NODES + "/n1?fieldValidation=Ignore", "{\"spec\":{\"bar\":1}}");
        assertThat(ignored.status()).isEqualTo(200);
        assertThat(ignored.headers()).doesNotContainKey("warning");
        assertThat(server.patch(TestServer.MERGE, NODES + "/n1?fieldValidation=Maybe", "{}")
                        .status())
                .isEqualTo(422);
    }

    @Test
    void warningIsLimitedAndPlain() {
        StringBuilder fields = new StringBuilder();
        for (int i = 0; i < 500; i++) {
            fields.append(",\"" + "ü".repeat(200) + i + "\":1");
        }
        Answer answer = server.post(NODES, "{\"metadata\":{\"name\":\"n1\"}" + fields + "}");
        assertThat(answer.status()).isEqualTo(201);
        assertThat(answer.headers().get("warning")).hasSizeLessThan(5_000).matches("[ -~\n]*");
    }

    @Test
    void leasesEventsAndPodsAreValidated() {
        assertThat(server.post(
                                LEASES,
                                "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"leaseDurationSeconds\":0,\"leaseTransitions\":-1}}")
                        .message())
                .isEqualTo(
                        "Lease.coordination.k8s.io \"a\" is invalid: [spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0, spec.leaseTransitions: Invalid value: -1: must to greater or equal than 0]");
        assertThat(server.post(
                                "/api/v1/namespaces/kube-system/events",
                                "{\"metadata\":{\"name\":\"e\"},\"involvedObject\":{\"kind\":\"Node\",\"name\":\"n1\"}}")
                        .message())
                .isEqualTo(
                        "Event \"e\" is invalid: involvedObject.namespace: Invalid value: \"\": does not match event.namespace");
        assertThat(server.post("/api/v1/namespaces/default/pods", "{\"metadata\":{\"name\":\"p\"}}")
                        .message())
                .isEqualTo("Pod \"p\" is invalid: spec.containers: Required value");
        server.post("/api/v1/namespaces/default/pods", TestServer.pod("p", "n1"));
        assertThat(server.patch(
                                TestServer.MERGE,
                                "/api/v1/namespaces/default/pods/p",
                                "{\"spec\":{\"nodeName\":\"n2\"}}")
                        .status())
                .isEqualTo(422);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{",
                "[]",
                "7",
                "null",
                "{\"metadata\":7}",
                "{\"metadata\":{\"name\":7}}",
                "{\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":1}}}",
                "{\"metadata\":{\"name\":\"a\"},\"spec\":[]}",
                "{\"metadata\":{\"name\":\"a\",\"deletionTimestamp\":\"yesterday\"}}",
                "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"externalID\":\"\\ud800\"}}",
                "{\"metadata\":{\"name\":\"a\"},\"status\":{\"capacity\":{\"cpu\":\"many\"}}}"
            })
    void malformedBodiesAreBadRequestsAndStoreNothing(String body) {
        long revision = server.store.revision();
        Answer answer = server.post(NODES, body);
        assertThat(answer.status()).as(answer.text()).isEqualTo(400);
        assertThat(answer.reason()).isEqualTo("BadRequest");
        assertThat(server.store.revision()).isEqualTo(revision);
    }

    @Test
    void deeplyNestedObjectIsRefused() {
        Answer answer =
                server.post(NODES, "{\"metadata\":{\"name\":\"a\"},\"x\":" + "[".repeat(150) + "]".repeat(150) + "}");
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.message()).isEqualTo("the object is nested deeper than 100 levels");
    }

    @Test
    @Tag("W17")
    void ownersAndFinalizersAreValidated() {
        assertThat(server.post(NODES, "{\"metadata\":{\"name\":\"n1\",\"finalizers\":[\"short\"]}}")
                        .message())
                .isEqualTo(
                        "Node \"n1\" is invalid: metadata.finalizers: Invalid value: \"short\": name is neither a standard finalizer name nor is it fully qualified");
        assertThat(server.post(
                                NODES,
                                "{\"metadata\":{\"name\":\"n1\",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n\"}]}}")
                        .message())
                .isEqualTo(
                        "Node \"n1\" is invalid: metadata.ownerReferences.uid: Invalid value: \"\": uid must not be empty");
        String owner = "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n\",\"uid\":\"u%d\",\"controller\":true}";
        assertThat(server.post(
                                NODES,
                                "{\"metadata\":{\"name\":\"n1\",\"ownerReferences\":[" + owner.formatted(1) + ","
                                        + owner.formatted(2) + "]}}")
                        .message())
                .contains("Only one reference can have Controller set to true");
        assertThat(server.get(NODES).names()).isEmpty();
    }

    @Test
    @Tag("W40")
    void finalizersAreMergedAsASet() {
        server.post(NODES, "{\"metadata\":{\"name\":\"n1\",\"finalizers\":[\"a.b/c\"]}}");
        JsonObject added = server.patch(
                        TestServer.STRATEGIC, NODES + "/n1", "{\"metadata\":{\"finalizers\":[\"x.y/z\"]}}")
                .json();
        assertThat(added.object("metadata").array("finalizers").strings()).containsExactly("x.y/z", "a.b/c");
        JsonObject removed = server.patch(
                        TestServer.STRATEGIC,
                        NODES + "/n1",
                        "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"a.b/c\"]}}")
                .json();
        assertThat(removed.object("metadata").array("finalizers").strings()).containsExactly("x.y/z");
    }

    @Test
    @Tag("W35")
    void patchDirectivesAreNotStored() {
        server.post(
                NODES,
                "{\"metadata\":{\"name\":\"n1\"},\"spec\":{\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]}}");
        JsonObject patched = server.patch(
                        TestServer.STRATEGIC,
                        NODES + "/n1",
                        "{\"spec\":{\"$retainKeys\":[\"unschedulable\"],\"unschedulable\":true},\"metadata\":{\"labels\":{\"$patch\":\"replace\",\"only\":\"me\"}}}")
                .json();
        assertThat(patched.object("spec")).hasToString("{\"unschedulable\":true}");
        assertThat(patched.object("metadata").object("labels")).hasToString("{\"only\":\"me\"}");
        assertThat(server.patch(
                                TestServer.STRATEGIC,
                                NODES + "/n1/status",
                                "{\"status\":{\"conditions\":[{\"status\":\"True\"}]}}")
                        .message())
                .isEqualTo("map: {\"status\":\"True\"} does not contain declared merge key: type");
    }

    @Test
    @Tag("W30")
    void dryRunOfACreationReturnsTheObjectWithoutAVersion() {
        JsonObject metadata = server.post(NODES + "?dryRun=All", "{\"metadata\":{\"generateName\":\"x-\"}}")
                .json()
                .object("metadata");
        assertThat(metadata.text("name")).matches("^x-[bcdfghjklmnpqrstvwxz2456789]{5}$");
        assertThat(metadata.text("uid")).isNotEmpty();
        assertThat(metadata.text("creationTimestamp")).isEqualTo("2026-11-21T07:00:00Z");
        assertThat(metadata.has("resourceVersion")).isFalse();
        assertThat(server.get(NODES).names()).isEmpty();
    }

    @Test
    void eachWarningIsOneHeader() {
        Answer warned = server.post(
                "/api/v1/nodes",
                "{\"metadata\":{\"name\":\"w\",\"name\":\"w\",\"name\":\"w\"},\"spec\":{\"foo\":1,\"bar\":2}}");
        assertThat(warned.headers().getOrDefault("warning", "").lines())
                .containsExactly(
                        "299 - \"duplicate field \\\"metadata.name\\\"\"",
                        "299 - \"unknown field \\\"spec.foo\\\"\"",
                        "299 - \"unknown field \\\"spec.bar\\\"\"");
    }

    /** Each patch may have 250,000 values, and so may the object. */
    @ParameterizedTest
    @ValueSource(strings = {"application/merge-patch+json", "application/apply-patch+yaml"})
    void objectDoesNotGrowBeyondTheValuesOfABodyByPatches(String type) {
        server.post("/api/v1/namespaces/default/configmaps", "{\"metadata\":{\"name\":\"m\"}}");
        String maps = "/api/v1/namespaces/default/configmaps/m";
        List<Integer> statuses = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            String zeros = "[" + "0,".repeat(99_999) + "0]";
            String body = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"m\"},\"unknown" + i
                    + "\":" + zeros + "}";
            statuses.add(server.patch(type, maps + "?fieldManager=m" + i, body).status());
        }
        assertThat(statuses).containsExactly(200, 200, 413);
    }
}
