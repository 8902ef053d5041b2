package io.nodekeeper.agent.pods.persistent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whether a pod may use a claim, and what is behind it. */
class ClaimRulesTest {
    private static final Pod POD =
            new Pod(Json.parseObject("{\"metadata\": {\"name\": \"web\", \"namespace\": \"shop\", \"uid\": \"u1\"}}"));
    private static final JsonObject VOLUME = Json.parseObject(
            "{\"name\": \"data\", \"persistentVolumeClaim\": {\"claimName\": \"c\", \"readOnly\": true}}");
    private static final JsonObject EPHEMERAL = Json.parseObject("{\"name\": \"data\", \"ephemeral\": {}}");
    private static final String BEGIN =
            "Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process"
                    + " volumes=[data]: error processing PVC shop/";

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{'spec': {'volumeName': 'pv1'}, 'status': {'phase': 'Pending'}} | PVC is not bound",
                "{'spec': {}, 'status': {'phase': 'Bound'}} | PVC is not bound",
                "{'metadata': {'deletionTimestamp': 'now'}, 'spec': {'volumeName': 'pv1'}, 'status': {'phase': 'Bound'}} | PVC is being deleted"
            })
    void aClaimMustBeBoundAndMustStay(String claim, String why) {
        assertThatThrownBy(() -> ClaimRules.boundVolume(POD, VOLUME, Optional.of(json(claim))))
                .hasMessage(BEGIN + "c: " + why);
    }

    @Test
    void aClaimThatIsMissingIsNamed() {
        assertThatThrownBy(() -> ClaimRules.boundVolume(POD, VOLUME, Optional.empty()))
                .hasMessage(BEGIN + "c: failed to fetch PVC from API server: persistentvolumeclaims \"c\" not found");
    }

    @Test
    void theClaimOfAnEphemeralVolumeMustBeThePods() {
        JsonObject claim = json("{'metadata': {'ownerReferences': [{'uid': 'u1', 'controller': true}]},"
                + " 'spec': {'volumeName': 'pv1'}, 'status': {'phase': 'Bound'}}");

        assertThat(ClaimRules.boundVolume(POD, EPHEMERAL, Optional.of(claim))).isEqualTo("pv1");
        assertThatThrownBy(() -> ClaimRules.boundVolume(POD, EPHEMERAL, Optional.of(claim.without("metadata"))))
                .hasMessage(BEGIN + "web-data: PVC shop/web-data was not created for pod shop/web (pod is not owner)");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{} | found PV object pv1 but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim",
                "{'claimRef': {'uid': 'c9'}} | found PV object pv1 but its pv.Spec.ClaimRef.UID c9 does not point to claim.UID c7",
                "{'claimRef': {'uid': 'c7'}, 'volumeMode': 'Block'} | volume data has volumeMode Block, but is specified in volumeMounts",
                "{'claimRef': {'uid': 'c7'}, 'capacity': {}, 'nfs': {}} | PV pv1: spec.nfs is not supported by this node's agent"
            })
    void aVolumeMustBeTheClaimsAndOneThatTheAgentCanMount(String spec, String why) {
        assertThatThrownBy(() -> source(spec)).hasMessage(BEGIN + "c: " + why);
    }

    @Test
    void aVolumeThatIsMissingIsNamed() {
        assertThatThrownBy(() -> ClaimRules.source(POD, VOLUME, claim(), Optional.empty()))
                .hasMessage(BEGIN + "c: failed to fetch PV pv1 from API server: persistentvolumes \"pv1\" not found");
    }

    @Test
    void aVolumeOfADriverHasWhatTheDriverNeeds() {
        assertThat(source("""
                {'claimRef': {'uid': 'c7'}, 'accessModes': ['ReadWriteOnce'], 'mountOptions': ['noatime'],
                 'csi': {'driver': 'd', 'volumeHandle': 'h', 'fsType': 'ext4', 'volumeAttributes': {'a': 'b'},
                   'nodeStageSecretRef': {'namespace': 'n', 'name': 's'}}}"""))
                .isEqualTo(new PersistentSource.Csi(new CsiVolume(
                        "pv1",
                        "d",
                        "h",
                        false,
                        true,
                        "ext4",
                        List.of("ReadWriteOnce"),
                        List.of("noatime"),
                        Map.of("a", "b"),
                        json("{'namespace': 'n', 'name': 's'}"),
                        JsonObject.EMPTY)));
    }

    @Test
    void pathsOfTheHostAreSources() {
        assertThat(source("{'claimRef': {'uid': 'c7'}, 'hostPath': {'path': '/d'}}"))
                .isEqualTo(new PersistentSource.Host("pv1", json("{'path': '/d'}")));
        assertThat(source("{'claimRef': {'uid': 'c7'}, 'local': {'path': '/l'}}"))
                .isEqualTo(new PersistentSource.Local("pv1", "/l", true));
    }

    @Test
    void namesAreThoseOfKubernetes() {
        CsiVolume inline = CsiVolume.inline("u1", "shop", json("{'name': 'data', 'csi': {'driver': 'd'}}"));

        // sha256sum of "u1data", and of the handle, the driver and the node.
        assertThat(inline.handle()).hasSize("csi-".length() + 64).startsWith("csi-");
        assertThat(CsiVolume.sha256("abc"))
                .isEqualTo("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assertThat(CsiVolume.uniqueName("d", "h")).isEqualTo("kubernetes.io/csi/d^h");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{} | ext4 | ReadWriteOnce | true",
                "{} | `` | ReadWriteOnce | false",
                "{} | ext4 | ReadWriteMany | false",
                "{'fsGroupPolicy': 'File'} | `` | ReadWriteMany | true",
                "{'fsGroupPolicy': 'None'} | ext4 | ReadWriteOnce | false"
            })
    void theDriversPolicyDecidesWhetherFilesAreGivenToTheGroup(String spec, String fsType, String mode, boolean given) {
        CsiVolume volume = new CsiVolume(
                "v",
                "d",
                "h",
                false,
                false,
                fsType,
                List.of(mode),
                List.of(),
                Map.of(),
                JsonObject.EMPTY,
                JsonObject.EMPTY);

        assertThat(DriverPolicy.of(Optional.of(json("{'spec': " + spec + "}"))).givesGroup(volume))
                .isEqualTo(given);
    }

    private static PersistentSource source(String spec) {
        JsonObject volume = json("{'metadata': {'name': 'pv1'}, 'spec': " + spec + "}");
        return ClaimRules.source(POD, VOLUME, claim(), Optional.of(volume));
    }

    private static JsonObject claim() {
        return json("{'metadata': {'uid': 'c7'}, 'spec': {'volumeName': 'pv1'}}");
    }

    private static JsonObject json(String text) {
        return Json.parseObject(text.replace('\'', '"'));
    }
}
