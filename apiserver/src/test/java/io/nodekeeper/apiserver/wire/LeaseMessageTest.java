package io.nodekeeper.apiserver.wire;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.kubernetes.client.proto.Meta;
import io.kubernetes.client.proto.Runtime;
import io.kubernetes.client.proto.V1Coordination;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.time.Randoms;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Leases in protobuf, against the general reader and writer. */
class LeaseMessageTest {
    private static final Meta.MicroTime RENEWED = Meta.MicroTime.newBuilder()
            .setSeconds(1_795_000_000)
            .setNanos(123_456_000)
            .build();

    /** A lease as a kubelet sends it: Go writes the unset fields of the metadata, too. */
    private static V1Coordination.Lease.Builder lease() {
        V1Coordination.Lease.Builder lease = V1Coordination.Lease.newBuilder();
        lease.getMetadataBuilder()
                .setName("n1")
                .setGenerateName("")
                .setNamespace("kube-node-lease")
                .setSelfLink("")
                .setUid("5f1c")
                .setResourceVersion("7")
                .setGeneration(0)
                .setCreationTimestamp(
                        Meta.Time.newBuilder().setSeconds(1_790_000_000).setNanos(0));
        lease.getMetadataBuilder()
                .addOwnerReferences(Meta.OwnerReference.newBuilder()
                        .setKind("Node")
                        .setName("n1")
                        .setUid("u")
                        .setApiVersion("v1"));
        lease.getSpecBuilder()
                .setHolderIdentity("n1")
                .setLeaseDurationSeconds(40)
                .setRenewTime(RENEWED);
        return lease;
    }

    private static byte[] enveloped(ByteString message) {
        return ProtobufWriter.MAGIC
                .concat(Runtime.Unknown.newBuilder()
                        .setTypeMeta(Runtime.TypeMeta.newBuilder()
                                .setApiVersion("coordination.k8s.io/v1")
                                .setKind("Lease"))
                        .setRaw(message)
                        .setContentEncoding("")
                        .setContentType("")
                        .build()
                        .toByteString())
                .toByteArray();
    }

    private static Optional<LeaseMessage> read(V1Coordination.Lease.Builder lease) {
        return LeaseMessage.read(enveloped(lease.build().toByteString()));
    }

    /** Whether both ways give the same JSON, and the same protobuf with another version. */
    private static void compare(byte[] bytes, LeaseMessage lease) {
        JsonObject general = Protobuf.decode(bytes);
        assertThat(new String(lease.json(), StandardCharsets.UTF_8)).isEqualTo(general.toString());
        JsonObject later = general.update("metadata", metadata -> metadata.with("resourceVersion", "1234567"));
        assertThat(lease.protobuf(1_234_567))
                .isEqualTo(ProtobufWriter.object(later).orElseThrow());
    }

    @Test
    void aKubeletsLeaseIsTheSameInJson() {
        byte[] bytes = enveloped(lease().build().toByteString());

        LeaseMessage lease = LeaseMessage.read(bytes).orElseThrow();

        assertThat(new String(lease.json(), StandardCharsets.UTF_8))
                .isEqualTo(
                        "{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":{\"name\":\"n1\","
                                + "\"namespace\":\"kube-node-lease\",\"uid\":\"5f1c\",\"resourceVersion\":\"7\","
                                + "\"creationTimestamp\":\"2026-09-21T14:13:20Z\",\"ownerReferences\":[{\"kind\":\"Node\","
                                + "\"name\":\"n1\",\"uid\":\"u\",\"apiVersion\":\"v1\"}]},\"spec\":{\"holderIdentity\":\"n1\","
                                + "\"leaseDurationSeconds\":40,\"renewTime\":\"2026-11-18T11:06:40.123456Z\"}}");
        compare(bytes, lease);
    }

    @Test
    void allUsualFieldsAreTheSame() {
        V1Coordination.Lease.Builder lease = lease();
        lease.getMetadataBuilder()
                .getOwnerReferencesBuilder(0)
                .setController(true)
                .setBlockOwnerDeletion(false);
        lease.getMetadataBuilder()
                .addOwnerReferences(Meta.OwnerReference.newBuilder()
                        .setKind("Pod")
                        .setName("p")
                        .setUid("v")
                        .setApiVersion("v1")
                        .setController(false));
        lease.getSpecBuilder().setAcquireTime(RENEWED).setLeaseTransitions(300).setLeaseDurationSeconds(0);
        byte[] bytes = enveloped(lease.build().toByteString());

        compare(bytes, LeaseMessage.read(bytes).orElseThrow());
    }

    private static void expectUnusual(Consumer<V1Coordination.Lease.Builder> change) {
        V1Coordination.Lease.Builder lease = lease();
        change.accept(lease);
        assertThat(read(lease)).isEmpty();
    }

    @Test
    void whatIsNotUsualIsLeftToTheGeneralReader() {
        expectUnusual(lease -> lease.getMetadataBuilder().setGenerateName("n"));
        expectUnusual(lease -> lease.getMetadataBuilder().setGeneration(1));
        expectUnusual(lease -> lease.getMetadataBuilder().putLabels("a", "b"));
        expectUnusual(lease -> lease.getMetadataBuilder().addFinalizers("example.com/a"));
        expectUnusual(lease -> lease.getMetadataBuilder().setName(""));
        expectUnusual(lease -> lease.getMetadataBuilder().setName("\u00e4"));
        expectUnusual(lease -> lease.getMetadataBuilder().setName("a\"b"));
        expectUnusual(lease -> lease.getMetadataBuilder().setCreationTimestamp(Meta.Time.newBuilder()));
        expectUnusual(lease ->
                lease.getMetadataBuilder().getCreationTimestampBuilder().setNanos(1));
        expectUnusual(lease -> lease.getSpecBuilder().getRenewTimeBuilder().setNanos(123_456_789));
        expectUnusual(lease -> lease.getSpecBuilder().getRenewTimeBuilder().setNanos(1_000_000_000));
        expectUnusual(lease -> lease.getSpecBuilder().getRenewTimeBuilder().setSeconds(253_402_300_800L));
        expectUnusual(lease -> lease.getSpecBuilder().setLeaseDurationSeconds(-1));
        expectUnusual(lease -> lease.getSpecBuilder().setStrategy("OldestEmulationVersion"));
        expectUnusual(V1Coordination.Lease.Builder::clearSpec);
        expectUnusual(V1Coordination.Lease.Builder::clearMetadata);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "k8s\0", "{\"kind\":\"Lease\"}"})
    void whatIsNoMessageIsNone(String text) {
        assertThat(LeaseMessage.read(text.getBytes(StandardCharsets.UTF_8))).isEmpty();
    }

    /** A field that comes twice, and fields in another order, mean the same to the general reader. */
    @Test
    void fieldsInAnotherOrderAreLeftToTheGeneralReader() {
        ByteString twice = lease().build().toByteString().concat(lease().build().toByteString());
        V1Coordination.Lease whole = lease().build();
        ByteString swapped = V1Coordination.Lease.newBuilder()
                .setSpec(whole.getSpec())
                .build()
                .toByteString()
                .concat(V1Coordination.Lease.newBuilder()
                        .setMetadata(whole.getMetadata())
                        .build()
                        .toByteString());

        assertThat(LeaseMessage.read(enveloped(twice))).isEmpty();
        assertThat(LeaseMessage.read(enveloped(swapped))).isEmpty();
        assertThat(Protobuf.decode(enveloped(swapped)).toString())
                .isEqualTo(Protobuf.decode(enveloped(whole.toByteString())).toString());
    }

    /** Whatever is read is the same as the general reader's, also if bytes were changed, cut, or put twice. */
    @Test
    void damagedBytesAreReadAsTheGeneralReaderDoesOrNotAtAll() {
        RandomGenerator random = Randoms.seeded(1);
        byte[] whole = enveloped(lease().build().toByteString());
        int read = 0;
        for (int i = 0; i < 100_000; i++) {
            byte[] bytes = whole.clone();
            for (int changes = random.nextInt(3); changes >= 0; changes--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            Optional<LeaseMessage> lease = LeaseMessage.read(bytes);
            if (lease.isPresent()) {
                read++;
                compare(bytes, lease.get());
            }
        }
        assertThat(read).isGreaterThan(3_000);
    }

    @Test
    void theJsonIsJson() {
        LeaseMessage lease = read(lease()).orElseThrow();

        assertThat(Json.parseObject(lease.json()).object("spec").text("holderIdentity"))
                .isEqualTo("n1");
    }
}
