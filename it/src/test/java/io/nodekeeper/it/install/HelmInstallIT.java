package io.nodekeeper.it.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.marcnuri.helm.Helm;
import com.marcnuri.helm.Release;
import io.nodekeeper.it.Command;
import io.nodekeeper.it.Eventually;
import io.nodekeeper.it.Running;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * Observer and companion as the real Helm installs, upgrades and removes them on Nodekeeper's own API server, which stores
 * workloads but makes no pods of them. {@link HelmChartIT} compares the objects of other values.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HelmInstallIT {
    private static final String ACCOUNT = "--as=system:serviceaccount:nodekeeper:nodekeeper-companion";
    private static final String OBSERVER = "--as=system:serviceaccount:kube-system:nodekeeper-observer";

    @TempDir
    static Path directory;

    private Running server;
    private Path admin;
    private Path chart;

    @BeforeAll
    void start() throws Exception {
        Path data = directory.resolve("data");
        server = Running.startSmall(
                directory,
                "server",
                List.of("apiserver", "--data-dir", data.toString(), "--secure-port", "0", "--store", "memory"));
        chart = directory.resolve("chart.tgz");
        Command.ok(Repository.root().resolve("scripts/chart").toString(), chart.toString());
        server.awaitReady();
        admin = data.resolve("admin.kubeconfig");
    }

    @AfterAll
    void stop() throws IOException {
        server.close();
        forgetDiscovery();
    }

    @Test
    void oneCommandInstallsObserverAndCompanionAndOneRemovesAllOfThem() throws Exception {
        // When it is installed
        Release installed = new Helm(chart)
                .install()
                .withName("nodekeeper")
                .withNamespace("kube-system")
                .withKubeConfig(admin)
                .set("companion.enabled", "true")
                .call();

        // Then there is an observer with its rights
        assertThat(kubectl("get", "deployment", "-n", "kube-system", "-o", "jsonpath={..containers[*].args[*]}"))
                .endsWith(" --mode=observe");
        assertThat(kubectl("get", "networkpolicies,services", "-n", "kube-system", "-o", "name"))
                .contains("networkpolicy.networking.k8s.io/nodekeeper-controller\n")
                .contains("service/nodekeeper-controller\n");
        assertThat(rights(OBSERVER)).contains("leases.coordination.k8s.io").doesNotContain("patch", "update");

        // And the companion has the rights of its role and no other
        assertThat(installed.getStatus()).isEqualTo("deployed");
        assertThat(installed.getOutput())
                .contains("kubectl -n nodekeeper rollout status daemonset/nodekeeper-companion");
        assertThat(kubectl("get", "daemonset", "-n", "nodekeeper", "-o", "jsonpath={..containers[*].image}"))
                .isEqualTo("nodekeeper:" + Repository.version());
        assertThat(kubectl("auth", "can-i", "patch", "nodes", "--subresource=status", ACCOUNT))
                .endsWith("yes\n");
        assertThat(rights(ACCOUNT))
                .contains("nodes/status")
                .doesNotContain("nodes/metrics")
                .doesNotContain("pods");

        // When a second release would own the same objects, Then Helm refuses
        assertThatThrownBy(() -> new Helm(chart)
                        .install()
                        .withName("another")
                        .withNamespace("kube-system")
                        .withKubeConfig(admin)
                        .set("controller.enabled", "false")
                        .set("companion.enabled", "true")
                        .call())
                .hasMessageContaining("cannot be imported into the current release");

        // When an upgrade adds a part and makes a guard of the observer, Then their rights are added and the rest stays
        Release upgraded = new Helm(chart)
                .upgrade()
                .withName("nodekeeper")
                .withNamespace("kube-system")
                .withKubeConfig(admin)
                .reuseValues()
                .set("companion.kubeletMetrics", "true")
                .set("controller.mode", "guard")
                .call();
        assertThat(upgraded.getRevision()).isEqualTo("2");
        assertThat(rights(ACCOUNT)).contains("nodes/status").contains("nodes/metrics");
        assertThat(rights(OBSERVER)).doesNotContain("leases.coordination.k8s.io");
        assertThat(kubectl("get", "validatingwebhookconfigurations,poddisruptionbudgets", "-A", "-o", "name"))
                .isEqualTo("validatingwebhookconfiguration.admissionregistration.k8s.io/nodekeeper-guard\n"
                        + "poddisruptionbudget.policy/nodekeeper-controller\n");
        assertThat(kubectl("get", "deployment", "-n", "kube-system", "-o", "jsonpath={..spec.replicas}"))
                .isEqualTo("2");

        // When it is removed, Then nothing stays
        Helm.uninstall("nodekeeper")
                .withNamespace("kube-system")
                .withKubeConfig(admin)
                .call();
        Eventually.within(
                Duration.ofSeconds(60),
                () -> !kubectl(
                                "get",
                                "namespaces,clusterroles,clusterrolebindings,priorityclasses,daemonsets,deployments,"
                                        + "services,networkpolicies,poddisruptionbudgets,serviceaccounts,secrets,"
                                        + "validatingwebhookconfigurations",
                                "-A",
                                "-o",
                                "name")
                        .lines()
                        .anyMatch(name -> name.matches(".*/nodekeeper(-.*)?|secret/.*helm.*")));
    }

    private String rights(String account) throws Exception {
        return kubectl("auth", "can-i", "--list", "-n", "default", account);
    }

    private String kubectl(String... arguments) throws Exception {
        String[] start = {
            "kubectl",
            "--kubeconfig",
            admin.toString(),
            "--cache-dir",
            directory.resolve("cache").toString()
        };
        return Command.ok(Stream.concat(Stream.of(start), Stream.of(arguments)).toArray(String[]::new));
    }

    /** Deletes what Helm keeps of this server in the user's home. */
    private void forgetDiscovery() throws IOException {
        String kubeconfig = Files.readString(admin);
        String host = kubeconfig
                .replaceAll("(?s).*server: \"?https://([0-9.]+:[0-9]+).*", "$1")
                .replace(':', '_');
        assertThat(host).matches("[0-9.]+_[0-9]+");
        Path kept = Path.of(System.getProperty("user.home"), ".kube/cache/discovery", host);
        if (Files.isDirectory(kept)) {
            try (Stream<Path> files = Files.walk(kept)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }
}
