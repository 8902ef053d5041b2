package io.nodekeeper.it;

import static io.nodekeeper.it.PodCluster.NODE;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.cri.v1.ContainerState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An agent that is killed again and again while pods come and go on a real containerd. Each container writes a line when it
 * starts, so a container that was started twice is found. {@code -Dchurn.kills=N} kills it N times, and
 * {@code -Dchurn.seed=N} repeats a run.
 */
@Tag("long")
class PodChurnIT {
    private static final int KILLS = Integer.getInteger("churn.kills", 4);
    private static final long SEED = Long.getLong("churn.seed", System.nanoTime());
    private static final Duration CONVERGED = Duration.ofMinutes(2);
    /** The longest time before the agent is killed, from its start or once it knows its pods. */
    private static final int LONGEST_LIFE_MS = 4_000;
    /** The most pods that live at once, without the one that is always there. */
    private static final int MOST = 12;
    /** A probe that was under way when the agent was killed writes its line until then. */
    private static final Duration PROBE_TIMEOUT = Duration.ofSeconds(3);
    /**
     * Between two probes while an agent works: the period, once more at random after a start, two timeouts, and a busy machine. Not
     * counted is the time in which a sleep of this process was late, too.
     */
    private static final Duration PROBED = Duration.ofSeconds(12);

    private static final Pattern SANDBOX_MADE =
            Pattern.compile("PodSandboxMetadata\\{Name:([^,]+),.* returns sandbox id \\W*([0-9a-f]{64})");
    private static final Pattern CONTAINER_MADE =
            Pattern.compile("within sandbox \\W*([0-9a-f]{64}).* returns container id \\W*([0-9a-f]{64})");
    private static final Pattern START_FAILED = Pattern.compile("StartContainer for \\W*([0-9a-f]{64})\\W* failed");

    private final Random random = new Random(SEED);
    /** The pods that shall run, and those that shall end by themselves. */
    private final Set<String> wanted = new TreeSet<>();
    /** All that ever were created. */
    private final List<String> created = new ArrayList<>();

    private final Set<String> deleted = new HashSet<>();
    /** When the agent was killed: ms since the machine's start. */
    private final List<Long> kills = new ArrayList<>();
    /** The times in which this process slept too long, so that the machine stood still, for an agent, too. */
    private final List<Overslept> overslept = new CopyOnWriteArrayList<>();

    private final Thread sleeper = new Thread(this::noteLateSleeps, "sleeper");

    @TempDir
    Path directory;

    @AutoClose
    private PodCluster cluster;

    private Kubectl kubectl;
    private PodLog pods;
    private RealNode node;
    private Path stories;
    private Path probes;

    /** A time in ms since the machine's start. */
    private record Overslept(long from, long to) {
        /** How much of it is between the two times. */
        private long within(long begin, long end) {
            return Math.max(0, Math.min(end, to) - Math.max(begin, from));
        }
    }

    @BeforeEach
    void start() throws Exception {
        stories = Files.createDirectory(directory.resolve("stories"));
        probes = stories.resolve("probes");
        cluster = new PodCluster(directory);
        kubectl = cluster.kubectl();
        pods = cluster.pods();
        node = cluster.addNode();
        cluster.startAgent("");
        sleeper.start();
    }

    @AfterEach
    void stop() {
        sleeper.interrupt();
    }

    private void noteLateSleeps() {
        try {
            while (true) {
                long from = uptime();
                if (FaultCase.oversleeps(Duration.ofMillis(500))) {
                    overslept.add(new Overslept(from, uptime()));
                }
            }
        } catch (InterruptedException | ClosedByInterruptException e) {
            // The test has ended.
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void anAgentThatIsKilledDuringChurnStartsNothingTwiceAndLosesNothing() throws Exception {
        System.out.println("seed " + SEED + ": " + KILLS + " kills");
        kubectl.apply(steady());
        Eventually.within(
                CONVERGED, () -> pods.isReady("steady") && probeTimes().size() > 1);
        String steady = pods.container("steady").text("containerID");

        for (int i = 0; i < KILLS; i++) {
            churn();
            if (random.nextInt(4) > 0) {
                // The others are killed while they start, however long that takes on this machine.
                Eventually.within(CONVERGED, () -> node.page().pods().containsKey("steady"));
            }
            Thread.sleep(random.nextInt(LONGEST_LIFE_MS));
            kills.add(uptime());
            node.agent().kill();
            nothingRunsTwice();
            cluster.startAgentAgain();
        }
        converged();

        assertThat(pods.container("steady").text("containerID")).isEqualTo(steady);
        assertThat(pods.container("steady").number("restartCount")).contains(0L);
        assertThat(starts("steady")).isEqualTo(1);
        List<String> cutOff = startsCutOff();
        wanted.stream()
                .filter(name -> !isJob(name) || !cutOff.contains(name))
                .forEach(name -> assertThat(starts(name)).as(name).isPositive());
        created.forEach(name -> assertThat(starts(name))
                .as("seed " + SEED + ": starts of " + name)
                .isLessThanOrEqualTo(1 + Collections.frequency(cutOff, name)));
        everyProbeCame();
    }

    /** Some pods come and some go. */
    private void churn() throws Exception {
        StringBuilder yaml = new StringBuilder();
        for (int i = random.nextInt(4); i >= 0 && wanted.size() < MOST; i--) {
            String name = "churn-" + created.size() + (random.nextInt(4) == 0 ? "-job" : "");
            created.add(name);
            wanted.add(name);
            yaml.append(pod(name)).append("---\n");
        }
        if (!yaml.isEmpty()) {
            kubectl.apply(yaml.toString());
        }
        List<String> end = new ArrayList<>();
        for (String name : List.copyOf(wanted)) {
            if (random.nextInt(4) == 0) {
                end.add(name);
            }
        }
        if (!end.isEmpty()) {
            wanted.removeAll(end);
            deleted.addAll(end);
            List<String> command = new ArrayList<>(List.of("delete", "pod", "--wait=false"));
            if (random.nextInt(3) == 0) {
                // The API forgets them at once; their containers are left for the agent to find.
                command.addAll(List.of("--force", "--grace-period=0"));
            }
            command.addAll(end);
            kubectl.ok(command.toArray(String[]::new));
        }
    }

    /** Within a while everything is as wanted, in the API, in the runtime and on the disk. */
    private void converged() throws Exception {
        try {
            Eventually.within(
                    CONVERGED,
                    () -> areDone()
                            && deleted.stream().allMatch(name -> pods.pod(name).isEmpty())
                            && sandboxes().equals(sandboxesWanted()));
        } catch (AssertionError e) {
            throw new AssertionError(
                    "seed " + SEED + ": wanted " + wanted + ", in the runtime " + sandboxes() + ", pods "
                            + kubectl.ok("get", "pods") + "\nagent: "
                            + node.agent().log() + "\nserver: "
                            + cluster.server().log(),
                    e);
        }
        nothingRunsTwice();
        Eventually.within(
                CONVERGED,
                () -> Leftovers.children(node.directory().resolve("agent/pods")).size() == wanted.size() + 1);
    }

    /** A pod that is never restarted fails if its only start was cut off, as on a kubelet. */
    private boolean areDone() throws Exception {
        List<String> failed = wanted.stream().filter(this::hasFailed).toList();
        return wanted.stream().allMatch(name -> failed.contains(name) || isDone(name))
                && (failed.isEmpty() || startsCutOff().containsAll(failed));
    }

    private boolean isDone(String name) {
        return isJob(name) ? pods.status(name).text("phase").equals("Succeeded") : pods.isReady(name);
    }

    private boolean hasFailed(String name) {
        return isJob(name) && pods.status(name).text("phase").equals("Failed");
    }

    private static boolean isJob(String name) {
        return name.endsWith("-job");
    }

    /** The sandboxes of pods that have ended by themselves stay, but do not run. */
    private Set<String> sandboxesWanted() {
        Set<String> names = new TreeSet<>(wanted);
        names.add("steady");
        return names;
    }

    private Set<String> sandboxes() {
        Set<String> names = new TreeSet<>();
        node.pods()
                .sandboxes()
                .forEach(sandbox -> names.add(sandbox.getMetadata().getName()));
        return names;
    }

    /** No two containers of one pod and name run or wait for their start. */
    private void nothingRunsTwice() {
        Map<String, String> alive = new TreeMap<>();
        node.pods().containers().stream()
                .filter(container -> container.getState() == ContainerState.CONTAINER_RUNNING)
                .forEach(container -> assertThat(alive.put(
                                container.getLabelsOrThrow("io.kubernetes.pod.uid") + "/"
                                        + container.getMetadata().getName(),
                                container.getId()))
                        .as("seed " + SEED + ": another container beside " + container.getId())
                        .isNull());
    }

    private int starts(String name) {
        try {
            Path story = stories.resolve(name);
            return Files.exists(story) ? Files.readAllLines(story).size() : 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * The pods of the starts that failed in the runtime because their caller was killed meanwhile: containerd ends such a
     * container, which may have begun by then, and the next agent starts another.
     */
    private List<String> startsCutOff() throws Exception {
        Map<String, String> sandboxes = new HashMap<>();
        Map<String, String> containers = new HashMap<>();
        List<String> cutOff = new ArrayList<>();
        for (String line : node.containerd().log().lines().toList()) {
            Matcher sandbox = SANDBOX_MADE.matcher(line);
            Matcher container = CONTAINER_MADE.matcher(line);
            Matcher failed = START_FAILED.matcher(line);
            if (sandbox.find()) {
                sandboxes.put(sandbox.group(2), sandbox.group(1));
            } else if (container.find()) {
                containers.put(container.group(2), sandboxes.getOrDefault(container.group(1), "?"));
            } else if (failed.find()) {
                cutOff.add(containers.getOrDefault(failed.group(1), "?"));
            }
        }
        return cutOff;
    }

    /** While an agent works, the steady pod is probed; a kill delays probes until the next agent works. */
    private void everyProbeCame() throws Exception {
        List<Long> times = probeTimes();
        List<Long> gaps = new ArrayList<>();
        for (int i = 1; i < times.size(); i++) {
            long from = times.get(i - 1);
            long to = times.get(i);
            boolean killed = kills.stream().anyMatch(kill -> kill >= from - PROBE_TIMEOUT.toMillis() && kill <= to);
            if (!killed) {
                long late = overslept.stream()
                        .mapToLong(time -> time.within(from, to))
                        .sum();
                assertThat(Duration.ofMillis(to - from - late))
                        .as("seed " + SEED + ": no probe from " + from + " to " + to + ", overslept " + late + " ms")
                        .isLessThan(PROBED);
            }
            gaps.add(to - from);
        }
        gaps.sort(null);
        System.out.println(KILLS + " kills, " + created.size() + " pods created, " + deleted.size() + " deleted, "
                + startsCutOff().size() + " starts cut off, " + times.size() + " probes: longest pauses "
                + gaps.subList(Math.max(0, gaps.size() - 5), gaps.size())
                + " ms");
    }

    /** When the steady pod was probed: ms since the machine's start. */
    private List<Long> probeTimes() throws Exception {
        if (!Files.exists(probes)) {
            return List.of();
        }
        try (Stream<String> lines = Files.lines(probes)) {
            return lines.map(PodChurnIT::millis).toList();
        }
    }

    private static long uptime() throws IOException {
        return millis(Files.readString(Path.of("/proc/uptime")));
    }

    private static long millis(String uptime) {
        return Math.round(Double.parseDouble(uptime.split(" ")[0]) * 1_000);
    }

    private String steady() {
        return spec(
                        "steady",
                        "Always",
                        "echo start >> /stories/steady; trap 'exit 0' TERM; while true; do sleep 0.5; done")
                + "    livenessProbe: {exec: {command: [/bin/sh, -c, 'read up rest < /proc/uptime; echo $up $rest >> /stories/probes']}, periodSeconds: 1, timeoutSeconds: "
                + PROBE_TIMEOUT.toSeconds() + ", failureThreshold: 10}\n";
    }

    private String pod(String name) {
        boolean job = isJob(name);
        return spec(
                name,
                job ? "Never" : "Always",
                "echo start >> /stories/" + name + "; "
                        + (job ? "exit 0" : "trap 'exit 0' TERM; while true; do sleep 0.5; done"));
    }

    private String spec(String name, String restart, String script) {
        return """
                apiVersion: v1
                kind: Pod
                metadata: {name: %s}
                spec:
                  nodeName: %s
                  restartPolicy: %s
                  automountServiceAccountToken: false
                  terminationGracePeriodSeconds: 2
                  volumes: [{name: stories, hostPath: {path: %s}}]
                  containers:
                  - name: main
                    image: %s
                    command: [/bin/sh, -c, "%s"]
                    volumeMounts: [{name: stories, mountPath: /stories}]
                """.formatted(name, NODE, restart, stories, BusyboxImages.BUSYBOX, script);
    }
}
