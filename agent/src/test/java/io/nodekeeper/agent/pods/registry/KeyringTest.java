package io.nodekeeper.agent.pods.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.cri.config.RegistryCredentials;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which credentials are for an image, and where they are read from. */
class KeyringTest {
    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({
        "reg.example.com, reg.example.com/app:1, true",
        "https://reg.example.com/v1/, reg.example.com/team/app@sha256:0a, true",
        "reg.example.com/team, reg.example.com/team/app, true",
        "reg.example.com/team, reg.example.com/other/app, false",
        "reg.example.com, reg.example.com:5000/app, false",
        "reg.example.com:5000, reg.example.com:5000/app:1, true",
        "*.example.com, reg.example.com/app, true",
        "*.example.com, a.reg.example.com/app, false",
        "r?g.example.com, reg.example.com/app, true",
        "https://index.docker.io/v1/, busybox, true",
        "https://index.docker.io/v1/, team/app:1, true",
        "https://index.docker.io/v1/, reg.example.com/app, false",
        "docker.io/team, team/app:1, true",
        "docker.io/team, busybox:1, false",
        "*a*b*.example.com, xxaxxbxx.example.com/app, true",
        "*a*b.example.com, xxaxxbxx.example.com/app, false",
        "*?.example.com, .example.com/app, false",
        "**.example.com, .example.com/app, true"
    })
    void shouldMatchRegistriesAsAKubeletDoes(String place, String image, boolean matches) {
        Keyring keyring = new Keyring(
                DockerConfig.ofJson("{\"auths\": {\"" + place + "\": {\"username\": \"u\", \"password\": \"p\"}}}"));

        assertThat(keyring.of(image).size()).isEqualTo(matches ? 1 : 0);
    }

    /** Who may create a pod and a secret decides about both. */
    @Test
    void shouldTakeNoTimeForAPatternWithManyStars() {
        Keyring keyring = new Keyring(DockerConfig.ofJson("{\"auths\": {\"" + "*a".repeat(60)
                + "*b.example.com\": {\"username\": \"u\", \"password\": \"p\"}}}"));

        assertTimeoutPreemptively(
                Duration.ofSeconds(10),
                () -> assertThat(keyring.of("a".repeat(3_000) + ".example.com/x"))
                        .isEmpty());
    }

    @Test
    void shouldFindNothingForANameThatIsLongerThanAnyImages() {
        Keyring keyring = new Keyring(
                DockerConfig.ofJson("{\"auths\": {\"docker.io\": {\"username\": \"u\", \"password\": \"p\"}}}"));

        assertThat(keyring.of("index.docker.io/".repeat(10_000) + "x")).isEmpty();
    }

    @Test
    void shouldPutTheMoreExactPlaceFirst() {
        Keyring keyring = new Keyring(DockerConfig.ofJson("""
                {"auths": {"reg.example.com": {"username": "all", "password": "p"},
                           "reg.example.com/team": {"username": "team", "password": "p"}}}
                """));

        assertThat(keyring.of("reg.example.com/team/app").stream().map(RegistryCredentials::username))
                .containsExactly("team", "all");
    }

    @Test
    void shouldReadBothTypesOfSecrets() {
        String auth = base64("ann:a:b");
        JsonObject json = secret(
                "kubernetes.io/dockerconfigjson",
                ".dockerconfigjson",
                "{\"auths\": {\"reg.example.com\": {\"auth\": \"" + auth + "\"}}}");
        JsonObject old =
                secret("kubernetes.io/dockercfg", ".dockercfg", "{\"reg.example.com\": {\"auth\": \"" + auth + "\"}}");

        for (JsonObject secret : List.of(json, old)) {
            assertThat(DockerConfig.ofSecret(secret))
                    .containsExactly(new DockerConfig.Entry(
                            "reg.example.com", new RegistryCredentials("ann", "a:b", "", "", "")));
        }
        assertThat(DockerConfig.ofSecret(secret("Opaque", ".dockercfg", "{}"))).isEmpty();
    }

    @Test
    void shouldRefuseWhatIsNoConfigurationWithoutShowingIt() {
        assertThatThrownBy(() -> DockerConfig.ofSecret(
                        secret("kubernetes.io/dockercfg", ".dockercfg", "{\"password\": hunter2")))
                .hasMessage("expected a Docker client's configuration as a JSON object");
        assertThat(new RegistryCredentials("ann", "hunter2", "", "", "reg").toString())
                .doesNotContain("hunter2");
    }

    @Test
    void shouldReadTheNodesOwnFromTheFirstFileThatIsOne() throws IOException {
        Path home = directory.resolve("home");
        Files.createDirectories(home.resolve(".docker"));
        Files.writeString(directory.resolve("config.json"), "no json");
        Files.writeString(
                home.resolve(".docker/config.json"),
                "{\"auths\": {\"reg.example.com\": {\"username\": \"node\", \"password\": \"p\"}}}");

        List<DockerConfig.Entry> found = new NodeCredentials(directory, home).read();

        assertThat(found).hasSize(1);
        assertThat(found.getFirst().credentials().username()).isEqualTo("node");
    }

    private static JsonObject secret(String type, String key, String content) {
        return Json.parseObject(
                "{\"type\": \"" + type + "\", \"data\": {\"" + key + "\": \"" + base64(content) + "\"}}");
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }
}
