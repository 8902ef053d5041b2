package io.nodekeeper.agent.culprit;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.diagnosis.ContainerIndex;
import io.nodekeeper.agent.culprit.load.Work;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.cri.Container;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.PodSandbox;
import io.nodekeeper.time.Randoms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Virtual time on a healthy node that is busy in changing ways. Two pods stay and eight more come and go, and 12
 * commands stand for 200: fewer than on a large node, but each scan shows some that no list has, and some that have just
 * ended.
 */
class BusyHourTest {
    /** What the node does; each lasts one to ten minutes. */
    private enum Load {
        /** Calls take milliseconds. */
        CALM,
        /** Many commands in containers at once: all wait for a processor. */
        EXECS,
        /** The runtime unpacks images. */
        PULLS,
        /** The machine's disk is slow: scans take long or fail, but no call does. */
        SLOW_SCANS,
        /** The runtime's cgroup has 2 % of a processor. */
        QUOTA
    }

    private static final int PODS = 8;

    private final WatchedNode node = new WatchedNode(1);
    private final WorkMeter meter = new WorkMeter(node.loop);
    private final List<String> untrue = new ArrayList<>();
    private Load load = Load.CALM;
    private Load previous = Load.CALM;
    private Duration changed = Duration.ZERO;
    private int newest;
    private Duration stalledUntil = Duration.ZERO;
    private long periods;
    private long throttled;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void healthyNodeIsNeverAccusedInABusyHour(long seed) {
        run(seed, Duration.ofHours(1));

        assertThat(untrue).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void callThatHangsInABusyHourIsNamed(long seed) {
        RandomGenerator random = Randoms.seeded(seed);
        node.loop.schedule(
                Duration.ofSeconds(600 + random.nextLong(1_800)),
                () -> node.runtime.hang("ContainerStats:" + ProcessFixtures.WEB_APP));

        run(seed, Duration.ofHours(1));

        assertThat(node.found()).contains("ContainerCallHung");
    }

    private void run(long seed, Duration duration) {
        RandomGenerator random = Randoms.seeded(seed);
        node.processes = () -> processes(random);
        node.workload = this::workload;
        node.delay = call -> Optional.of(latency(random));
        node.scanTakes = () -> load != Load.SLOW_SCANS
                ? Optional.of(Duration.ofMillis(random.nextLong(100)))
                : random.nextInt(10) == 0 ? Optional.empty() : Optional.of(Duration.ofMillis(random.nextLong(2_500)));
        change(random);
        churn(0);
        node.watch.start();
        for (long second = 0; second < duration.toSeconds(); second += 10) {
            int before = node.heard.size();
            node.time.advance(Duration.ofSeconds(10));
            node.heard.subList(before, node.heard.size()).stream()
                    .filter(line -> line.contains(" found "))
                    .filter(line -> !isTrue(line.substring(line.lastIndexOf(' ') + 1)))
                    .forEach(line -> untrue.add(load + " " + line));
        }
    }

    /** Whether a statement about load is true now, or was until a minute ago, when calls of then may still be open. */
    private boolean isTrue(String reason) {
        Load cause = switch (reason) {
            case "RuntimeThrottled" -> Load.QUOTA;
            case "RuntimeBusy" -> Load.PULLS;
            case "NodeOverloaded" -> Load.EXECS;
            default -> Load.CALM;
        };
        // With a quota, threads wait for a processor, too: the runtime is overloaded until its cgroup's counter is
        // read.
        List<Load> causes = reason.equals("NodeOverloaded") ? List.of(cause, Load.QUOTA) : List.of(cause);
        return cause != Load.CALM
                && (causes.contains(load)
                        || causes.contains(previous)
                                && node.time.elapsed().minus(changed).compareTo(Duration.ofMinutes(1)) < 0);
    }

    private void change(RandomGenerator random) {
        Duration answered = stalledUntil.plusSeconds(1).minus(node.time.elapsed());
        if (answered.isPositive()) {
            // What waits for an answer gets it under the load that delays it.
            node.loop.schedule(answered, () -> change(random));
            return;
        }
        previous = load;
        changed = node.time.elapsed();
        load = Load.values()[random.nextInt(Load.values().length)];
        switch (load) {
            case CALM, SLOW_SCANS -> meter.rates(0.02, 0.005);
            case EXECS -> meter.rates(0.15, 1.5);
            case PULLS -> meter.rates(1.4, 0.2);
            case QUOTA -> meter.rates(0.02, 0.6);
        }
        if (load == Load.CALM || load == Load.SLOW_SCANS) {
            stalledUntil = Duration.ZERO;
        } else {
            stall(random, changed);
        }
        node.loop.schedule(Duration.ofSeconds(60 + random.nextLong(540)), () -> change(random));
    }

    /** While the load of that time lasts, the runtime answers nothing for a while again and again. */
    private void stall(RandomGenerator random, Duration since) {
        if (!changed.equals(since)) {
            return;
        }
        int longest = load == Load.EXECS ? 60 : 20;
        stalledUntil = node.time.elapsed().plus(Duration.ofMillis(random.nextLong(longest * 1_000L)));
        Duration next = stalledUntil.minus(node.time.elapsed()).plus(Duration.ofSeconds(5 + random.nextLong(30)));
        node.loop.schedule(next, () -> stall(random, since));
    }

    private Duration latency(RandomGenerator random) {
        Duration rest = stalledUntil.minus(node.time.elapsed());
        Duration own = Duration.ofMillis(load == Load.CALM ? 1 : 1 + random.nextLong(800));
        return rest.isPositive() ? rest.plus(own) : own;
    }

    /** Containers come and go at five a second: each second five pods are replaced by the next. */
    private void churn(int number) {
        for (int pod = number; pod < number + 5; pod++) {
            node.runtime.removePod("c" + (pod - PODS));
            node.runtime.sandbox(id(pod, 's'), "c" + pod, true);
            node.runtime.container(id(pod, 'c'), "c" + pod, "main", ContainerState.RUNNING);
        }
        newest = number + 4;
        node.loop.schedule(Duration.ofSeconds(1), () -> churn(number + 5));
    }

    /** The inventory is up to a second old: the newest pods are missing, and some that have ended are still in it. */
    private ContainerIndex workload() {
        List<PodSandbox> sandboxes = new ArrayList<>(List.of(
                new PodSandbox(ProcessFixtures.WEB, "w1", "web", "shop", 0, true, 1),
                new PodSandbox(ProcessFixtures.DB, "d1", "db", "shop", 0, true, 1)));
        List<Container> containers = new ArrayList<>(List.of(
                new Container(ProcessFixtures.WEB_APP, ProcessFixtures.WEB, "app", "w1", ContainerState.RUNNING, 1),
                new Container(ProcessFixtures.DB_APP, ProcessFixtures.DB, "db", "d1", ContainerState.RUNNING, 1)));
        for (int pod = Math.max(0, newest - PODS - 4); pod < newest - 4; pod++) {
            String sandbox = id(pod, 's');
            sandboxes.add(new PodSandbox(sandbox, "c" + pod, "c" + pod, "job", 0, true, 1));
            containers.add(new Container(id(pod, 'c'), sandbox, "main", "c" + pod, ContainerState.RUNNING, 1));
        }
        return ContainerIndex.of(sandboxes, containers);
    }

    private List<ProcessInfo> processes(RandomGenerator random) {
        periods += 50;
        throttled += load == Load.QUOTA ? 45 : 1;
        ProcessInfo runtime =
                ProcessFixtures.cpu(ProcessFixtures.runtime(load == Load.CALM ? 'S' : 'R'), periods, throttled);
        List<ProcessInfo> all = ProcessFixtures.healthyBut(runtime.worked(meter.work()));
        // Shims of sandboxes that no list has yet, and of some that no list has any more.
        for (int pod : List.of(newest, newest - 1, newest - PODS, newest - PODS - 2)) {
            all.add(ProcessFixtures.shim(1_000 + Math.floorMod(pod, 500), id(pod, 's'), 'S'));
        }
        boolean execs = load == Load.EXECS;
        for (int exec = 0; exec < (execs ? 12 : 2); exec++) {
            int age = random.nextInt(execs ? 25 : 6);
            all.add(ProcessFixtures.runc(10_000 + exec, "exec", ProcessFixtures.WEB_APP, age)
                    .worked(new Work(Duration.ofMillis(60), Duration.ofMillis(Math.max(0, age * 1_000L - 3_000)))));
        }
        return all;
    }

    private static String id(int number, char kind) {
        return String.format(Locale.ROOT, "%063d", Math.abs(number)) + (kind == 's' ? 'a' : 'b');
    }
}
