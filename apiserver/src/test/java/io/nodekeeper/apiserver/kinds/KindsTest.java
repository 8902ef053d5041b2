package io.nodekeeper.apiserver.kinds;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Further kinds that clients of node health need. */
class KindsTest {
    private static final String NS = "/api/v1/namespaces/default";
    private static final String EVENTS = NS + "/events";
    private static final String NEW_EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events";

    private final TestServer server = new TestServer();

    @ParameterizedTest
    @Tag("W73")
    @CsvSource({
        "/api/v1/services, ServiceList",
        "/apis/apps/v1/daemonsets, DaemonSetList",
        "/apis/apps/v1/deployments, DeploymentList",
        "/apis/networking.k8s.io/v1/networkpolicies, NetworkPolicyList",
        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations, ValidatingWebhookConfigurationList",
        "/apis/storage.k8s.io/v1/csinodes, CSINodeList",
        "/apis/storage.k8s.io/v1/csidrivers, CSIDriverList",
        "/apis/certificates.k8s.io/v1/certificatesigningrequests, CertificateSigningRequestList",
        "/apis/storage.k8s.io/v1/volumeattachments, VolumeAttachmentList",
        "/apis/storage.k8s.io/v1/storageclasses, StorageClassList",
        "/api/v1/persistentvolumes, PersistentVolumeList",
        "/api/v1/persistentvolumeclaims, PersistentVolumeClaimList",
        "/apis/node.k8s.io/v1/runtimeclasses, RuntimeClassList",
        "/apis/policy/v1/poddisruptionbudgets, PodDisruptionBudgetList",
        "/api/v1/configmaps, ConfigMapList",
        "/api/v1/secrets, SecretList",
        "/api/v1/serviceaccounts, ServiceAccountList",
        "/apis/events.k8s.io/v1/events, EventList"
    })
    void resourcesThatKubeletsAndControllersListAreServed(String path, String kind) {
        Answer list = server.get(path + "?limit=500&resourceVersion=0");
        assertThat(list.status()).isEqualTo(200);
        assertThat(list.json().text("kind")).isEqualTo(kind);
        assertThat(server.watch(path + "?watch=true&resourceVersion=" + list.version()).events)
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/api/v1/namespaces/default/services | {'ports':[{'port':80}]} | /registry/services/specs/default/x",
                "/api/v1/namespaces/default/configmaps | {} | /registry/configmaps/default/x",
                "/api/v1/namespaces/default/secrets | {} | /registry/secrets/default/x",
                "/api/v1/namespaces/default/serviceaccounts | {} | /registry/serviceaccounts/default/x",
                "/apis/apps/v1/namespaces/default/daemonsets | {'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'name':'c','image':'i'}]}}} | /registry/daemonsets/default/x",
                "/apis/apps/v1/namespaces/default/deployments | {'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'name':'c','image':'i'}]}}} | /registry/deployments/default/x",
                "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies | {'podSelector':{'matchLabels':{'a':'b'}},'ingress':[{'from':[{'ipBlock':{'cidr':'10.0.0.0/8'}}],'ports':[{'port':'web'}]}]} | /registry/networkpolicies/default/x",
                "/apis/storage.k8s.io/v1/csinodes | {'drivers':[{'name':'d','nodeID':'i','topologyKeys':['t']}]} | /registry/csinodes/x",
                "/apis/storage.k8s.io/v1/csidrivers | {} | /registry/csidrivers/x",
                "/apis/storage.k8s.io/v1/volumeattachments | {'attacher':'a','nodeName':'n','source':{'persistentVolumeName':'v'}} | /registry/volumeattachments/x",
                "/api/v1/persistentvolumes | {'accessModes':['ReadWriteOnce'],'capacity':{'storage':'1Gi'},'csi':{'driver':'d','volumeHandle':'h'}} | /registry/persistentvolumes/x",
                "/api/v1/namespaces/default/persistentvolumeclaims | {'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}} | /registry/persistentvolumeclaims/default/x",
                "/apis/policy/v1/namespaces/default/poddisruptionbudgets | {'minAvailable':'50%'} | /registry/poddisruptionbudgets/default/x"
            })
    void eachKindIsStoredAtKubernetesKeyAndCanBeWritten(String path, String spec, String key) {
        String body = "{\"metadata\":{\"name\":\"x\"},\"spec\":" + spec.replace('\'', '"') + "}";
        Answer created = server.post(path, body);
        assertThat(created.status()).as(created.text()).isEqualTo(201);
        assertThat(server.store.get(key)).isPresent();
        Answer patched = server.patch(TestServer.MERGE, path + "/x", "{\"metadata\":{\"labels\":{\"l\":\"1\"}}}");
        assertThat(patched.status()).as(patched.text()).isEqualTo(200);
        Answer put = server.put(path + "/x", patched.text());
        assertThat(put.status()).as(put.text()).isEqualTo(200);
        assertThat(put.version()).isEqualTo(patched.version());
        Answer table = server.ask(
                TestServer.ADMIN,
                "GET",
                path + "/x",
                Map.of("accept", "application/json;as=Table;v=v1;g=meta.k8s.io"),
                "");
        assertThat(table.json().array("rows").objects().count()).isEqualTo(1);
        assertThat(server.delete(path + "/x", "").status()).isEqualTo(200);
        assertThat(server.store.get(key)).isEmpty();
    }

    @Test
    void stringDataOfASecretBecomesData() {
        Answer created = server.post(
                NS + "/secrets",
                "{\"metadata\":{\"name\":\"s\"},\"data\":{\"a\":\"YQ==\"},\"stringData\":{\"b\":\"bb\"}}");
        assertThat(created.json().object("data")).hasToString("{\"a\":\"YQ==\",\"b\":\"YmI=\"}");
        assertThat(created.json().has("stringData")).isFalse();
        assertThat(created.json().text("type")).isEqualTo("Opaque");
        assertThat(server.get(NS + "/secrets?fieldSelector=type%3DOpaque").names())
                .containsExactly("s");
        assertThat(server.get(NS + "/secrets?fieldSelector=type%3Dother").names())
                .isEmpty();
        assertThat(server.patch(TestServer.MERGE, NS + "/secrets/s", "{\"type\":\"other\"}")
                        .message())
                .isEqualTo("Secret \"s\" is invalid: type: Invalid value: \"other\": field is immutable");
    }

    @Test
    void dataMustBeSmallBase64WithFileNamesAsKeys() {
        assertThat(server.post(NS + "/secrets", "{\"metadata\":{\"name\":\"s\"},\"data\":{\"a\":\"%%\"}}")
                        .status())
                .isEqualTo(400);
        assertThat(server.post(NS + "/configmaps", "{\"metadata\":{\"name\":\"s\"},\"data\":{\"a b\":\"\"}}")
                        .message())
                .startsWith("ConfigMap \"s\" is invalid: data[a b]: Invalid value: \"a b\": a valid config key must");
        assertThat(server.post(
                                NS + "/configmaps",
                                "{\"metadata\":{\"name\":\"s\"},\"data\":{\"a\":\"" + "x".repeat(1 << 20) + "y\"}}")
                        .status())
                .isEqualTo(422);
        assertThat(server.post(
                                NS + "/configmaps",
                                "{\"metadata\":{\"name\":\"s\"},\"data\":{\"a\":\"\"},\"binaryData\":{\"a\":\"YQ==\"}}")
                        .message())
                .contains("duplicate of key present in binaryData");
    }

    @Test
    void immutableDataCannotChange() {
        server.post(NS + "/configmaps", "{\"metadata\":{\"name\":\"m\"},\"data\":{\"a\":\"1\"},\"immutable\":true}");
        assertThat(server.patch(TestServer.MERGE, NS + "/configmaps/m", "{\"data\":{\"a\":\"2\"}}")
                        .message())
                .isEqualTo("ConfigMap \"m\" is invalid: data: Forbidden: field is immutable when `immutable` is set");
        assertThat(server.patch(TestServer.MERGE, NS + "/configmaps/m", "{\"metadata\":{\"labels\":{\"a\":\"2\"}}}")
                        .status())
                .isEqualTo(200);
    }

    @Test
    void generationCountsChangesOfTheSpecOnly() {
        String path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
        JsonObject created = server.post(
                        path,
                        "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"minAvailable\":1},\"status\":{\"disruptionsAllowed\":7}}")
                .json();
        assertThat(created.object("metadata").number("generation")).contains(1L);
        assertThat(created.has("status")).isFalse();
        server.patch(TestServer.MERGE, path + "/b/status", "{\"status\":{\"disruptionsAllowed\":3}}");
        assertThat(server.get(path + "/b/status").json().object("status").number("disruptionsAllowed"))
                .contains(3L);
        JsonObject changed = server.patch(TestServer.MERGE, path + "/b", "{\"spec\":{\"minAvailable\":2}}")
                .json();
        assertThat(changed.object("metadata").number("generation")).contains(2L);
    }

    @Test
    void bothEventApisShowTheSameEvents() {
        String old = "{\"metadata\":{\"name\":\"old\"},\"involvedObject\":{\"kind\":\"Node\",\"name\":\"n1\"},"
                + "\"reason\":\"R\",\"message\":\"said\",\"source\":{\"component\":\"kubelet\"},\"count\":2,\"type\":\"Normal\"}";
        assertThat(server.post(EVENTS, old).status()).isEqualTo(201);
        String modern = "{\"metadata\":{\"name\":\"new\"},\"regarding\":{\"kind\":\"Node\",\"name\":\"n2\"},"
                + "\"reason\":\"R\",\"note\":\"told\",\"reportingController\":\"k8s.io/x\",\"reportingInstance\":\"x1\","
                + "\"action\":\"Act\",\"eventTime\":\"2026-11-21T07:00:00.000000Z\",\"type\":\"Warning\"}";
        Answer created = server.post(NEW_EVENTS, modern);
        assertThat(created.status()).as(created.text()).isEqualTo(201);
        assertThat(created.json().text("apiVersion")).isEqualTo("events.k8s.io/v1");

        assertThat(server.get(EVENTS).names()).containsExactly("new", "old");
        assertThat(server.get(NEW_EVENTS).names()).containsExactly("new", "old");
        JsonObject asNew = server.get(NEW_EVENTS + "/old").json();
        assertThat(asNew.text("note")).isEqualTo("said");
        assertThat(asNew.object("regarding").text("name")).isEqualTo("n1");
        assertThat(asNew.object("deprecatedSource").text("component")).isEqualTo("kubelet");
        assertThat(asNew.number("deprecatedCount")).contains(2L);
        JsonObject asOld = server.get(EVENTS + "/new").json();
        assertThat(asOld.text("apiVersion")).isEqualTo("v1");
        assertThat(asOld.text("message")).isEqualTo("told");
        assertThat(asOld.text("reportingComponent")).isEqualTo("k8s.io/x");
        assertThat(asOld.object("involvedObject").text("name")).isEqualTo("n2");
        assertThat(asOld.object("metadata").text("resourceVersion"))
                .isEqualTo(server.get(NEW_EVENTS + "/new").version());
        assertThat(new String(
                        server.store
                                .get("/registry/events/default/new")
                                .orElseThrow()
                                .value(),
                        StandardCharsets.UTF_8))
                .startsWith("{\"kind\":\"Event\",\"apiVersion\":\"v1\",\"metadata\":{");
    }

    @Test
    void bothEventApisCanBeWatchedAndPatched() {
        TestServer.Lines core = server.watch(EVENTS + "?watch=true");
        TestServer.Lines modern = server.watch(NEW_EVENTS + "?watch=true");
        server.post(
                EVENTS,
                "{\"metadata\":{\"name\":\"e\"},\"involvedObject\":{\"kind\":\"Node\",\"name\":\"n1\"},\"message\":\"a\"}");
        Answer patched = server.patch(TestServer.STRATEGIC, NEW_EVENTS + "/e", "{\"series\":{\"count\":2}}");
        assertThat(patched.status()).as(patched.text()).isEqualTo(200);
        assertThat(core.events.getLast().object("object").text("message")).isEqualTo("a");
        assertThat(core.events.getLast().object("object").object("series").number("count"))
                .contains(2L);
        assertThat(modern.events.getLast().object("object").text("note")).isEqualTo("a");
        assertThat(modern.events.getLast().object("object").text("apiVersion")).isEqualTo("events.k8s.io/v1");
        assertThat(core.brief()).isEqualTo(modern.brief());
    }

    @Test
    @Tag("W57")
    void bothEventApisHaveTheirOwnFields() {
        server.post(
                EVENTS,
                "{\"metadata\":{\"name\":\"e\"},\"involvedObject\":{\"kind\":\"Node\",\"name\":\"n1\"},\"reportingComponent\":\"c\"}");
        assertThat(server.get(NEW_EVENTS + "?fieldSelector=regarding.name%3Dn1,reportingController%3Dc")
                        .names())
                .containsExactly("e");
        assertThat(server.get(NEW_EVENTS + "?fieldSelector=regarding.name%3Dn2").names())
                .isEmpty();
        Answer refused = server.get(NEW_EVENTS + "?fieldSelector=involvedObject.name%3Dn1");
        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.message()).isEqualTo("field label not supported: involvedObject.name");
    }

    @Test
    void newEventMustHaveReporterTimeAndAction() {
        Answer refused = server.post(NEW_EVENTS, "{\"metadata\":{\"name\":\"e\"},\"type\":\"Odd\",\"note\":\"n\"}");
        assertThat(refused.status()).isEqualTo(422);
        assertThat(refused.json().object("details").array("causes").objects().map(cause -> cause.text("field")))
                .containsExactly("eventTime", "type", "reportingController", "reportingInstance", "action", "reason");
        assertThat(server.post(
                                NEW_EVENTS,
                                "{\"metadata\":{\"name\":\"e\"},\"deprecatedCount\":1,\"regarding\":{\"namespace\":\"default\"}}")
                        .message())
                .contains("deprecatedCount: Invalid value: 1: needs to be unset");
    }

    @Test
    void coreEventWithATimeMustNameItsReporter() {
        String event = "{\"metadata\":{\"name\":\"e\"},\"involvedObject\":{\"namespace\":\"default\"},\"eventTime\":"
                + "\"2026-01-01T00:00:00.000000Z\",\"reportingComponent\":\"%s\",\"reportingInstance\":\"%s\","
                + "\"action\":\"A\",\"reason\":\"R\"}";

        Answer refused = server.post(EVENTS, event.formatted("a b!", "i".repeat(129)));

        assertThat(refused.status()).isEqualTo(422);
        assertThat(refused.json().object("details").array("causes").objects().map(cause -> cause.text("field")))
                .containsExactly("reportingController", "reportingInstance");
        assertThat(server.post(EVENTS, event.formatted("k8s.io/x", "i")).status())
                .isEqualTo(201);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "/api/v1/namespaces/default/services | 'ports':[{'port':80,'name':'a'},{'port':81,'name':'a'}] | spec.ports[1].name: Duplicate value: ^a^",
                "/api/v1/namespaces/default/services | 'ports':[{'port':80,'targetPort':70000}] | spec.ports[0].targetPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
                "/api/v1/namespaces/default/services | 'ports':[{'port':80}],'sessionAffinity':'X' | spec.sessionAffinity: Unsupported value: ^X^: supported values: ^ClientIP^, ^None^",
                "/api/v1/namespaces/default/services | 'type':'ExternalName' | spec.externalName: Required value",
                "/apis/policy/v1/namespaces/default/poddisruptionbudgets | 'minAvailable':-1 | spec.minAvailable: Invalid value: -1: must be greater than or equal to 0",
                "/apis/policy/v1/namespaces/default/poddisruptionbudgets | 'minAvailable':'101%' | spec.minAvailable: Invalid value: ^101%^: must not be greater than 100%",
                "/apis/policy/v1/namespaces/default/poddisruptionbudgets | 'unhealthyPodEvictionPolicy':'X' | spec.unhealthyPodEvictionPolicy: Unsupported value: ^X^: supported values: ^AlwaysAllow^, ^IfHealthyBudget^",
                "/apis/storage.k8s.io/v1/csinodes | 'drivers':[{'name':'d','nodeID':'i'},{'name':'d','nodeID':'i'}] | spec.drivers[1].name: Duplicate value: ^d^",
                "/apis/storage.k8s.io/v1/csidrivers | 'fsGroupPolicy':'X' | spec.fsGroupPolicy: Unsupported value: ^X^: supported values: ^ReadWriteOnceWithFSType^, ^File^, ^None^",
                "/api/v1/persistentvolumes | 'accessModes':['ReadWriteOnce'],'capacity':{'storage':'1Gi'} | spec: Required value: must specify a volume type",
                "/api/v1/persistentvolumes | 'accessModes':['ReadWriteOnce'],'capacity':{'storage':'1Gi'},'local':{'path':'/d'} | spec.nodeAffinity: Required value: Local volume requires node affinity",
                "/api/v1/persistentvolumes | 'accessModes':['X'],'capacity':{'storage':'1Gi'},'hostPath':{'path':'/d'} | spec.accessModes: Unsupported value: ^X^: supported values: ^ReadWriteOnce^, ^ReadOnlyMany^, ^ReadWriteMany^, ^ReadWriteOncePod^",
                "/api/v1/persistentvolumes | 'accessModes':['ReadWriteOnce'],'capacity':{'storage':'0'},'hostPath':{'path':'/d'} | spec.capacity[storage]: Invalid value: ^0^: must be greater than zero",
                "/api/v1/persistentvolumes | 'accessModes':['ReadWriteOnce'],'capacity':{'storage':'1Gi','cpu':'1'},'hostPath':{'path':'/d'} | spec.capacity: Unsupported value: {^storage^:^1Gi^,^cpu^:^1^}: supported values: ^storage^",
                "/api/v1/namespaces/default/persistentvolumeclaims | 'accessModes':['ReadWriteOnce'] | spec.resources[storage]: Required value",
                "/api/v1/namespaces/default/persistentvolumeclaims | 'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'-1Gi'}} | spec.resources[storage]: Invalid value: ^-1Gi^: must be greater than zero",
                "/api/v1/namespaces/default/persistentvolumeclaims | 'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1500m'}} | spec.resources[storage]: Invalid value: ^1500m^: must be an integer",
                "/apis/apps/v1/namespaces/default/daemonsets | 'minReadySeconds':-1,'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'name':'c','image':'i'}]}} | spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0"
            })
    void invalidObjectsAreRefusedAsInKubernetes(String path, String spec, String error) {
        Answer answer = server.post(path, ("{'metadata':{'name':'x'},'spec':{" + spec + "}}").replace('\'', '"'));

        assertThat(answer.status()).as(answer.text()).isEqualTo(422);
        assertThat(answer.message()).endsWith(" is invalid: " + error.replace("^", "\""));
    }

    @Test
    void aStorageClassHasDefaultsAndMustNameItsProvisioner() {
        String path = "/apis/storage.k8s.io/v1/storageclasses";

        Answer made = server.post(path, "{\"metadata\":{\"name\":\"fast\"},\"provisioner\":\"csi.example.com\"}");

        assertThat(made.status()).as(made.text()).isEqualTo(201);
        assertThat(made.json().text("reclaimPolicy")).isEqualTo("Delete");
        assertThat(made.json().text("volumeBindingMode")).isEqualTo("Immediate");
        assertThat(server.post(path, "{\"metadata\":{\"name\":\"slow\"}}").message())
                .endsWith("is invalid: provisioner: Required value");
    }

    @Test
    void aControllerBindsAVolumeAndAClaimWhoseOtherFieldsAreFixed() {
        String claims = "/api/v1/namespaces/default/persistentvolumeclaims";
        String volumes = "/api/v1/persistentvolumes";
        server.post(
                claims,
                "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}}");
        server.post(
                volumes,
                "{\"metadata\":{\"name\":\"v\"},\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],\"capacity\":{\"storage\":\"1Gi\"},\"hostPath\":{\"path\":\"/d\"}}}");

        assertThat(server.get(claims + "/c").json().object("status").text("phase"))
                .isEqualTo("Pending");
        assertThat(server.patch(TestServer.MERGE, claims + "/c", "{\"spec\":{\"volumeName\":\"v\"}}")
                        .status())
                .isEqualTo(200);
        assertThat(server.patch(TestServer.MERGE, claims + "/c/status", "{\"status\":{\"phase\":\"Bound\"}}")
                        .json()
                        .object("status")
                        .text("phase"))
                .isEqualTo("Bound");
        assertThat(server.patch(
                                TestServer.MERGE,
                                volumes + "/v",
                                "{\"spec\":{\"claimRef\":{\"name\":\"c\",\"namespace\":\"default\"}}}")
                        .status())
                .isEqualTo(200);

        assertThat(server.patch(TestServer.MERGE, claims + "/c", "{\"spec\":{\"volumeName\":\"w\"}}")
                        .message())
                .endsWith("is invalid: spec: Forbidden: spec is immutable after creation except resources.requests and"
                        + " volumeAttributesClassName for bound claims");
        assertThat(server.patch(TestServer.MERGE, volumes + "/v", "{\"spec\":{\"hostPath\":{\"path\":\"/e\"}}}")
                        .message())
                .endsWith("is invalid: spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable"
                        + " after creation");
    }
}
