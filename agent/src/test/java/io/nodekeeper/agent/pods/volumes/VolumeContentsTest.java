package io.nodekeeper.agent.pods.volumes;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.pods.cgroups.PodParent;
import io.nodekeeper.agent.pods.containers.DownwardFields;
import io.nodekeeper.agent.pods.containers.NodeSettings;
import io.nodekeeper.agent.pods.containers.Seccomp;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which files volumes from the API have. */
class VolumeContentsTest {
    private static final NodeSettings NODE = new NodeSettings(
            "n1",
            List.of(),
            JsonObject.EMPTY,
            Json.parseObject("{\"cpu\": \"4\", \"memory\": \"3Gi\"}"),
            Path.of("/logs"),
            List.of(),
            "",
            PodParent.NONE,
            Seccomp.of(Path.of("/root"), false));
    private static final VolumeNeed.ConfigMap SETTINGS = new VolumeNeed.ConfigMap("settings");
    private static final JsonObject MAP =
            Json.parseObject("{\"data\": {\"a\": \"1\", \"b\": \"2\"}, \"binaryData\": {\"c\": \"Mw==\"}}");

    @Test
    void shouldHaveAFileForEachKeyOfAConfigMap() {
        assertThat(files("\"configMap\": {\"name\": \"settings\", \"defaultMode\": 256}", Map.of(SETTINGS, MAP)))
                .isEqualTo(Map.of("a", "1 400", "b", "2 400", "c", "3 400"));
    }

    @Test
    void shouldHaveOnlyTheItemsAtTheirPathsWithTheirModes() {
        assertThat(files("""
                        "configMap": {"name": "settings",
                         "items": [{"key": "a", "path": "dir/./x"}, {"key": "b", "path": "y", "mode": 448}]}
                        """, Map.of(SETTINGS, MAP))).isEqualTo(Map.of("dir/x", "1 644", "y", "2 700"));
    }

    @Test
    void shouldDecodeSecretsAndNeverShowThem() {
        JsonObject secret = Json.parseObject("{\"data\": {\"key\": \"c2VjcmV0\"}}");
        VolumeObjects objects = new VolumeObjects(Map.of(new VolumeNeed.Secret("keys"), secret), Map.of());

        VolumeContents.Result result = of("\"secret\": {\"secretName\": \"keys\"}", objects);

        assertThat(texts(result)).isEqualTo(Map.of("key", "secret 644"));
        assertThat(result.toString() + objects).doesNotContain("secret ", "c2VjcmV0");
    }

    @Test
    void shouldNameWhatIsMissingAsAKubeletDoes() {
        assertThat(error("\"configMap\": {\"name\": \"settings\"}", Map.of()))
                .isEqualTo("MountVolume.SetUp failed for volume \"v\" : configmap \"settings\" not found");
        assertThat(error("\"secret\": {\"secretName\": \"keys\"}", Map.of()))
                .isEqualTo("MountVolume.SetUp failed for volume \"v\" : secret \"keys\" not found");
        assertThat(error("""
                        "configMap": {"name": "settings", "items": [{"key": "z", "path": "z"}]}
                        """, Map.of(SETTINGS, MAP)))
                .isEqualTo("MountVolume.SetUp failed for volume \"v\" :"
                        + " configmap references non-existent config key: z");
    }

    @Test
    void shouldBeEmptyWhereWhatIsMissingIsOptional() {
        assertThat(files("\"configMap\": {\"name\": \"settings\", \"optional\": true}", Map.of()))
                .isEmpty();
        assertThat(files("""
                        "configMap": {"name": "settings", "optional": true,
                                      "items": [{"key": "z", "path": "z"}, {"key": "a", "path": "a"}]}
                        """, Map.of(SETTINGS, MAP))).isEqualTo(Map.of("a", "1 644"));
    }

    @Test
    void shouldNotLetTheErrorOfOneVolumeConcernAnother() {
        Pod pod = pod("""
                {"name": "v", "configMap": {"name": "none"}}, {"name": "w", "configMap": {"name": "settings"}}""");

        VolumeContents.Result result =
                VolumeContents.of(pod, new VolumeObjects(Map.of(SETTINGS, MAP), Map.of()), fields(pod));

        assertThat(result.files()).containsOnlyKeys("w");
        assertThat(result.errors()).hasSize(1);
    }

    @Test
    void shouldTellWhyAnObjectCannotBeRead() {
        VolumeObjects objects = new VolumeObjects(Map.of(), Map.of(SETTINGS, "no answer within 10s"));

        assertThat(of("\"configMap\": {\"name\": \"settings\", \"optional\": true}", objects)
                        .errors()
                        .getFirst())
                .hasMessage("MountVolume.SetUp failed for volume \"v\" : no answer within 10s");
    }

    @Test
    void shouldShowFieldsOfThePod() {
        assertThat(files("""
                        "downwardAPI": {"items": [
                          {"path": "name", "fieldRef": {"fieldPath": "metadata.name"}},
                          {"path": "uid", "fieldRef": {"fieldPath": "metadata.uid"}, "mode": 256},
                          {"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}},
                          {"path": "app", "fieldRef": {"fieldPath": "metadata.labels['app']"}},
                          {"path": "cpu", "resourceFieldRef":
                            {"containerName": "app", "resource": "limits.cpu", "divisor": "1m"}},
                          {"path": "memory", "resourceFieldRef":
                            {"containerName": "app", "resource": "limits.memory", "divisor": "1Mi"}}]}
                        """, Map.of()))
                .isEqualTo(Map.of(
                        "name", "web 644",
                        "uid", "u1 400",
                        "labels", "app=\"front\"\ntier=\"a\" 644",
                        "app", "front 644",
                        "cpu", "1500 644",
                        "memory", "3072 644"));
    }

    @Test
    void shouldCombineTheSourcesOfTheUsualTokenVolume() {
        JsonObject token = Json.parseObject("{\"status\": {\"token\": \"t.o.k\"}}");
        JsonObject root = Json.parseObject("{\"data\": {\"ca.crt\": \"pem\"}}");

        assertThat(files(
                        """
                        "projected": {"defaultMode": 420, "sources": [
                          {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                          {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
                          {"downwardAPI": {"items": [
                            {"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]}}]}
                        """,
                        Map.of(
                                new VolumeNeed.Token("", 3_607),
                                token,
                                new VolumeNeed.ConfigMap("kube-root-ca.crt"),
                                root)))
                .isEqualTo(Map.of("token", "t.o.k 644", "ca.crt", "pem 644", "namespace", "shop 644"));
    }

    @Test
    void shouldGiveATokenToTheOneUserOfThePod() {
        JsonObject one = pod("""
                        {"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}""")
                .json()
                .update("spec", spec -> spec.with("securityContext", Json.parseObject("{\"runAsUser\": 7}")));
        FileContent file = token(new Pod(one));
        assertThat(file.mode()).isEqualTo(0600);
        assertThat(file.user()).hasValue(7);

        // Init containers need it, too.
        FileContent shared = token(new Pod(one.update(
                "spec",
                spec -> spec.with(
                        "initContainers",
                        Json.parse("[{\"name\": \"i\", \"securityContext\": {\"runAsUser\": 8}}]")))));
        assertThat(shared.mode()).isEqualTo(0644);
        assertThat(shared.user()).isEmpty();
    }

    private static FileContent token(Pod pod) {
        JsonObject token = Json.parseObject("{\"status\": {\"token\": \"t.o.k\"}}");

        VolumeContents.Result result = VolumeContents.of(
                pod, new VolumeObjects(Map.of(new VolumeNeed.Token("", 3_600), token), Map.of()), fields(pod));
        return requireNonNull(requireNonNull(result.files().get("v")).get("token"));
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '~',
            value = {
                "../x, must not contain '..': ../x",
                "a/../../x, must not contain '..': a/../../x",
                "/etc/x, must be relative path: /etc/x",
                "..data, must not start with '..': ..data",
                "., must not start with '..': .",
                "b/c, is both a file and a directory: b/c"
            })
    void shouldRefuseAPathThatLeadsOutOfItsVolume(String path, String message) {
        assertThat(error("""
                        "configMap": {"name": "settings", "items": [
                          {"key": "a", "path": "b"}, {"key": "a", "path": "%s"}]}
                        """.formatted(path), Map.of(SETTINGS, MAP)))
                .isEqualTo("MountVolume.SetUp failed for volume \"v\" : invalid path: " + message);
    }

    @Test
    void shouldRefuseAnObjectThatIsLargerThanTheApiAllows() {
        JsonObject large = JsonObject.builder()
                .put(
                        "data",
                        JsonObject.builder().put("a", "x".repeat((1 << 20) + 1)).build())
                .build();

        assertThat(error("\"configMap\": {\"name\": \"settings\"}", Map.of(SETTINGS, large)))
                .isEqualTo("MountVolume.SetUp failed for volume \"v\" :"
                        + " configmap \"settings\" has 1048577 bytes; expected at most 1048576");
    }

    /** A volume of {@code items} files in {@code directory} that all have the same content. */
    private static String copies(String name, int items, String directory) {
        return IntStream.range(0, items)
                .mapToObj(i -> "{\"key\": \"a\", \"path\": \"" + directory + i + "\"}")
                .collect(Collectors.joining(
                        ",",
                        "{\"name\": \"" + name + "\", \"configMap\": {\"name\": \"settings\", \"items\": [",
                        "]}}"));
    }

    private static VolumeContents.Result mapped(String volumes, String value) {
        JsonObject map = JsonObject.EMPTY.with("data", JsonObject.EMPTY.with("a", value));
        Pod pod = pod(volumes);
        return VolumeContents.of(pod, new VolumeObjects(Map.of(SETTINGS, map), Map.of()), fields(pod));
    }

    /** Volumes are in memory that counts as the agent's, or on the node's disk. */
    @Test
    void shouldRefuseVolumesOfAPodThatTakeTooMuchTogether() {
        String volumes =
                IntStream.range(0, 5).mapToObj(i -> copies("v" + i, 15, "")).collect(Collectors.joining(","));

        VolumeContents.Result result = mapped(volumes, "x".repeat(1 << 20));

        assertThat(result.files()).containsOnlyKeys("v0", "v1", "v2", "v3");
        assertThat(result.errors())
                .extracting(Throwable::getMessage)
                .containsExactly(
                        "MountVolume.SetUp failed for volume \"v4\" : the pod's volumes with objects and fields of"
                                + " the API take more than 67108864 bytes, which is the limit");
    }

    @Test
    void shouldRefuseAVolumeThatTakesTooMuch() {
        assertThat(mapped(copies("v", 15, ""), "x".repeat(1 << 20)).errors()).isEmpty();
        assertThat(mapped(copies("v", 16, ""), "x".repeat(1 << 20)).errors())
                .extracting(Throwable::getMessage)
                .containsExactly("MountVolume.SetUp failed for volume \"v\" :"
                        + " it takes more than 16777216 bytes, which is the limit");
    }

    /** Each takes memory or a block, also if it is empty. */
    @Test
    void shouldCountDirectoriesAndEmptyFiles() {
        assertThat(mapped(copies("v", 4_096, ""), "").errors()).isEmpty();
        assertThat(mapped(copies("v", 4_097, ""), "").errors()).hasSize(1);
        assertThat(mapped(copies("v", 20, "d/".repeat(200)), "").errors()).isEmpty();
        assertThat(mapped(copies("v", 21, "d/".repeat(200)), "").errors()).hasSize(1);
    }

    /** A pod may name one object or field in thousands of places. */
    @Test
    void shouldHoldTheBytesOfAnObjectOrFieldOnce() {
        Pod pod = pod("""
                {"name": "v", "configMap": {"name": "settings"}},
                {"name": "w", "projected": {"sources": [
                  {"configMap": {"name": "settings", "items": [{"key": "a", "path": "x"}, {"key": "a", "path": "y"}]}},
                  {"downwardAPI": {"items": [{"path": "l", "fieldRef": {"fieldPath": "metadata.labels"}}]}}]}},
                {"name": "z", "downwardAPI": {"items": [{"path": "l", "fieldRef": {"fieldPath": "metadata.labels"}}]}}
                """);

        VolumeContents.Result result =
                VolumeContents.of(pod, new VolumeObjects(Map.of(SETTINGS, MAP), Map.of()), fields(pod));

        assertThat(bytes(result, "w", "x")).isSameAs(bytes(result, "w", "y")).isSameAs(bytes(result, "v", "a"));
        assertThat(bytes(result, "w", "l")).isSameAs(bytes(result, "z", "l"));
    }

    private static byte[] bytes(VolumeContents.Result result, String volume, String path) {
        return requireNonNull(requireNonNull(result.files().get(volume)).get(path))
                .bytes();
    }

    private static Map<String, String> files(String volume, Map<VolumeNeed, JsonObject> found) {
        VolumeContents.Result result = of(volume, new VolumeObjects(found, Map.of()));
        assertThat(result.errors()).isEmpty();
        return texts(result);
    }

    private static String error(String volume, Map<VolumeNeed, JsonObject> found) {
        return String.valueOf(of(volume, new VolumeObjects(found, Map.of()))
                .errors()
                .getFirst()
                .getMessage());
    }

    private static VolumeContents.Result of(String volume, VolumeObjects objects) {
        Pod pod = pod("{\"name\": \"v\", " + volume + "}");
        return VolumeContents.of(pod, objects, fields(pod));
    }

    private static Map<String, String> texts(VolumeContents.Result result) {
        Map<String, String> texts = new TreeMap<>();
        SortedMap<String, FileContent> files = requireNonNull(result.files().get("v"));
        files.forEach((path, file) -> texts.put(path, file.text() + " " + Integer.toOctalString(file.mode())));
        return texts;
    }

    private static DownwardFields fields(Pod pod) {
        return new DownwardFields(pod, NODE, List.of());
    }

    private static Pod pod(String volumes) {
        return new Pod(Json.parseObject("""
                {"metadata": {"name": "web", "namespace": "shop", "uid": "u1", "labels": {"tier": "a", "app": "front"}},
                 "spec": {"containers": [{"name": "app", "resources": {"limits": {"cpu": "1500m"}}}], "volumes": [%s]}}
                """.formatted(volumes)));
    }
}
