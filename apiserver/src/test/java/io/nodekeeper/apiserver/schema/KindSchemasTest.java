package io.nodekeeper.apiserver.schema;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.patch.StrategicMergePatch;
import io.nodekeeper.api.schema.Schema;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How the schemas of kinds merge objects. */
class KindSchemasTest {
    /** Follows fields; lists lead to their items. */
    private static Schema at(String apiVersion, String kind, String path) {
        Schema schema = KindSchemas.of(apiVersion, kind);
        for (String name : path.split("\\.")) {
            schema = schema.field(name).orElseThrow();
            if (schema instanceof Schema.ListOf list) {
                schema = list.item();
            }
        }
        return schema;
    }

    @ParameterizedTest
    @Tag("W39")
    @CsvSource({
        "v1, Service, spec.selector, true",
        "v1, Pod, spec.nodeSelector, true",
        "v1, Pod, spec.imagePullSecrets, true",
        "v1, Pod, spec.containers.env.valueFrom.secretKeyRef, true",
        "v1, Pod, spec.containers.env.valueFrom.configMapKeyRef, true",
        "v1, Pod, spec.containers.env.valueFrom.fieldRef, true",
        "v1, Pod, spec.containers.env.valueFrom.resourceFieldRef, true",
        "v1, Pod, spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution, true",
        "v1, Pod, metadata.ownerReferences, true",
        "v1, PersistentVolumeClaim, spec.dataSource, true",
        "v1, PersistentVolume, spec.csi.nodePublishSecretRef, true",
        "v1, Event, involvedObject, true",
        "apps/v1, Deployment, spec.selector, true",
        "apps/v1, DaemonSet, spec.template.spec.nodeSelector, true",
        "policy/v1, PodDisruptionBudget, spec.selector, true",
        "node.k8s.io/v1, RuntimeClass, scheduling.nodeSelector, true",
        "networking.k8s.io/v1, NetworkPolicy, spec.podSelector, true",
        "rbac.authorization.k8s.io/v1, RoleBinding, roleRef, true",
        "v1, Pod, metadata.labels, false",
        "v1, Pod, spec.overhead, false",
        "v1, Pod, spec.containers.env.valueFrom, false",
        "v1, PersistentVolume, spec.claimRef, false",
        "v1, PersistentVolumeClaim, spec.dataSourceRef, false",
        "v1, ConfigMap, data, false"
    })
    void objectsAreOneValueAsInKubernetes(String apiVersion, String kind, String path, boolean atomic) {
        assertThat(at(apiVersion, kind, path).isAtomic()).isEqualTo(atomic);
    }

    @Test
    void patchReplacesTheSelectorOfADisruptionBudgetButMergesThatOfADeployment() {
        String live = "{\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"1\"}}}}";
        String patch = "{\"spec\":{\"selector\":{\"matchLabels\":{\"b\":\"2\"}}}}";
        assertThat(StrategicMergePatch.apply(
                        Json.parseObject(live),
                        Json.parseObject(patch),
                        KindSchemas.of("policy/v1", "PodDisruptionBudget")))
                .hasToString(patch);
        assertThat(StrategicMergePatch.apply(
                        Json.parseObject(live), Json.parseObject(patch), KindSchemas.of("apps/v1", "Deployment")))
                .hasToString("{\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"1\",\"b\":\"2\"}}}}");
    }
}
