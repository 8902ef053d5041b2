package io.nodekeeper.it.faults;

import io.grpc.StatusRuntimeException;
import io.nodekeeper.api.Condition;
import io.nodekeeper.cri.v1.ListPodSandboxRequest;
import io.nodekeeper.cri.v1.PodSandbox;
import io.nodekeeper.cri.v1.RemovePodSandboxRequest;
import io.nodekeeper.cri.v1.StopPodSandboxRequest;
import io.nodekeeper.it.ConditionLog;
import io.nodekeeper.it.Eventually;
import io.nodekeeper.it.Pods;
import io.nodekeeper.it.RealNode;
import io.nodekeeper.it.Running;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A node that serves one generated fault after another: containerd, three healthy pods, an agent. Used by one thread.
 */
final class Host implements AutoCloseable {
    private static final int PODS = 3;
    /** An observation ends once the agent has been right for a while, but not before: the fault must have had an effect. */
    private static final Duration AT_LEAST = Duration.ofSeconds(10);
    /** Silence is right only after the agent's patience of 8 s and two looks. */
    private static final Duration AT_LEAST_IF_QUIET = Duration.ofSeconds(15);

    private static final Duration RIGHT_FOR = Duration.ofSeconds(4);
    private static final Duration AT_MOST = Duration.ofSeconds(25);
    /** A probe of the pod network runs every 10 s and takes up to 20 s. */
    private static final Duration AT_MOST_WITH_PROBES = Duration.ofSeconds(40);
    /** A call that still waits then hangs. */
    private static final Duration HANGS = Duration.ofSeconds(9);

    /** So long an agent is looked at after its start. */
    private static final int RESTARTED_SECONDS = 60;

    private static final Duration LOOK = Duration.ofMillis(500);
    private static final Duration CLEAN = Duration.ofSeconds(60);
    private static final Duration DOCTOR = Duration.ofSeconds(90);
    private static final String DEGRADED = "RuntimeDegraded";
    private static final String NETWORK = "PodNetworkUnavailable";

    private final RealNode node;
    private final ConditionLog conditions;
    private final String[] flags;
    private final boolean restarts;
    private final List<Pods.RealPod> standing;

    /** Makes a node in {@code directory} and waits until it is Ready. */
    Host(Path directory, String name, Path kubeconfig, ConditionLog conditions, boolean probes, boolean restarts)
            throws Exception {
        this.conditions = conditions;
        this.restarts = restarts;
        flags = probes ? new String[] {"--network-probe-interval=10s"} : new String[0];
        node = new RealNode(Files.createDirectories(directory), name, kubeconfig, true, PODS);
        standing = List.copyOf(node.running());
        try {
            node.startAgent(flags);
            node.awaitReady(conditions);
        } catch (Exception | Error e) {
            node.close();
            throw e;
        }
    }

    /** Lets {@code fault} happen, looks what the agent says, and ends it. */
    FaultResult run(GeneratedFault fault) throws Exception {
        Census others = Census.of(node.containerd(), standing);
        long runtime = node.containerd().pid();
        Deque<Scene> scenes = new ArrayDeque<>();
        List<Struck> struck = new ArrayList<>();
        Optional<Bystanders> busy =
                fault.bystanders() ? Optional.of(new Bystanders(node.pods(), standing)) : Optional.empty();
        try {
            Stopwatch watch = new Stopwatch();
            long begin = 0;
            Map<Primitive, Scene> places = new LinkedHashMap<>();
            for (Primitive part : fault.parts()) {
                Scene scene = new Scene(node, fault.number() + (scenes.isEmpty() ? "a" : "b"));
                scenes.push(scene);
                places.put(part, scene);
                part.prepare(scene);
            }
            for (Primitive part : fault.inOrder()) {
                struck.add(part.strike(Objects.requireNonNull(places.get(part))));
                begin = System.nanoTime();
            }
            watch.lap("strike");
            Shortage shortage = Shortage.of(node.agent().pid());
            Judgement judgement =
                    new Judgement(struck.stream().map(Struck::truth).toList());
            boolean effect = observe(fault, judgement, scenes, struck, begin);
            double share = shortage.share();
            watch.lap("observe");
            Judgement.Verdict verdict = judgement.verdict();
            List<Named> named = judgement.last();
            List<String> harsh = judgement.harsh();
            Optional<Double> rightSince = judgement.rightSince();
            Optional<RestartStory> restart = restarts && fault.restart()
                    ? Optional.of(restart(fault, judgement.quiet(), scenes, struck))
                    : Optional.empty();
            watch.lap("restart");
            Optional<Boolean> healed = effect ? doctor(fault, struck) : Optional.empty();
            watch.lap("doctor");
            // Before the generator ends the fault: what is missing now did not survive the fault or the doctor.
            List<String> harm = new ArrayList<>(others.missing());
            if (!fault.endsVictims()) {
                scenes.forEach(scene -> scene.census().ifPresent(census -> harm.addAll(census.missing())));
            }
            if (!fault.endsRuntime() && ProcessHandle.of(runtime).isEmpty()) {
                harm.add("containerd (pid " + runtime + ")");
            }
            return new FaultResult(
                    fault,
                    struck.stream().map(Struck::truth).map(Truth::text).collect(Collectors.joining(" + ")),
                    effect,
                    share,
                    verdict,
                    rightSince,
                    named,
                    judgement.falselyCertain(),
                    harsh,
                    healed,
                    harm,
                    restart,
                    watch.toString());
        } finally {
            for (Struck one : struck) {
                one.heal();
            }
            busy.ifPresent(Bystanders::close);
            for (Scene scene : scenes) {
                scene.close();
            }
            clean(scenes, busy);
            if (fault.endsRuntime()) {
                forget();
            }
        }
    }

    /** A runtime that restarts again and again is named for 10 min: a new agent knows nothing of the restarts so far. */
    private void forget() throws Exception {
        node.agent().kill();
        long killed = System.nanoTime();
        node.startAgent(flags);
        Eventually.within(
                CLEAN,
                () -> conditions
                        .nowSince(killed, node.name(), DEGRADED)
                        .filter(condition -> condition.status().equals(Condition.FALSE))
                        .isPresent());
    }

    /** The node's log of what took how long. */
    private static final class Stopwatch {
        private final StringBuilder laps = new StringBuilder("spent:");
        private long last = System.nanoTime();

        void lap(String name) {
            long now = System.nanoTime();
            laps.append(String.format(Locale.ROOT, " %s %.1f s", name, (now - last) / 1e9));
            last = now;
        }

        @Override
        public String toString() {
            return laps.toString();
        }
    }

    /** Looks at what the agent names; whether each part of the fault really had an effect. */
    private boolean observe(
            GeneratedFault fault, Judgement judgement, Deque<Scene> scenes, List<Struck> struck, long begin)
            throws Exception {
        Duration least = judgement.quiet() ? AT_LEAST_IF_QUIET : AT_LEAST;
        Duration most = fault.needsProbes() ? AT_MOST_WITH_PROBES : AT_MOST;
        boolean effect = false;
        while (true) {
            Duration passed = Duration.ofNanos(System.nanoTime() - begin);
            double seconds = passed.toMillis() / 1e3;
            if (!effect && passed.compareTo(HANGS) >= 0) {
                effect = hasEffect(scenes, struck);
            }
            judgement.look(named(), seconds);
            boolean enough = passed.compareTo(least) >= 0
                    && judgement
                            .rightSince()
                            .filter(since -> seconds - since >= RIGHT_FOR.toSeconds())
                            .isPresent();
            if (enough || passed.compareTo(most) >= 0) {
                return effect;
            }
            Thread.sleep(LOOK.toMillis());
        }
    }

    private static boolean hasEffect(Deque<Scene> scenes, List<Struck> struck) throws Exception {
        for (Struck one : struck) {
            if (!one.lasts()) {
                return false;
            }
        }
        return scenes.stream().allMatch(scene -> !scene.hasCalls() || scene.waits());
    }

    /** The culprits at the agent's page, and after them what its probes of the pod network say. */
    private List<Named> named() {
        return named(conditions.now(node.name(), NETWORK));
    }

    /** The same with {@code network} as what the probes say. */
    private List<Named> named(Optional<Condition> network) {
        List<Named> named = new ArrayList<>();
        node.page()
                .runtime()
                .ifPresent(
                        page -> page.array("culprits").objects().map(Named::of).forEach(named::add));
        network.filter(condition -> condition.status().equals(Condition.TRUE))
                .ifPresent(condition -> named.add(new Named(
                        condition.reason(),
                        condition.message(),
                        "",
                        Optional.empty(),
                        Optional.empty(),
                        List.of(),
                        "")));
        return named;
    }

    /** Starts the agent again, and looks each second of the next 60 s what it says. */
    private RestartStory restart(GeneratedFault fault, boolean quiet, Deque<Scene> scenes, List<Struck> struck)
            throws Exception {
        // What the agent's own probes show is in a condition of its own.
        List<String> types = fault.needsProbes() ? List.of(NETWORK, DEGRADED) : List.of(DEGRADED);
        node.agent().kill();
        long killed = System.nanoTime();
        Optional<Instant> turned = conditions.now(node.name(), Condition.READY).flatMap(Condition::lastTransitionTime);
        node.startAgent(flags);
        List<RestartLook> looks = new ArrayList<>();
        Optional<Integer> ended = Optional.empty();
        for (int second = 1; second <= RESTARTED_SECONDS; second++) {
            Thread.sleep(Math.max(0, second * 1000L - (System.nanoTime() - killed) / 1_000_000));
            if (ended.isEmpty() && !quiet && !hasEffect(scenes, struck)) {
                ended = Optional.of(second);
            }
            Optional<Condition> ready = conditions.now(node.name(), Condition.READY);
            looks.add(RestartLook.of(
                    ready,
                    ready.filter(one -> one.status().equals(Condition.TRUE))
                            .filter(one -> !one.lastTransitionTime().equals(turned))
                            .isPresent(),
                    types.stream()
                            .map(type -> conditions.nowSince(killed, node.name(), type))
                            .toList(),
                    named(conditions.nowSince(killed, node.name(), NETWORK)),
                    struck.stream().map(Struck::truth).toList()));
        }
        return RestartStory.of(looks, quiet, ended);
    }

    /** Asks the doctor to end it; whether the cause is gone then. */
    private Optional<Boolean> doctor(GeneratedFault fault, List<Struck> struck) throws Exception {
        if (fault.healer() == GeneratedFault.Healer.GENERATOR
                || !Boolean.parseBoolean(System.getProperty("faults.doctor", "true"))) {
            return Optional.empty();
        }
        List<String> command = new ArrayList<>(List.of(
                "doctor", "--container-runtime-endpoint", node.containerd().endpoint(), "--fix", "--yes"));
        if (fault.healer() == GeneratedFault.Healer.DOCTOR_WITH_FORCE) {
            command.add("--force");
        }
        try (Running doctor = Running.startSmall(node.directory(), "doctor", command)) {
            doctor.awaitEnd(DOCTOR);
            Files.writeString(
                    node.directory().resolve("doctor-" + fault.number() + ".txt"), doctor.output() + doctor.log());
        }
        for (Struck one : struck) {
            if (one.lasts()) {
                return Optional.of(false);
            }
        }
        return Optional.of(true);
    }

    /** Waits until nothing hangs, removes what the fault made, and waits until the agent names no cause. */
    private void clean(Deque<Scene> scenes, Optional<Bystanders> busy) throws Exception {
        Eventually.within(
                CLEAN,
                () -> scenes.stream().noneMatch(Scene::waits)
                        && busy.filter(Bystanders::waits).isEmpty());
        Set<String> keep = standing.stream().map(Pods.RealPod::sandbox).collect(Collectors.toSet());
        Eventually.within(CLEAN, () -> {
            var stub = node.pods().stub(Duration.ofSeconds(20));
            List<PodSandbox> left =
                    stub.listPodSandbox(ListPodSandboxRequest.getDefaultInstance()).getItemsList().stream()
                            .filter(sandbox -> !keep.contains(sandbox.getId()))
                            .filter(sandbox -> sandbox.getMetadata().getName().matches("(victim|newcomer)-.*"))
                            .toList();
            for (PodSandbox sandbox : left) {
                try {
                    stub.stopPodSandbox(StopPodSandboxRequest.newBuilder()
                            .setPodSandboxId(sandbox.getId())
                            .build());
                    stub.removePodSandbox(RemovePodSandboxRequest.newBuilder()
                            .setPodSandboxId(sandbox.getId())
                            .build());
                } catch (StatusRuntimeException e) {
                    // A container of it is about to end; it is asked again.
                    Thread.sleep(500);
                }
            }
            return left.isEmpty();
        });
        try {
            Eventually.within(CLEAN, () -> node.page().runtime().isPresent() && named().isEmpty());
        } catch (AssertionError e) {
            throw new AssertionError("the agent still names " + named(), e);
        }
    }

    /** What the agent wrote. */
    String log() throws Exception {
        return node.agent().log();
    }

    @Override
    public void close() throws Exception {
        node.close();
    }
}
