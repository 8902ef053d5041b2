package io.nodekeeper.agent.pods.sources;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.agent.pods.model.Pod;
import java.nio.charset.StandardCharsets;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a manifest becomes. */
class ManifestTest {
    private static final String WEB = """
            apiVersion: v1
            kind: Pod
            metadata: {name: web, labels: {app: web}}
            spec:
              tolerations: [{key: a, operator: Exists}]
              containers: [{name: app, image: "app:1"}]
            """;

    private static Pod read(String node, String place, String text) throws Manifest.Fault {
        return new Manifest(node, "file", place).pod(text.getBytes(StandardCharsets.UTF_8));
    }

    private static Pod read(String text) throws Manifest.Fault {
        return read("N1", "/etc/web.yaml", text);
    }

    @Test
    @Tag("A107")
    void shouldGetNameNamespaceNodeTolerationAndHash() throws Manifest.Fault {
        Pod pod = read(WEB);

        assertThat(pod.fullName()).isEqualTo("default/web-n1");
        assertThat(pod.labels()).containsEntry("app", "web");
        assertThat(pod.uid()).matches("[0-9a-f]{32}");
        assertThat(pod.annotations())
                .containsEntry("kubernetes.io/config.hash", pod.uid())
                .containsEntry("kubernetes.io/config.source", "file");
        assertThat(pod.spec().text("nodeName")).isEqualTo("N1");
        assertThat(pod.spec().array("tolerations").toString())
                .isEqualTo("[{\"key\":\"a\",\"operator\":\"Exists\"},"
                        + "{\"operator\":\"Exists\",\"effect\":\"NoExecute\"}]");
    }

    @Test
    void shouldHaveAnotherUidForAnotherPodNodeOrPlaceOnly() throws Manifest.Fault {
        String uid = read(WEB).uid();

        assertThat(read("# a comment\n" + WEB).uid()).isEqualTo(uid);
        assertThat(read(WEB.replace("app:1", "app:2")).uid()).isNotEqualTo(uid);
        assertThat(read("n2", "/etc/web.yaml", WEB).uid()).isNotEqualTo(uid);
        assertThat(read("N1", "/etc/other.yaml", WEB).uid()).isNotEqualTo(uid);
        assertThat(read(WEB.replace("{name: web", "{uid: own, name: web")).uid())
                .isEqualTo("own");
    }

    @Test
    void shouldReadJsonAndListsOfPods() throws Manifest.Fault {
        String json = """
                {"apiVersion": "v1", "kind": "PodList", "items": [
                  {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
                  {"metadata": {"name": "b"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}]}""";

        List<Pod> pods = new Manifest("n1", "http", "http://here/").pods(json.getBytes(StandardCharsets.UTF_8));

        assertThat(pods).extracting(Pod::name).containsExactly("a-n1", "b-n1");
        assertThat(pods.getFirst().annotations()).containsEntry("kubernetes.io/config.source", "http");
    }

    @Test
    void shouldNameAllFaultsAtOnce() {
        assertThatThrownBy(() -> read("""
                        apiVersion: v1
                        kind: Pod
                        metadata: {name: ../up, namespace: "a/b", uid: "../../root"}
                        spec:
                          volumes: [{name: ".."}]
                          containers: [{name: app}, {name: app, image: i}]
                        """))
                .isInstanceOf(Manifest.Fault.class)
                .hasMessageContaining("metadata.name: ")
                .hasMessageContaining("metadata.namespace: ")
                .hasMessageContaining("metadata.uid: expected letters, digits and '-', got \"../../root\"")
                .hasMessageContaining("spec.volumes[..].name: ")
                .hasMessageContaining("the name \"app\" occurs twice")
                .hasMessageContaining("container \"app\": image is missing");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''                                            | expected a mapping",
                "[]                                            | expected a mapping",
                "{kind: Pod}                                   | expected apiVersion v1 and kind Pod, got \"\" and \"Pod\"",
                "{apiVersion: v1, kind: Service}               | got \"v1\" and \"Service\"",
                "{apiVersion: v1, kind: Pod, kind: Pod}        | kind",
                "{apiVersion: v1, kind: Pod                    | line 1",
                "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {}} | a pod needs a container",
                "{apiVersion: v1, kind: Pod, spec: {containers: [{name: a, image: i}]}} | metadata.name: is missing",
                "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: i, ports: [{hostPort: 80, protocol: tcp}]}]}} | container \"a\": ports: protocol: expected TCP, UDP or SCTP, got \"tcp\""
            })
    void shouldSayWhatIsWrong(String text, String message) {
        assertThatThrownBy(() -> read(text)).isInstanceOf(Manifest.Fault.class).hasMessageContaining(message);
    }

    @Property(tries = 2_000)
    void shouldRefuseWhateverIsNoPod(@ForAll @Size(max = 200) byte[] bytes) {
        assertThatThrownBy(() -> new Manifest("n1", "file", "/f").pods(bytes)).isInstanceOf(Manifest.Fault.class);
    }

    @Test
    void shouldRefuseWhatNestsTooDeep() {
        assertThatThrownBy(() -> read("[".repeat(100_000))).isInstanceOf(Manifest.Fault.class);
        assertThatThrownBy(
                        () -> read(
                                "a: &a [x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
                                        + "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]"))
                .isInstanceOf(Manifest.Fault.class);
    }
}
