package io.nodekeeper.client.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.TestCertificates;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KubeconfigTest {
    @TempDir
    static Path directory;

    private static Identity identity;

    @BeforeAll
    static void makeIdentity() throws Exception {
        identity = TestCertificates.make("CN=alice", "dns:alice");
    }

    @Test
    void readsEmbeddedCredentials() throws IOException {
        String certificate = base64(Pem.encode(identity.certificate()));
        Path file = write("""
                apiVersion: v1
                kind: Config
                current-context: c
                contexts: [{name: c, context: {cluster: k, user: u}}]
                clusters:
                - name: k
                  cluster: {server: "https://10.0.0.1:6443", certificate-authority-data: %s, tls-server-name: kubernetes}
                users:
                - name: u
                  user:
                    client-certificate-data: %s
                    client-key-data: %s
                """.formatted(certificate, certificate, base64(Pem.encode(identity.key()))));

        ServerAccess access = Kubeconfig.load(file);

        assertThat(access.server()).isEqualTo(URI.create("https://10.0.0.1:6443"));
        assertThat(access.authorities()).containsExactly(identity.certificate());
        assertThat(access.tlsServerName()).isEqualTo("kubernetes");
        assertThat(access.identity()).contains(identity);
        assertThat(access.identityFiles()).isEmpty();
        assertThat(access).hasToString("https://10.0.0.1:6443 as CN=alice");
    }

    @Test
    void readsFilesBesideIt() throws IOException {
        Files.writeString(directory.resolve("a.crt"), Pem.encode(identity.certificate()));
        Files.writeString(directory.resolve("a.key"), Pem.encode(identity.key()));
        Path file = write("""
                current-context: c
                contexts: [{name: c, context: {cluster: k, user: u}}]
                clusters: [{name: k, cluster: {server: "https://host", certificate-authority: a.crt}}]
                users: [{name: u, user: {client-certificate: a.crt, client-key: a.key}}]
                """);

        ServerAccess access = Kubeconfig.load(file);

        assertThat(access.authorities()).containsExactly(identity.certificate());
        assertThat(access.identity()).contains(identity);
        assertThat(access.identityFiles())
                .contains(new IdentityFiles(directory.resolve("a.crt"), directory.resolve("a.key")));
    }

    @Test
    void readsTokensAndOtherContexts() throws IOException {
        Path file = write("""
                current-context: first
                contexts:
                - {name: first, context: {cluster: missing}}
                - {name: second, context: {cluster: k, user: u}}
                clusters: [{name: k, cluster: {server: "https://host/prefix", insecure-skip-tls-verify: true}}]
                users: [{name: u, user: {token: 12345}}]
                """);

        ServerAccess access = Kubeconfig.load(file, "second");

        assertThat(access.token()).isEqualTo("12345");
        assertThat(access.skipVerify()).isTrue();
        assertThat(access.server()).hasPath("/prefix");
        assertThat(access.toString()).isEqualTo("https://host/prefix as token");
    }

    @Test
    void severalFilesCountAsOneOfWhichTheFirstWins() throws IOException {
        // given a file with a context alone, and two that have its cluster and its user; paths are beside the user's
        // file
        Path contexts = Files.writeString(directory.resolve("contexts"), """
                contexts: [{name: c, context: {cluster: k, user: u}}]
                """);
        Path clusters = Files.writeString(directory.resolve("clusters"), """
                current-context: c
                clusters: [{name: k, cluster: {server: "https://first"}}]
                """);
        Path team = Files.createDirectories(directory.resolve("team"));
        Files.writeString(team.resolve("a.crt"), Pem.encode(identity.certificate()));
        Files.writeString(team.resolve("a.key"), Pem.encode(identity.key()));
        Path users = Files.writeString(team.resolve("users"), """
                current-context: other
                contexts: [{name: c, context: {cluster: missing}}]
                clusters: [{name: k, cluster: {server: "https://second", insecure-skip-tls-verify: true}}]
                users: [{name: u, user: {client-certificate: a.crt, client-key: a.key}}]
                """);

        // when
        ServerAccess access = Kubeconfig.load(List.of(contexts, clusters, users), "");

        // then nothing of a later entry with the same name is used
        assertThat(access.server()).isEqualTo(URI.create("https://first"));
        assertThat(access.skipVerify()).isFalse();
        assertThat(access.identityFiles()).contains(new IdentityFiles(team.resolve("a.crt"), team.resolve("a.key")));
    }

    @Test
    void everyBrokenFileOfSeveralIsNamed() throws IOException {
        Path broken = Files.writeString(directory.resolve("broken"), "current-context: [");
        Path list = Files.writeString(directory.resolve("list"), "[]");
        Path good = write("""
                current-context: c
                contexts: [{name: c, context: {cluster: k}}]
                clusters: [{name: k, cluster: {server: "https://host"}}]
                """);

        assertThatThrownBy(() -> Kubeconfig.load(List.of(broken, list, good), ""))
                .isInstanceOf(KubeconfigException.class)
                .hasMessageStartingWith(
                        "kubeconfig " + broken + ":" + list + ":" + good + ": " + broken + ": not YAML: ")
                .hasMessageEndingWith(
                        "; " + list + ": expected a kubeconfig (a YAML mapping with clusters, users and contexts)");
    }

    @Test
    void tokenWithoutItsClosingQuoteIsNotShown() throws IOException {
        Path file = write("""
                current-context: c
                contexts: [{name: c, context: {cluster: k, user: u}}]
                clusters: [{name: k, cluster: {server: "https://host"}}]
                users:
                - name: u
                  user:
                    token: "token-of-alice
                """);

        assertThatThrownBy(() -> Kubeconfig.load(file))
                .isInstanceOf(KubeconfigException.class)
                .hasMessageStartingWith("kubeconfig " + file + ": not YAML: ")
                .hasMessageContainingAll("(line ", ", column ")
                .hasMessageNotContaining("token-of-alice");
    }

    @Test
    void emptyFileHasNoEntries() throws IOException {
        Path empty = Files.writeString(directory.resolve("empty"), "");
        Path good = write("""
                current-context: c
                contexts: [{name: c, context: {cluster: k}}]
                clusters: [{name: k, cluster: {server: "https://host"}}]
                """);

        assertThat(Kubeconfig.load(List.of(empty, good), "").server()).isEqualTo(URI.create("https://host"));
        assertThatThrownBy(() -> Kubeconfig.load(empty))
                .hasMessageEndingWith("current-context is not set; expected the name of a context");
    }

    @Test
    void listsEveryFaultInOneMessage() throws IOException {
        Path file = write("""
                current-context: c
                contexts: [{name: c, context: {cluster: k, user: u}}]
                clusters: [{name: k, cluster: {server: "10.0.0.1:6443", certificate-authority: nowhere.crt}}]
                users: [{name: u, user: {client-certificate-data: bm90IFBFTQ==, exec: {command: aws}, tokenFile: no}}]
                """);

        assertThatThrownBy(() -> Kubeconfig.load(file))
                .isInstanceOf(KubeconfigException.class)
                .hasMessage("kubeconfig " + file
                        + ": cluster \"k\": server is \"10.0.0.1:6443\"; expected a form like https://10.0.0.1:6443"
                        + "; cluster \"k\": certificate-authority " + directory.resolve("nowhere.crt")
                        + " cannot be read"
                        + "; user \"u\": tokenFile " + directory.resolve("no") + " cannot be read"
                        + "; user \"u\": client-certificate and client-key must be given together"
                        + "; user \"u\": exec.apiVersion is \"\"; expected client.authentication.k8s.io/v1 or"
                        + " client.authentication.k8s.io/v1beta1"
                        + "; user \"u\": exec.interactiveMode is \"\"; expected Never, IfAvailable or Always");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://user:secret@host:6443",
                "https://user@host",
                "user:secret@host",
                "https://a:sec ret@host"
            })
    void refusesCredentialsInTheAddressAndDoesNotShowThem(String server) throws IOException {
        Path file = write("""
                current-context: c
                contexts: [{name: c, context: {cluster: k}}]
                clusters: [{name: k, cluster: {server: "%s"}}]
                """.formatted(server));

        assertThatThrownBy(() -> Kubeconfig.load(file))
                .isInstanceOf(KubeconfigException.class)
                .hasMessage("kubeconfig " + file
                        + ": cluster \"k\": server has a user or a password; expected a form like https://10.0.0.1:6443,"
                        + " and the credentials in the section users");
    }

    @Test
    void readsCredentialPlugins() throws IOException {
        Path file = write("""
                current-context: c
                contexts: [{name: c, context: {cluster: k, user: u}}]
                clusters: [{name: k, cluster: {server: "https://host", insecure-skip-tls-verify: true}}]
                users:
                - name: u
                  user:
                    exec:
                      apiVersion: client.authentication.k8s.io/v1
                      command: bin/login
                      args: [get-token, 7]
                      env: [{name: PROFILE, value: blue}]
                      installHint: |
                        Install it.
                      provideClusterInfo: true
                      interactiveMode: Never
                """);

        ServerAccess access = Kubeconfig.load(file);

        String program = directory.resolve("bin/login").toString();
        assertThat(access.plugin())
                .contains(new ExecPlugin(
                        "client.authentication.k8s.io/v1",
                        List.of(program, "get-token", "7"),
                        Map.of("PROFILE", "blue"),
                        ExecPlugin.Interaction.Never,
                        "Install it.",
                        Json.parseObject("{\"server\":\"https://host\",\"insecure-skip-tls-verify\":true}")));
        assertThat(access).hasToString("https://host as the credential plugin \"" + program + "\"");
    }

    @Test
    void earlierVersionOfPluginsMayOmitTheInteractiveMode() throws IOException {
        Path file = write("""
                current-context: c
                contexts: [{name: c, context: {cluster: k, user: u}}]
                clusters: [{name: k, cluster: {server: "https://host"}}]
                users:
                - {name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: aws}}}
                """);

        ExecPlugin plugin = Kubeconfig.load(file).plugin().orElseThrow();

        assertThat(plugin.command()).as("searched in PATH").containsExactly("aws");
        assertThat(plugin.interaction()).isEqualTo(ExecPlugin.Interaction.IfAvailable);
        assertThat(plugin.cluster()).isEqualTo(JsonObject.EMPTY);
    }

    @Test
    void namesTheContextsThatThereAre() throws IOException {
        Path file = write("current-context: gone\ncontexts: [{name: a}, {name: b}]\n");

        assertThatThrownBy(() -> Kubeconfig.load(file))
                .hasMessage("kubeconfig " + file + ": no context is named \"gone\"; there is a, b");
    }

    @Test
    void saysWhatIsNoKubeconfigAtAll() throws IOException {
        Path missing = directory.resolve("missing");
        Path list = write("- a\n- b\n");
        Path broken = Files.writeString(directory.resolve("broken"), "a: [b");

        assertThatThrownBy(() -> Kubeconfig.load(missing))
                .hasMessage("kubeconfig " + missing + ": there is no such file");
        assertThatThrownBy(() -> Kubeconfig.load(list))
                .hasMessage("kubeconfig " + list
                        + ": expected a kubeconfig (a YAML mapping with clusters, users and contexts)");
        assertThatThrownBy(() -> Kubeconfig.load(broken)).hasMessageStartingWith("kubeconfig " + broken + ": not YAML");
    }

    @Test
    void readsInClusterCredentials() throws IOException {
        Path secrets = Files.createDirectories(directory.resolve("secrets"));
        Files.writeString(secrets.resolve("token"), "t");
        Files.writeString(secrets.resolve("ca.crt"), Pem.encode(identity.certificate()));
        Map<String, String> environment =
                Map.of("KUBERNETES_SERVICE_HOST", "fd00::1", "KUBERNETES_SERVICE_PORT", "443");

        ServerAccess access = InCluster.load(environment, secrets);

        assertThat(InCluster.isPresent(environment)).isTrue();
        assertThat(access.server()).isEqualTo(URI.create("https://[fd00::1]:443"));
        assertThat(access.tokenFile()).contains(secrets.resolve("token"));
        assertThat(access.authorities()).containsExactly(identity.certificate());
    }

    @Test
    void saysWhatAPodLacks() {
        Path nowhere = directory.resolve("nowhere");

        assertThatThrownBy(() -> InCluster.load(Map.of(), nowhere))
                .hasMessage("in-cluster credentials: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set;"
                        + " this process does not run in a pod; " + nowhere.resolve("token") + " cannot be read; "
                        + nowhere.resolve("ca.crt") + " cannot be read");
    }

    private static Path write(String text) throws IOException {
        return Files.writeString(directory.resolve("kubeconfig"), text);
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.US_ASCII));
    }
}
