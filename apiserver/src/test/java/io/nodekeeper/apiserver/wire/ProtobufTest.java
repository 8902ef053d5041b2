package io.nodekeeper.apiserver.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import io.kubernetes.client.proto.IntStr.IntOrString;
import io.kubernetes.client.proto.Meta;
import io.kubernetes.client.proto.Resource.Quantity;
import io.kubernetes.client.proto.V1;
import io.kubernetes.client.proto.V1Authentication;
import io.kubernetes.client.proto.V1Coordination;
import io.kubernetes.client.proto.V1Events;
import io.kubernetes.client.proto.V1Storage;
import io.nodekeeper.apiserver.testing.Envelopes;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ProtobufTest {
    private static String json(String apiVersion, String kind, Message message) {
        return Protobuf.decode(Envelopes.of(apiVersion, kind, message)).toString();
    }

    @Test
    @Tag("W6")
    void microTimeOfALeaseIsRead() {
        Message lease = V1Coordination.Lease.newBuilder()
                .setMetadata(Meta.ObjectMeta.newBuilder()
                        .setName("n1")
                        .setNamespace("kube-node-lease")
                        .setResourceVersion("7")
                        .addOwnerReferences(Meta.OwnerReference.newBuilder()
                                .setApiVersion("v1")
                                .setKind("Node")
                                .setName("n1")
                                .setUid("u")))
                .setSpec(V1Coordination.LeaseSpec.newBuilder()
                        .setHolderIdentity("n1")
                        .setLeaseDurationSeconds(40)
                        .setRenewTime(Meta.MicroTime.newBuilder()
                                .setSeconds(1_763_708_400)
                                .setNanos(42_000)))
                .build();

        assertThat(json("coordination.k8s.io/v1", "Lease", lease))
                .isEqualTo(
                        "{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":{\"name\":\"n1\","
                                + "\"namespace\":\"kube-node-lease\",\"resourceVersion\":\"7\",\"ownerReferences\":[{\"kind\":\"Node\","
                                + "\"name\":\"n1\",\"uid\":\"u\",\"apiVersion\":\"v1\"}]},\"spec\":{\"holderIdentity\":\"n1\","
                                + "\"leaseDurationSeconds\":40,\"renewTime\":\"2025-11-21T07:00:00.000042Z\"}}");
    }

    @Test
    void bytesOfARealKubeletAreRead() {
        // The start of a node as kube-apiserver 1.21 stored it, with the message reduced to a name and a spec.
        byte[] stored = HexFormat.of()
                .parseHex("6b387300" + "0a0a" + "0a027631" + "12044e6f6465" + "1214" + "0a0c" + "0a026e31" + "1200"
                        + "1a00" + "2200" + "2a00" + "1204" + "0a00" + "2000" + "1a002200");

        assertThat(Protobuf.begins(stored)).isTrue();
        assertThat(Protobuf.decode(stored))
                .hasToString("{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"n1\"},\"spec\":{}}");
    }

    @Test
    void zeroValuesOfGoAreAbsent() {
        Message node = V1.Node.newBuilder()
                .setMetadata(Meta.ObjectMeta.newBuilder()
                        .setName("n1")
                        .setGenerateName("")
                        .setNamespace("")
                        .setSelfLink("")
                        .setUid("")
                        .setResourceVersion("")
                        .setGeneration(0)
                        .setCreationTimestamp(Meta.Time.getDefaultInstance()))
                .setSpec(V1.NodeSpec.newBuilder()
                        .setPodCIDR("")
                        .setProviderID("")
                        .setUnschedulable(false)
                        .setExternalID(""))
                .setStatus(V1.NodeStatus.newBuilder()
                        .setPhase("")
                        .addConditions(V1.NodeCondition.newBuilder()
                                .setType("Ready")
                                .setStatus("")
                                .setReason("")
                                .setLastHeartbeatTime(Meta.Time.newBuilder().setSeconds(0)))
                        .setDaemonEndpoints(V1.NodeDaemonEndpoints.newBuilder()
                                .setKubeletEndpoint(
                                        V1.DaemonEndpoint.newBuilder().setPort(0))))
                .build();

        assertThat(json("v1", "Node", node))
                .isEqualTo("{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"n1\"},\"spec\":{},"
                        + "\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"\","
                        + "\"lastHeartbeatTime\":\"1970-01-01T00:00:00Z\"}],"
                        + "\"daemonEndpoints\":{\"kubeletEndpoint\":{\"Port\":0}}}}");
    }

    /** Every user may send them in a body that is refused only later. */
    @Test
    void optionsForDeletionOfAnyVersionTakeNoMemory() {
        Message options =
                Meta.DeleteOptions.newBuilder().setGracePeriodSeconds(0).build();
        int before = MessageTypes.cached();

        for (int i = 0; i < 1_000; i++) {
            assertThat(json("v" + i + ".example.com/v1", "DeleteOptions", options))
                    .contains("\"gracePeriodSeconds\":0");
        }

        // Tests of other classes may have the first objects of some kinds meanwhile.
        assertThat(MessageTypes.cached()).isLessThan(before + 500);
    }

    @Test
    void zeroOfAPointerIsPresent() {
        Message pod = V1.Pod.newBuilder()
                .setSpec(V1.PodSpec.newBuilder()
                        .setTerminationGracePeriodSeconds(0)
                        .setAutomountServiceAccountToken(false)
                        .setHostNetwork(false)
                        .addTolerations(V1.Toleration.newBuilder()
                                .setKey("k")
                                .setValue("")
                                .setTolerationSeconds(0)))
                .build();
        Message options = Meta.DeleteOptions.newBuilder()
                .setGracePeriodSeconds(0)
                .setPreconditions(Meta.Preconditions.newBuilder().setUid("u"))
                .addDryRun("All")
                .build();
        Message released = V1Coordination.Lease.newBuilder()
                .setSpec(V1Coordination.LeaseSpec.newBuilder()
                        .setHolderIdentity("")
                        .setLeaseTransitions(0))
                .build();

        assertThat(json("v1", "Pod", pod))
                .isEqualTo(
                        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{\"terminationGracePeriodSeconds\":0,"
                                + "\"automountServiceAccountToken\":false,\"tolerations\":[{\"key\":\"k\",\"tolerationSeconds\":0}]}}");
        assertThat(json("coordination.k8s.io/v1", "DeleteOptions", options))
                .isEqualTo(
                        "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"coordination.k8s.io/v1\",\"gracePeriodSeconds\":0,"
                                + "\"preconditions\":{\"uid\":\"u\"},\"dryRun\":[\"All\"]}");
        assertThat(json("coordination.k8s.io/v1", "Lease", released))
                .endsWith("\"spec\":{\"holderIdentity\":\"\",\"leaseTransitions\":0}}");
    }

    @Test
    void fieldsOfEmbeddedStructsBelongToTheOuterObject() {
        Message pod = V1.Pod.newBuilder()
                .setSpec(V1.PodSpec.newBuilder()
                        .addVolumes(V1.Volume.newBuilder()
                                .setName("v")
                                .setVolumeSource(V1.VolumeSource.newBuilder()
                                        .setEmptyDir(V1.EmptyDirVolumeSource.newBuilder()
                                                .setSizeLimit(
                                                        Quantity.newBuilder().setString("1Gi")))))
                        .addContainers(V1.Container.newBuilder()
                                .setName("c")
                                .setResources(V1.ResourceRequirements.newBuilder()
                                        .putLimits(
                                                "cpu",
                                                Quantity.newBuilder()
                                                        .setString("100m")
                                                        .build()))
                                .addEnv(V1.EnvVar.newBuilder()
                                        .setName("E")
                                        .setValueFrom(V1.EnvVarSource.newBuilder()
                                                .setSecretKeyRef(V1.SecretKeySelector.newBuilder()
                                                        .setKey("k")
                                                        .setLocalObjectReference(V1.LocalObjectReference.newBuilder()
                                                                .setName("s")))))
                                .setLivenessProbe(V1.Probe.newBuilder()
                                        .setHandler(V1.ProbeHandler.newBuilder()
                                                .setHttpGet(V1.HTTPGetAction.newBuilder()
                                                        .setPath("/")
                                                        .setPort(IntOrString.newBuilder()
                                                                .setType(1)
                                                                .setStrVal("web"))))))
                        .addEphemeralContainers(V1.EphemeralContainer.newBuilder()
                                .setEphemeralContainerCommon(
                                        V1.EphemeralContainerCommon.newBuilder().setName("e"))))
                .build();

        assertThat(json("v1", "Pod", pod))
                .isEqualTo(
                        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{\"volumes\":[{\"name\":\"v\",\"emptyDir\":"
                                + "{\"sizeLimit\":\"1Gi\"}}],\"containers\":[{\"name\":\"c\",\"env\":[{\"name\":\"E\",\"valueFrom\":"
                                + "{\"secretKeyRef\":{\"name\":\"s\",\"key\":\"k\"}}}],\"resources\":{\"limits\":{\"cpu\":\"100m\"}},"
                                + "\"livenessProbe\":{\"httpGet\":{\"path\":\"/\",\"port\":\"web\"}}}],"
                                + "\"ephemeralContainers\":[{\"name\":\"e\"}]}}");
    }

    @Test
    void specialMessagesHaveTheirJsonForm() {
        Message secret = V1.Secret.newBuilder()
                .putData("k", ByteString.copyFromUtf8("hello"))
                .setImmutable(false)
                .build();
        Message review = V1Authentication.TokenReview.newBuilder()
                .setStatus(V1Authentication.TokenReviewStatus.newBuilder()
                        .setUser(V1Authentication.UserInfo.newBuilder()
                                .putExtra(
                                        "scope",
                                        V1Authentication.ExtraValue.newBuilder()
                                                .addItems("a")
                                                .addItems("b")
                                                .build())))
                .build();
        Message token = V1Authentication.TokenRequest.newBuilder()
                .setSpec(V1Authentication.TokenRequestSpec.newBuilder()
                        .setExpirationSeconds(600)
                        .setBoundObjectRef(V1Authentication.BoundObjectReference.newBuilder()
                                .setUID("u")))
                .build();
        Message managed = V1.ConfigMap.newBuilder()
                .setMetadata(Meta.ObjectMeta.newBuilder()
                        .addManagedFields(Meta.ManagedFieldsEntry.newBuilder()
                                .setManager("m")
                                .setFieldsV1(
                                        Meta.FieldsV1.newBuilder().setRaw(ByteString.copyFromUtf8("{\"f:data\":{}}")))))
                .build();

        assertThat(json("v1", "Secret", secret)).endsWith("\"data\":{\"k\":\"aGVsbG8=\"},\"immutable\":false}");
        assertThat(json("authentication.k8s.io/v1", "TokenReview", review))
                .endsWith("\"status\":{\"user\":{\"extra\":{\"scope\":[\"a\",\"b\"]}}}}");
        assertThat(json("authentication.k8s.io/v1", "TokenRequest", token))
                .endsWith("\"spec\":{\"boundObjectRef\":{\"uid\":\"u\"},\"expirationSeconds\":600}}");
        assertThat(json("v1", "ConfigMap", managed))
                .endsWith("\"managedFields\":[{\"manager\":\"m\",\"fieldsV1\":{\"f:data\":{}}}]}}");
    }

    @Test
    void kindsOfOneNameDifferByGroup() {
        Message event = V1Events.Event.newBuilder()
                .setEventTime(Meta.MicroTime.newBuilder().setSeconds(1_763_708_400))
                .setReportingController("c")
                .setDeprecatedCount(0)
                .build();
        Message csiNode = V1Storage.CSINode.newBuilder()
                .setSpec(V1Storage.CSINodeSpec.newBuilder()
                        .addDrivers(V1Storage.CSINodeDriver.newBuilder()
                                .setName("d")
                                .setNodeID("")
                                .addTopologyKeys("zone")))
                .build();

        assertThat(json("events.k8s.io/v1", "Event", event))
                .isEqualTo("{\"kind\":\"Event\",\"apiVersion\":\"events.k8s.io/v1\","
                        + "\"eventTime\":\"2025-11-21T07:00:00.000000Z\",\"reportingController\":\"c\"}");
        assertThat(json("storage.k8s.io/v1", "CSINode", csiNode))
                .endsWith("\"drivers\":[{\"name\":\"d\",\"nodeID\":\"\",\"topologyKeys\":[\"zone\"]}]}}");
    }

    @Test
    void malformedMessagesAreRefusedWithAReason() {
        byte[] good = Envelopes.of("v1", "Node", V1.Node.getDefaultInstance());

        refused(new byte[] {1, 2, 3}, "expected prefix k8s\\0");
        refused(
                Envelopes.of("v1", "Nope", V1.Node.getDefaultInstance()),
                "no kind \"Nope\" is registered for version \"v1\"");
        refused(
                Envelopes.of("v7", "Node", V1.Node.getDefaultInstance()),
                "no kind \"Node\" is registered for version \"v7\"");
        refused(Arrays.copyOf(good, good.length - 3), "not a protobuf message of Kubernetes");
        refused(Envelopes.of("v1", "", V1.Node.getDefaultInstance()), "names no kind");
        refused(
                Envelopes.of("v1", "Node", ByteString.copyFromUtf8("\u0008\u0001")),
                "wrong wire type 0 for the field metadata");
        refused(
                Envelopes.of(
                        "v1", "Node", ByteString.copyFrom(new byte[] {0x0a, 4, 0x0a, 2, (byte) 0xff, (byte) 0xff})),
                "UTF-8");
        refused(
                Envelopes.of(
                        "v1",
                        "Namespace",
                        V1.Namespace.newBuilder()
                                .setMetadata(Meta.ObjectMeta.newBuilder()
                                        .setCreationTimestamp(
                                                Meta.Time.newBuilder().setSeconds(Long.MAX_VALUE)))
                                .build()),
                "outside the years 1 to 9999");
    }

    /** Three fields of JSON with 100,000 values each, of which none is too much alone. */
    @Test
    void valuesOfJsonWithinAMessageCountTogether() {
        String fields = "[" + "0,".repeat(99_999) + "0]";
        V1.Namespace.Builder namespace = V1.Namespace.newBuilder();
        for (int i = 0; i < 3; i++) {
            namespace
                    .getMetadataBuilder()
                    .addManagedFieldsBuilder()
                    .getFieldsV1Builder()
                    .setRaw(ByteString.copyFromUtf8(fields));
        }
        refused(Envelopes.of("v1", "Namespace", namespace.build()), "the message has more than 250000 values");
    }

    private static void refused(byte[] bytes, String why) {
        assertThatThrownBy(() -> Protobuf.decode(bytes))
                .isInstanceOf(ProtobufException.class)
                .hasMessageContaining(why);
    }
}
