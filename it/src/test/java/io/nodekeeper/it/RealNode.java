package io.nodekeeper.it;

import io.nodekeeper.api.Condition;
import io.nodekeeper.cri.CriRelay;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * One node of a cluster: its own containerd with a few pods, and an agent that can be killed and restarted.
 * Used by one thread.
 */
public final class RealNode implements AutoCloseable {
    /** Within this time an agent on a busy machine is Ready. */
    private static final Duration READY = Duration.ofSeconds(60);

    private final Parts parts = new Parts();
    private final List<CompletableFuture<?>> underway = new CopyOnWriteArrayList<>();
    private final String name;
    private final Path directory;
    private final Path kubeconfig;
    private final Containerd containerd;
    private final Pods pods;
    private final List<Pods.RealPod> running;
    private final int apiPort;
    private final Optional<SystemdMachine> machine;
    private final Map<String, String> environment = new HashMap<>();

    private String endpoint;
    private boolean byScript;
    private @Nullable CriRelay relay;
    private @Nullable LoopDisk volume;
    private @Nullable Running agent;
    private @Nullable AgentPage page;

    /**
     * Makes a machine without an agent.
     *
     * @param ownDisk whether containerd is on a disk of its own, which can be frozen
     */
    public RealNode(Path directory, String name, Path kubeconfig, boolean ownDisk, int count) throws Exception {
        this(directory, name, kubeconfig, ownDisk, count, Optional.empty());
    }

    /** The same, with containerd and agent in {@code machine}. */
    RealNode(Path directory, String name, Path kubeconfig, SystemdMachine machine) throws Exception {
        this(directory, name, kubeconfig, false, 0, Optional.of(machine));
    }

    private RealNode(
            Path directory, String name, Path kubeconfig, boolean ownDisk, int count, Optional<SystemdMachine> machine)
            throws Exception {
        this.machine = machine;
        this.directory = directory;
        this.name = name;
        this.kubeconfig = kubeconfig;
        try {
            apiPort = AgentPage.freePort();
            Path place = directory.resolve("containerd");
            containerd = opened(
                    machine.isPresent() ? Containerd.startIn(machine.get(), place) : Containerd.start(place, ownDisk));
            endpoint = containerd.endpoint();
            pods = opened(new Pods(containerd));
            running = new ArrayList<>(pods.runMany("pod", count));
        } catch (Exception | Error e) {
            try (parts) {
                throw e;
            }
        }
    }

    public String name() {
        return name;
    }

    public Path directory() {
        return directory;
    }

    public Containerd containerd() {
        return containerd;
    }

    public Pods pods() {
        return pods;
    }

    /** The pods that were there from the beginning; faults of a single pod affect the first one. */
    public List<Pods.RealPod> running() {
        return running;
    }

    Pods.RealPod victim() {
        return running.getFirst();
    }

    /** One more pod, hit in the place of the first one. */
    void victim(Pods.RealPod pod) {
        running.addFirst(pod);
    }

    /** Adds a part to the node, which is closed with it, before the earlier parts. */
    public <T extends AutoCloseable> T opened(T part) {
        return parts.opened(part);
    }

    /** From now on a relay is on the way of every agent that is started. */
    void relayed() throws Exception {
        Path socket = directory.resolve("relay.sock");
        relay = opened(new CriRelay(socket, containerd.socket()));
        endpoint = "unix://" + socket;
    }

    /** The relay between agent and containerd. */
    CriRelay relay() {
        return Objects.requireNonNull(relay, "the agent is not relayed");
    }

    /** A disk that is mounted in a container. */
    void volume(LoopDisk disk) {
        volume = disk;
    }

    LoopDisk volume() {
        return Objects.requireNonNull(volume, "no volume was made");
    }

    /** Registers an operation that may hang. */
    void begun(CompletableFuture<?> what) {
        underway.add(what);
    }

    /** How many registered operations have not ended. */
    long waiting() {
        return underway.stream().filter(what -> !what.isDone()).count();
    }

    /** A variable of the environment of each agent that is started from now on. */
    void variable(String variable, String value) {
        environment.put(variable, value);
    }

    /** Of the node's API, which every agent of this node serves if it runs pods. */
    int apiPort() {
        return apiPort;
    }

    /** Starts the agent, for the first time or after it was killed; does not wait for anything. */
    public void startAgent(String... flags) throws Exception {
        Files.createDirectories(directory.resolve("agent"));
        int port = AgentPage.freePort();
        List<String> command = new ArrayList<>(List.of(
                "agent",
                "--kubeconfig",
                kubeconfig.toString(),
                "--node-name",
                name,
                "--root-dir",
                directory.resolve("agent").toString(),
                "--healthz-port=" + port,
                "--container-runtime-endpoint=" + endpoint));
        boolean companion = List.of(flags).contains("--mode=companion");
        if (!companion) {
            command.add("--port=" + apiPort);
        }
        if (machine.isEmpty() && !companion) {
            // Several nodes on one machine must not share the cgroup of all pods.
            command.add("--cgroup-root=" + containerd.cgroup());
        }
        command.addAll(List.of(flags));
        agent = opened(process(command));
        page = new AgentPage(port);
    }

    private Running process(List<String> command) throws IOException {
        if (machine.isPresent()) {
            return Running.startIn(machine.get(), directory, "agent", command);
        }
        return byScript
                ? Running.byScript(directory, "agent", command.toArray(String[]::new))
                : Running.startSmall(directory, "agent", command, environment);
    }

    /** Agents are started as users start them: where it matters how small a process is. */
    void startsByScript() {
        byScript = true;
    }

    public Running agent() {
        return Objects.requireNonNull(agent, "the agent was not started");
    }

    /** The agent's pages. */
    public AgentPage page() {
        return Objects.requireNonNull(page, "the agent was not started");
    }

    /** Waits until the node is Ready and the agent knows all pods. */
    public void awaitReady(ConditionLog conditions) throws Exception {
        try {
            Eventually.within(READY, () -> conditions.is(name, Condition.READY, Condition.TRUE) && knowsAllPods());
        } catch (AssertionError e) {
            throw new AssertionError(
                    name + " is not Ready with all its pods: " + conditions.now(name, Condition.READY) + ", "
                            + page().pods() + "; log: " + agent().log(),
                    e);
        }
    }

    private boolean knowsAllPods() {
        Map<String, AgentPage.PodKnowledge> known = page().pods();
        return running.stream().allMatch(pod -> known.containsKey(pod.name()));
    }

    @Override
    public void close() throws Exception {
        // A killed agent leaves the volumes of pods mounted, also of one that was deleted a moment before.
        try (AutoCloseable _ = () -> new Leftovers(directory, name).unmount(directory)) {
            parts.close();
        }
    }
}
