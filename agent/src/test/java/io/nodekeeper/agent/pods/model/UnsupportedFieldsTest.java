package io.nodekeeper.agent.pods.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which fields of pods are refused by their names. */
class UnsupportedFieldsTest {
    @Test
    void shouldAcceptTheVolumesThatTheNodeCanPrepare() {
        assertThat(first("""
                {"name": "a", "emptyDir": {"medium": "Memory"}}, {"name": "g", "emptyDir": {"medium": "HugePages"}},
                {"name": "h", "emptyDir": {"medium": "HugePages-2Mi"}}, {"name": "b", "hostPath": {"path": "/"}},
                {"name": "c", "configMap": {}}, {"name": "d", "secret": {}}, {"name": "e", "downwardAPI": {}},
                {"name": "f", "projected": {"sources": [{"serviceAccountToken": {}}, {"configMap": {}}]}}
                """)).isEmpty();
    }

    @Test
    void shouldRefuseOthersByTheFieldsName() {
        assertThat(first("{\"name\": \"a\", \"nfs\": {}}")).contains("spec.volumes[a].nfs");
        assertThat(first("{\"name\": \"a\", \"emptyDir\": {\"medium\": \"Hugepages\"}}"))
                .contains("spec.volumes[a].emptyDir.medium");
        assertThat(first("{\"name\": \"a\", \"projected\": {\"sources\": [{\"clusterTrustBundle\": {}}]}}"))
                .contains("spec.volumes[a].projected.sources.clusterTrustBundle");
    }

    @ParameterizedTest
    @CsvSource({"activeDeadlineSeconds, 60", "setHostnameAsFQDN, true", "resourceClaims, []"})
    void shouldRefuseWhatOnlyANodeCouldDo(String field, String value) {
        Pod pod = new Pod(Json.parseObject("{\"spec\": {\"" + field + "\": " + value + "}}"));

        assertThat(UnsupportedFields.first(pod)).contains("spec." + field);
        assertThat(UnsupportedFields.first(new Pod(Json.parseObject("{\"spec\": {\"setHostnameAsFQDN\": false}}"))))
                .isEmpty();
    }

    @Test
    void shouldRefuseResourcesOfThePodItself() {
        String limited = "{\"spec\": {\"resources\": {\"limits\": {\"memory\": \"1Gi\"}}}}";

        assertThat(UnsupportedFields.first(new Pod(Json.parseObject(limited)))).contains("spec.resources");
        assertThat(UnsupportedFields.first(new Pod(Json.parseObject("{\"spec\": {\"resources\": {}}}"))))
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"Disabled, ''", "IfPossible, refused", "Enabled, refused"})
    void shouldRefuseRecursiveReadOnlyMountsUnlessTheyAreDisabled(String value, String refused) {
        Pod pod = new Pod(Json.parseObject("""
                {"spec": {"containers": [{"name": "app", "volumeMounts": [
                  {"name": "a", "mountPath": "/a", "readOnly": true, "recursiveReadOnly": "%s"}]}]}}
                """.formatted(value)));

        assertThat(UnsupportedFields.first(pod))
                .isEqualTo(
                        refused.isEmpty()
                                ? Optional.empty()
                                : Optional.of("spec.containers[app].volumeMounts[/a].recursiveReadOnly"));
    }

    @Test
    void shouldAcceptSecurityContextsAndRuntimeClasses() {
        String context =
                "{\"seccompProfile\": {\"type\": \"Localhost\"}, \"appArmorProfile\": {}, \"seLinuxOptions\": {}%s}";
        Pod pod = new Pod(Json.parseObject("""
                {"spec": {"securityContext": %s, "runtimeClassName": "vm", "overhead": {"cpu": "1"},
                          "containers": [{"name": "app", "securityContext": %s}]}}
                """.formatted(
                context.formatted(", \"sysctls\": [{\"name\": \"net.a\"}], \"supplementalGroupsPolicy\": \"Strict\""),
                context.formatted(", \"procMount\": \"Unmasked\""))));

        assertThat(UnsupportedFields.first(pod)).isEmpty();
    }

    @Test
    void shouldRefuseOptionsOfWindowsAndUserNamespaces() {
        assertThat(UnsupportedFields.first(
                        new Pod(Json.parseObject("{\"spec\": {\"securityContext\": {\"windowsOptions\": {}}}}"))))
                .contains("spec.securityContext.windowsOptions");
        assertThat(UnsupportedFields.first(new Pod(Json.parseObject("{\"spec\": {\"hostUsers\": false}}"))))
                .contains("spec.hostUsers");
    }

    private static Optional<String> first(String volumes) {
        return UnsupportedFields.first(new Pod(Json.parseObject("{\"spec\": {\"volumes\": [%s]}}".formatted(volumes))));
    }
}
