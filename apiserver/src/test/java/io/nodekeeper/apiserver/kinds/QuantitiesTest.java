package io.nodekeeper.apiserver.kinds;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.yaml.Yaml;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.fields.ObjectFields;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Quantities are stored and shown in Kubernetes' canonical form, in all kinds. */
class QuantitiesTest {
    private static final String PODS = "/api/v1/namespaces/default/pods";

    private final TestServer server = new TestServer();

    private static String pod(String memory) {
        return "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":"
                + "{\"requests\":{\"memory\":" + memory + "}}}]}}";
    }

    private static String memory(Answer answer) {
        assertThat(answer.status()).as(answer.text()).isLessThan(300);
        JsonObject container = answer.json()
                .object("spec")
                .array("containers")
                .objects()
                .findFirst()
                .orElseThrow();
        return container.object("resources").object("requests").text("memory");
    }

    @ParameterizedTest
    @CsvSource({
        "'\"1000m\"', 1",
        "'\"1024Mi\"', 1Gi",
        "'\"0.5\"', 500m",
        "'\"1.5Gi\"', 1536Mi",
        "'\"1000\"', 1k",
        "'1000', 1k",
        "'\"1024\"', 1024",
        "'\"1e3\"', 1e3",
        "'\"0Mi\"', 0",
        "'\"+1\"', 1",
        "'\"0.1Gi\"', 107374182400m",
        "'\"1Ki\"', 1Ki",
        "'\"512Ki\"', 512Ki",
        "'\"100Mi\"', 100Mi",
    })
    void amountIsServedInItsCanonicalForm(String given, String shown) {
        assertThat(memory(server.post(PODS, pod(given)))).isEqualTo(shown);
        assertThat(memory(server.get(PODS + "/p"))).isEqualTo(shown);
    }

    @Test
    void equalAmountInAnotherFormIsNoChange() {
        Answer created = server.post(PODS, pod("\"1Gi\""));
        JsonObject other = created.json()
                .update(
                        "spec",
                        spec -> ObjectFields.each(
                                spec,
                                "containers",
                                container -> container.update(
                                        "resources",
                                        resources ->
                                                resources.update("requests", all -> all.with("memory", "1024Mi")))));
        Answer updated = server.put(PODS + "/p", other.toString());
        assertThat(updated.status()).as(updated.text()).isEqualTo(200);
        assertThat(updated.version()).isEqualTo(created.version());
    }

    @Test
    void capacityIsCanonicalAfterPatchAndApply() {
        server.node("n1");
        Answer patched = server.patch(
                TestServer.STRATEGIC,
                "/api/v1/nodes/n1/status",
                "{\"status\":{\"capacity\":{\"memory\":\"2048Ki\",\"cpu\":\"2000m\"}}}");
        assertThat(patched.json().object("status").object("capacity"))
                .hasToString("{\"memory\":\"2Mi\",\"cpu\":\"2\"}");
        Answer applied = server.patch(
                Yaml.APPLY_MEDIA_TYPE,
                "/api/v1/nodes/n1/status?fieldManager=m&force=true",
                "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\"},\"status\":{\"capacity\":{\"cpu\":\"3000m\"}}}");
        assertThat(applied.json().object("status").object("capacity").text("cpu"))
                .isEqualTo("3");
    }

    /** An earlier version stored pods as they were sent; such a pod can still be updated. */
    @Test
    void podStoredInAnotherFormCanBeUpdated() {
        Answer created = server.post(PODS, pod("\"1Gi\""));
        String key = Resources.PODS.key("default", "p");
        var entry = server.store.get(key).orElseThrow();
        byte[] old = new String(entry.value(), StandardCharsets.UTF_8)
                .replace("\"1Gi\"", "\"1024Mi\"")
                .getBytes(StandardCharsets.UTF_8);
        server.store.put(key, old, entry.modRevision());
        server.settle();
        Answer patched = server.patch(TestServer.MERGE, PODS + "/p", "{\"spec\":{\"activeDeadlineSeconds\":10}}");
        assertThat(patched.status()).as(patched.text()).isEqualTo(200);
        assertThat(memory(patched)).isEqualTo("1Gi");
        assertThat(created.status()).isEqualTo(201);
    }
}
