package io.nodekeeper.it;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An API server, the real kubectl, and one node whose agent runs pods on a real containerd. A test makes the server, then the
 * node, then it starts the agent. Closing it ends all of them, the newest first. Used by one thread.
 */
final class PodCluster implements AutoCloseable {
    /** The name of the node. */
    static final String NODE = "runner";

    private final Parts parts = new Parts();
    private final Path directory;
    private final Path data;
    private final int port;
    private final List<String> serverCommand;
    private final Kubectl kubectl;
    private final ConditionLog conditions;
    private final PodLog pods;
    private Running server;
    private @Nullable RealNode node;
    private String[] agentFlags = {};

    /** Starts the API server, with more flags, and waits until it is ready; everything has its files in {@code directory}. */
    PodCluster(Path directory, String... serverFlags) throws Exception {
        this.directory = directory;
        data = directory.resolve("data");
        try {
            port = AgentPage.freePort();
            serverCommand = new ArrayList<>(List.of("apiserver", "--data-dir=" + data, "--secure-port=" + port));
            serverCommand.addAll(List.of(serverFlags));
            server = startServer();
            kubectl = new Kubectl(directory, kubeconfig());
            conditions = opened(new ConditionLog(kubeconfig()));
            pods = opened(new PodLog(kubeconfig()));
        } catch (Exception | Error e) {
            try (parts) {
                throw e;
            }
        }
    }

    /** The kubeconfig of the administrator. */
    Path kubeconfig() {
        return data.resolve("admin.kubeconfig");
    }

    /** The certificate of the authority that has signed the clients' certificates. */
    Path authority() {
        return data.resolve("pki/ca.crt");
    }

    /** The directory of the logs of pods. */
    Path logs() {
        return directory.resolve("logs");
    }

    Running server() {
        return server;
    }

    /** A kubectl of the administrator. */
    Kubectl kubectl() {
        return kubectl;
    }

    ConditionLog conditions() {
        return conditions;
    }

    PodLog pods() {
        return pods;
    }

    /** Adds a part, which is closed before the earlier ones. */
    <T extends AutoCloseable> T opened(T part) {
        return parts.opened(part);
    }

    /** Starts the server again, at the same address and with the same data, after it was killed. */
    void restartServer() throws Exception {
        server = startServer();
    }

    private Running startServer() throws Exception {
        Running started = opened(Running.startSmall(directory, "apiserver", serverCommand));
        started.awaitReady();
        return started;
    }

    /** Makes the node; its agent will have all rights. */
    RealNode addNode() throws Exception {
        return addNode(kubeconfig(), false);
    }

    /** As {@link #addNode()}, in a machine of its own, where systemd makes the cgroups. */
    RealNode addNodeIn(SystemdMachine machine) throws Exception {
        Path place = Files.createDirectory(directory.toRealPath().resolve(NODE));
        RealNode made = opened(new RealNode(place, NODE, kubeconfig(), machine));
        node = made;
        return made;
    }

    /** As {@link #addNode()}, with the container runtime on a small disk of its own. */
    RealNode addNodeWithDisk() throws Exception {
        return addNode(kubeconfig(), true);
    }

    /** As {@link #addNode()}; its agent will have the rights of a node only. */
    RealNode addNodeWithOwnRights() throws Exception {
        Path identity = directory.resolve("node.kubeconfig");
        List<String> command = List.of(
                "certs",
                "--data-dir=" + data,
                "--node=" + NODE,
                "--server=https://127.0.0.1:" + port,
                "--out=" + identity);
        try (Running certs = Running.startSmall(directory, "certs", command)) {
            if (certs.awaitEnd() != 0) {
                throw new AssertionError("no credentials of the node: " + certs.log());
            }
        }
        return addNode(identity, false);
    }

    private RealNode addNode(Path identity, boolean ownDisk) throws Exception {
        // The kernel shows the paths of mounts without links.
        Path place = Files.createDirectory(directory.toRealPath().resolve(NODE));
        RealNode made = opened(new RealNode(place, NODE, identity, ownDisk, 0));
        node = made;
        return made;
    }

    /** Starts the agent with {@link #kubeletConfig} and more flags, and waits until the node is Ready. */
    void startAgent(String yaml, String... flags) throws Exception {
        List<String> all =
                new ArrayList<>(List.of("--config", kubeletConfig(yaml).toString()));
        all.addAll(List.of(flags));
        agentFlags = all.toArray(String[]::new);
        startAgentAgain();
        node().awaitReady(conditions);
    }

    /** Starts the agent as it was started last; does not wait for anything. */
    void startAgentAgain() throws Exception {
        node().startAgent(agentFlags);
    }

    /** Waits until the pod is Ready; fails as {@link #await}. */
    void awaitReady(Duration limit, String pod) throws Exception {
        await(limit, pod, "Ready", () -> pods.isReady(pod));
    }

    /** Waits until the pod is {@code what}; fails after {@code limit}, with what the API, the events and the agent say about it. */
    void await(Duration limit, String pod, String what, Eventually.Condition condition) throws Exception {
        try {
            Eventually.within(limit, condition);
        } catch (AssertionError e) {
            throw new AssertionError(
                    pod + " is not " + what + ": " + pods.status(pod) + "\n"
                            + kubectl.run("get", "events").out() + "\nagent: "
                            + node().agent().log(),
                    e);
        }
    }

    private RealNode node() {
        return requireNonNull(node, "no node was added");
    }

    /** Writes the configuration of a kubelet that runs pods, with these further lines. */
    Path kubeletConfig(String yaml) throws IOException {
        return Files.writeString(directory.resolve("kubelet.yaml"), """
                apiVersion: kubelet.config.k8s.io/v1beta1
                kind: KubeletConfiguration
                podLogsDir: %s
                featureGates: {PodLifecycle: true}
                """.formatted(logs()) + yaml);
    }

    @Override
    public void close() throws Exception {
        parts.close();
    }
}
