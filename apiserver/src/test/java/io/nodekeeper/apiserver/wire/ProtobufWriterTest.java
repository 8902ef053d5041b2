package io.nodekeeper.apiserver.wire;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import io.kubernetes.client.proto.Meta;
import io.kubernetes.client.proto.Runtime;
import io.kubernetes.client.proto.V1;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonBool;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Encoded objects are decoded by Kubernetes' message classes, and random objects by this server. */
class ProtobufWriterTest {

    private static Runtime.Unknown envelope(byte[] bytes) throws Exception {
        ByteString all = ByteString.copyFrom(bytes);
        assertThat(all.substring(0, 4).toStringUtf8()).isEqualTo("k8s\0");
        Runtime.Unknown envelope = Runtime.Unknown.parseFrom(all.substring(4));
        // Kubernetes' class writes the same bytes, with both empty fields.
        assertThat(envelope.toByteString()).isEqualTo(all.substring(4));
        assertThat(envelope.hasContentEncoding() && envelope.hasContentType()).isTrue();
        return envelope;
    }

    @Test
    void kubernetesClassesReadAPod() throws Exception {
        JsonObject pod = Json.parseObject("""
                {"kind":"Pod","apiVersion":"v1",
                 "metadata":{"name":"p","uid":"u","labels":{"a":"b"},"creationTimestamp":"2026-11-21T07:00:00Z",
                  "deletionGracePeriodSeconds":0,
                  "managedFields":[{"manager":"m","fieldsV1":{"f:spec":{}}}]},
                 "spec":{"terminationGracePeriodSeconds":0,"notAField":1,
                  "volumes":[{"name":"v","secret":{"secretName":"s","defaultMode":420}}],
                  "containers":[{"name":"c","image":"i","livenessProbe":{"httpGet":{"port":"web"},"periodSeconds":5},
                   "env":[{"name":"E","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}],
                   "ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"500m"}}}]},
                 "status":{"startTime":null}}""");

        Runtime.Unknown envelope = envelope(ProtobufWriter.object(pod).orElseThrow());

        assertThat(envelope.getTypeMeta().getApiVersion()).isEqualTo("v1");
        assertThat(envelope.getTypeMeta().getKind()).isEqualTo("Pod");
        V1.Pod read = V1.Pod.parseFrom(envelope.getRaw());
        assertThat(read.getMetadata().getName()).isEqualTo("p");
        assertThat(read.getMetadata().getLabelsMap()).containsEntry("a", "b");
        assertThat(read.getMetadata().getCreationTimestamp().getSeconds()).isEqualTo(1_795_244_400L);
        assertThat(read.getMetadata().hasDeletionGracePeriodSeconds()).isTrue();
        assertThat(read.getMetadata().getManagedFields(0).getFieldsV1().getRaw().toStringUtf8())
                .isEqualTo("{\"f:spec\":{}}");
        V1.PodSpec spec = read.getSpec();
        assertThat(spec.hasTerminationGracePeriodSeconds()).isTrue();
        assertThat(spec.getVolumes(0).getVolumeSource().getSecret().getDefaultMode())
                .isEqualTo(420);
        V1.Container container = spec.getContainers(0);
        assertThat(container
                        .getLivenessProbe()
                        .getHandler()
                        .getHttpGet()
                        .getPort()
                        .getStrVal())
                .isEqualTo("web");
        assertThat(container
                        .getEnv(0)
                        .getValueFrom()
                        .getSecretKeyRef()
                        .getLocalObjectReference()
                        .getName())
                .isEqualTo("s");
        assertThat(container.getResources().getLimitsMap())
                .hasEntrySatisfying(
                        "cpu", limit -> assertThat(limit.getString()).isEqualTo("500m"));
        assertThat(read.getStatus().hasStartTime()).isFalse();
    }

    @Test
    void frameHasALengthAndAnEvent() throws Exception {
        JsonObject event = Json.parseObject("""
                {"type":"BOOKMARK","object":{"kind":"Node","apiVersion":"v1","metadata":{"resourceVersion":"7"}}}""");

        ByteBuffer frame = ByteBuffer.wrap(ProtobufWriter.frame(event).orElseThrow());

        assertThat(frame.getInt()).isEqualTo(frame.remaining());
        Meta.WatchEvent read = Meta.WatchEvent.parseFrom(ByteString.copyFrom(frame));
        assertThat(read.getType()).isEqualTo("BOOKMARK");
        Runtime.Unknown object = envelope(read.getObject().getRaw().toByteArray());
        assertThat(V1.Node.parseFrom(object.getRaw()).getMetadata().getResourceVersion())
                .isEqualTo("7");
    }

    @Test
    void kindWithoutAMessageIsNotWritten() {
        assertThat(ProtobufWriter.object(Json.parseObject("{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\"}")))
                .isEmpty();
        assertThat(ProtobufWriter.object(Json.parseObject("{\"kind\":\"Dog\",\"apiVersion\":\"v1\"}")))
                .isEmpty();
        assertThat(ProtobufWriter.object(Json.parseObject("{}"))).isEmpty();
    }

    /** Round trips of random objects of all kinds and lists. */
    @ParameterizedTest
    @CsvSource({
        "v1, Pod",
        "v1, Node",
        "v1, Namespace",
        "v1, Event",
        "v1, Secret",
        "v1, ConfigMap",
        "v1, Service",
        "v1, ServiceAccount",
        "v1, Binding",
        "v1, PodList",
        "v1, NodeList",
        "v1, EventList",
        "v1, SecretList",
        "apps/v1, DaemonSet",
        "apps/v1, DaemonSetList",
        "apps/v1, Deployment",
        "networking.k8s.io/v1, NetworkPolicy",
        "admissionregistration.k8s.io/v1, ValidatingWebhookConfiguration",
        "coordination.k8s.io/v1, Lease",
        "coordination.k8s.io/v1, LeaseList",
        "events.k8s.io/v1, Event",
        "policy/v1, PodDisruptionBudget",
        "policy/v1, Eviction",
        "storage.k8s.io/v1, CSINode",
        "storage.k8s.io/v1, CSIDriver",
        "storage.k8s.io/v1, VolumeAttachment",
        "node.k8s.io/v1, RuntimeClass",
        "rbac.authorization.k8s.io/v1, ClusterRole",
        "rbac.authorization.k8s.io/v1, Role",
        "rbac.authorization.k8s.io/v1, ClusterRoleBinding",
        "rbac.authorization.k8s.io/v1, RoleBinding",
        "authentication.k8s.io/v1, TokenReview",
        "authentication.k8s.io/v1, TokenRequest",
        "authentication.k8s.io/v1, SelfSubjectReview",
        "authorization.k8s.io/v1, SubjectAccessReview",
        "authorization.k8s.io/v1, SelfSubjectRulesReview"
    })
    void writtenObjectIsReadUnchanged(String apiVersion, String kind) {
        Descriptor type = MessageTypes.descriptor(apiVersion, kind).orElseThrow();
        for (int seed = 0; seed < 200; seed++) {
            Random random = new Random(seed);
            JsonObject.Builder object = JsonObject.builder().put("kind", kind).put("apiVersion", apiVersion);
            random(type, random, 7).fields().forEach(object::put);
            JsonObject written = object.build();

            JsonObject read = Protobuf.decode(ProtobufWriter.object(written).orElseThrow());

            assertThat(read).as("seed %d: %s", seed, written).isEqualTo(written);
        }
    }

    /** An object with some non-empty fields of {@code type}. */
    private static JsonObject random(Descriptor type, Random random, int depth) {
        JsonObject.Builder object = JsonObject.builder();
        for (FieldDescriptor field : type.getFields()) {
            boolean message = field.getJavaType() == FieldDescriptor.JavaType.MESSAGE;
            if (random.nextInt(10) > 3 || (message && depth == 0)) {
                continue;
            }
            if (FieldNames.isInlined(field)) {
                random(field.getMessageType(), random, depth).fields().forEach(object::put);
            } else if (field.isMapField()) {
                FieldDescriptor value = field.getMessageType().findFieldByNumber(2);
                object.put(
                        FieldNames.json(field),
                        JsonObject.EMPTY.with("k" + random.nextInt(3), single(value, random, depth)));
            } else if (field.isRepeated()) {
                List<JsonValue> items = new ArrayList<>();
                for (int i = 0; i <= random.nextInt(3); i++) {
                    items.add(single(field, random, depth));
                }
                object.put(FieldNames.json(field), new JsonArray(items));
            } else {
                object.put(FieldNames.json(field), single(field, random, depth));
            }
        }
        return object.build();
    }

    private static JsonValue single(FieldDescriptor field, Random random, int depth) {
        return switch (field.getType()) {
            case STRING -> new JsonString("s\u00e4\ud83d\ude00" + random.nextInt(100));
            case BOOL -> JsonBool.TRUE;
            case INT32 -> JsonNumber.of(random.nextBoolean() ? Integer.MIN_VALUE : 1 + random.nextInt(1_000));
            case INT64 -> JsonNumber.of(random.nextBoolean() ? Long.MAX_VALUE : -1L - random.nextInt(1_000));
            case UINT32 -> JsonNumber.of(1 + random.nextInt(1_000));
            case DOUBLE -> new JsonNumber("0.5");
            case BYTES -> new JsonString("AAEC");
            default ->
                switch (field.getMessageType().getName()) {
                    case "Time", "Timestamp" -> new JsonString("2026-11-21T07:00:0" + random.nextInt(10) + "Z");
                    case "MicroTime" -> new JsonString("2026-11-21T07:00:00.00000" + random.nextInt(10) + "Z");
                    case "Quantity" -> new JsonString(random.nextInt(100) + "Mi");
                    case "IntOrString" -> random.nextBoolean() ? JsonNumber.of(random.nextInt(9)) : new JsonString("x");
                    case "FieldsV1", "RawExtension" -> JsonObject.EMPTY.with("f:a", JsonObject.EMPTY);
                    case "ExtraValue" -> JsonArray.of(new JsonString("e"));
                    default -> random(field.getMessageType(), random, depth - 1);
                };
        };
    }
}
