package io.nodekeeper.agent.culprit;

import io.nodekeeper.agent.culprit.diagnosis.ContainerIndex;
import io.nodekeeper.agent.culprit.load.Work;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRef;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.agent.culprit.scan.Stall;
import io.nodekeeper.cri.Container;
import io.nodekeeper.cri.ContainerState;
import io.nodekeeper.cri.PodSandbox;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.Randoms;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;

/**
 * A healthy node that is busy in changing ways, in virtual time: what the kernel and containerd would show. Each process
 * has one start, one end and work that only grows; a scan shows the state of the moment at which it began, and a shallow
 * one only what it reads; a call is answered late only while something of that time makes it late, which the kernel's
 * counters show, too. Two pods stay and others come and go at five a second; 12 commands stand for 200.
 */
final class BusyNode {
    /** What the node does; each lasts one to ten minutes. */
    enum Load {
        /** Calls take milliseconds. */
        CALM,
        /** Many commands in containers at once: all wait for a processor. */
        EXECS,
        /** The runtime unpacks images. */
        PULLS,
        /** The disk is slow: commands wait for it, and scans take long or fail. */
        SLOW_DISK,
        /** The cgroup of the runtime and its programs has 2 % of a processor. */
        QUOTA
    }

    /** The longest time for which calls are late under a load that explains it, in ms. */
    private static final Map<Load, Integer> LONGEST =
            Map.of(Load.EXECS, 60_000, Load.PULLS, 20_000, Load.QUOTA, 20_000);

    private static final Stall.Mount DISK = new Stall.Mount("/var/lib/containerd", "/dev/sdb", "ext4");
    private static final Duration NEVER = Duration.ofDays(1_000);

    /** A short pod: in the runtime's list and with a shim, which ends a little later than its entry in the list. */
    private record Pod(
            String uid, String sandbox, String container, int pid, Duration from, Duration to, Duration gone) {}

    /**
     * A command of runc.
     *
     * @param queued its share of the time in which it waits for a processor
     * @param disk the time of each of its waits for the disk; zero if it waits for none
     */
    private record Command(int pid, Duration from, Duration to, double queued, Duration disk, boolean mainThread) {}

    final WatchedNode node;
    /** Changes the processes of each scan, as a fault does. */
    UnaryOperator<List<ProcessInfo>> fault = UnaryOperator.identity();

    private final RandomGenerator random;
    private final WorkMeter runtime;
    private final WorkMeter shim;
    private final ArrayDeque<Pod> pods = new ArrayDeque<>();
    private final List<Command> commands = new ArrayList<>();
    private Load load = Load.CALM;
    private Load previous = Load.CALM;
    private Duration changed = Duration.ZERO;
    private Duration stalledUntil = Duration.ZERO;
    private Duration shimStalledUntil = Duration.ZERO;
    private Duration counted = Duration.ZERO;
    private Duration zombieUntil = Duration.ZERO;
    private double periods;
    private double throttled;
    private double share;
    private int made;
    private int lastPid = 2_000;

    BusyNode(long seed) {
        node = new WatchedNode(seed);
        random = Randoms.seeded(seed);
        runtime = new WorkMeter(node.loop);
        shim = new WorkMeter(node.loop);
        node.processes = () -> fault.apply(processes());
        node.workload = this::workload;
        node.delay = call -> Optional.of(latency(call));
        node.scanTakes = () -> load != Load.SLOW_DISK
                ? Optional.of(Duration.ofMillis(random.nextLong(100)))
                : random.nextInt(10) == 0 ? Optional.empty() : Optional.of(Duration.ofMillis(random.nextLong(2_500)));
    }

    /** Starts the load and the watch. */
    void start() {
        change();
        churn();
        ask();
        node.watch.start();
    }

    Load load() {
        return load;
    }

    /** From now on the load stays this one. */
    void stay(Load lasting) {
        become(lasting);
        changed = NEVER;
    }

    /** Whether a statement about load is true now, or was until a minute ago, when calls of then may still be open. */
    boolean isTrue(String reason) {
        Load cause = switch (reason) {
            case "RuntimeThrottled" -> Load.QUOTA;
            case "RuntimeBusy" -> Load.PULLS;
            case "NodeOverloaded" -> Load.EXECS;
            default -> Load.CALM;
        };
        return cause != Load.CALM
                && (cause == load || cause == previous && now().minus(changed).compareTo(Duration.ofMinutes(1)) < 0);
    }

    private Duration now() {
        return node.time.elapsed();
    }

    private void change() {
        if (changed.equals(NEVER)) {
            return;
        }
        Duration last = stalledUntil.compareTo(shimStalledUntil) > 0 ? stalledUntil : shimStalledUntil;
        Duration answered = last.plusSeconds(1).minus(now());
        if (answered.isPositive()) {
            // What waits for an answer gets it under the load that delays it.
            node.loop.schedule(answered, this::change);
            return;
        }
        become(Load.values()[random.nextInt(Load.values().length)]);
        node.loop.schedule(Duration.ofSeconds(60 + random.nextLong(540)), this::change);
    }

    private void become(Load next) {
        count();
        previous = load;
        changed = now();
        load = next;
        // Between its calls, a runtime with a quota needs no processor, and its periods do not count.
        share = load == Load.QUOTA ? 0.3 + 0.6 * random.nextDouble() : 0.02;
        work();
        if (LONGEST.containsKey(load)) {
            stall(changed);
        }
    }

    /** Sets what the runtime's threads do. A call that waits shows in at least one of them. */
    private void work() {
        boolean stalled = stalledUntil.compareTo(now()) > 0;
        double some = random.nextDouble();
        switch (load) {
            case CALM, SLOW_DISK -> runtime.rates(0.01 + 0.02 * some, 0.01 * some);
            case EXECS -> runtime.rates(0.05 + 0.1 * some, stalled ? 0.9 + some : 0.2 * some);
            case PULLS -> runtime.rates((stalled ? 0.9 : 0.1) + some, 0.2 * some);
            case QUOTA -> runtime.rates(0.02, stalled ? 0.9 + some : 0.5 * some);
        }
        boolean starved = shimStalledUntil.compareTo(now()) > 0;
        shim.rates(0.01, starved ? 0.9 + 0.2 * some : 0.01 * some);
    }

    /** While the load of that time lasts, the runtime, or one shim, answers nothing for a while again and again. */
    private void stall(Duration since) {
        if (!changed.equals(since)) {
            return;
        }
        Duration lasts = Duration.ofMillis(random.nextLong(LONGEST.getOrDefault(load, 1)));
        boolean one = load == Load.EXECS && random.nextBoolean();
        if (one) {
            shimStalledUntil = now().plus(lasts);
        } else {
            stalledUntil = now().plus(lasts);
        }
        work();
        node.loop.schedule(lasts, this::work);
        node.loop.schedule(lasts.plusMillis(5_000 + random.nextLong(30_000)), () -> stall(since));
    }

    private Duration latency(RuntimeCall<?> call) {
        Duration rest = stalledUntil.minus(now());
        if (call.equals(new RuntimeCall.GetContainerStats(ProcessFixtures.WEB_APP))) {
            Duration own = shimStalledUntil.minus(now());
            rest = own.compareTo(rest) > 0 ? own : rest;
        }
        boolean disk = load == Load.SLOW_DISK
                && (call instanceof RuntimeCall.ListImages || call instanceof RuntimeCall.StopSandbox);
        Duration own = Duration.ofMillis(load == Load.CALM ? 1 : 1 + random.nextLong(disk ? 3_000 : 800));
        return rest.isPositive() ? rest.plus(own) : own;
    }

    /** The calls that the agent makes besides those of the watch. */
    private void ask() {
        node.calls.call(new RuntimeCall.ListImages(), Duration.ofSeconds(10));
        node.calls.call(new RuntimeCall.GetSandbox(ProcessFixtures.DB), Duration.ofSeconds(10));
        Optional.ofNullable(pods.peekFirst())
                .ifPresent(pod -> node.calls.call(new RuntimeCall.StopSandbox(pod.sandbox), Duration.ofSeconds(30)));
        node.loop.schedule(Duration.ofMillis(3_000 + random.nextLong(5_000)), this::ask);
    }

    /** Each second five pods are replaced by the next, unless the runtime answers nothing. */
    private void churn() {
        node.loop.schedule(Duration.ofSeconds(1), this::churn);
        if (stalledUntil.compareTo(now()) > 0) {
            return;
        }
        pods.removeIf(pod -> pod.gone.compareTo(now()) < 0);
        for (int i = 0; i < 5; i++) {
            made++;
            String uid = "c" + made;
            Duration to = now().plusMillis(1_000 + random.nextLong(2_000));
            Duration gone = to.plusMillis(random.nextLong(load == Load.CALM ? 500 : 3_000));
            Pod pod = new Pod(uid, id(made, 'a'), id(made, 'b'), pid(), now(), to, gone);
            pods.add(pod);
            node.runtime.sandbox(pod.sandbox, uid, true);
            node.runtime.container(pod.container, uid, "main", ContainerState.RUNNING);
            node.loop.schedule(to.minus(now()), () -> node.runtime.removePod(uid));
        }
    }

    /** The inventory is a second old: the newest pods are missing, and some that have ended are still in it. */
    private ContainerIndex workload() {
        Duration then = now().minusSeconds(1);
        List<PodSandbox> sandboxes = new ArrayList<>(List.of(
                new PodSandbox(ProcessFixtures.WEB, "w1", "web", "shop", 0, true, 1),
                new PodSandbox(ProcessFixtures.DB, "d1", "db", "shop", 0, true, 1)));
        List<Container> containers = new ArrayList<>(List.of(
                new Container(ProcessFixtures.WEB_APP, ProcessFixtures.WEB, "app", "w1", ContainerState.RUNNING, 1),
                new Container(ProcessFixtures.DB_APP, ProcessFixtures.DB, "db", "d1", ContainerState.RUNNING, 1)));
        for (Pod pod : pods) {
            if (pod.from.compareTo(then) <= 0 && pod.to.compareTo(then) > 0) {
                sandboxes.add(new PodSandbox(pod.sandbox, pod.uid, pod.uid, "job", 0, true, 1));
                containers.add(new Container(pod.container, pod.sandbox, "main", pod.uid, ContainerState.RUNNING, 1));
            }
        }
        return ContainerIndex.of(sandboxes, containers);
    }

    private List<ProcessInfo> processes() {
        count();
        ProcessInfo daemon = ProcessFixtures.cpu(
                ProcessFixtures.runtime(load == Load.CALM ? 'S' : 'R').worked(runtime.work()), (long) periods, (long)
                        throttled);
        if (load == Load.SLOW_DISK && random.nextBoolean()) {
            daemon = ProcessFixtures.stalled(daemon, stall(105, now().toMillis() / 2_900));
        }
        ProcessInfo web = ProcessFixtures.shim(200, ProcessFixtures.WEB, 'S').worked(shim.work());
        List<ProcessInfo> all = ProcessFixtures.healthyBut(daemon, web);
        for (Pod pod : pods) {
            if (pod.gone.compareTo(now()) > 0) {
                all.add(at(ProcessFixtures.shim(pod.pid, pod.sandbox, 'S'), pod.from, 'S'));
            }
        }
        if (zombieUntil.compareTo(now()) > 0) {
            all.add(ProcessFixtures.process(202, 200, 'Z', ProcessRole.CONTAINER, "sh"));
        } else if (load == Load.EXECS && random.nextInt(20) == 0) {
            // A shim that waits for a processor reaps late.
            zombieUntil = now().plusMillis(random.nextLong(15_000));
        }
        commands.removeIf(command -> command.to.compareTo(now()) <= 0);
        while (commands.size() < (load == Load.EXECS ? 12 : 3)) {
            commands.add(command());
        }
        commands.forEach(command -> all.add(shown(command)));
        return all;
    }

    /** A command that is seen for the first time: it may have begun at any time since the last scan. */
    private Command command() {
        Duration from = now().minusMillis(random.nextLong(1_500));
        return switch (load) {
            case CALM, PULLS -> new Command(pid(), from, lasts(3_000), 0.02, Duration.ZERO, true);
            case EXECS ->
                new Command(pid(), from, lasts(25_000), 0.8 + 0.15 * random.nextDouble(), Duration.ZERO, true);
            case QUOTA -> new Command(pid(), from, lasts(15_000), 0.9, Duration.ZERO, true);
            case SLOW_DISK ->
                new Command(
                        pid(),
                        from,
                        lasts(20_000),
                        0.01,
                        Duration.ofMillis(50 + random.nextLong(3_500)),
                        random.nextBoolean());
        };
    }

    private Duration lasts(int longest) {
        return now().plusMillis(random.nextLong(longest));
    }

    private ProcessInfo shown(Command command) {
        Duration age = now().minus(command.from);
        // It works for 60 ms and waits for a processor in 1 %.
        boolean disk = command.disk.isPositive() && random.nextInt(75) > 0;
        long millis = age.toMillis();
        ProcessInfo runc = at(
                ProcessFixtures.runc(command.pid, "exec", ProcessFixtures.WEB_APP, 0),
                command.from,
                disk && command.mainThread ? 'D' : 'S');
        runc = disk
                ? ProcessFixtures.stalled(
                        runc, stall(command.pid + (command.mainThread ? 0 : 3), millis / command.disk.toMillis()))
                : runc;
        return runc.worked(
                new Work(Duration.ofMillis(Math.min(60, millis)), Duration.ofMillis((long) (command.queued * millis))));
    }

    private static Stall stall(int thread, long switches) {
        return new Stall(
                thread,
                switches,
                "folio_wait_bit_common",
                List.of(),
                Optional.empty(),
                Optional.empty(),
                List.of(DISK));
    }

    /** A process with its true start and age. */
    private ProcessInfo at(ProcessInfo base, Duration from, char state) {
        return new ProcessInfo(
                new ProcessRef(
                        base.ref().pid(), from.toMillis() / 10, base.ref().command()),
                base.parent(),
                state,
                now().minus(from),
                base.role(),
                base.own(),
                base.verb(),
                base.ids(),
                base.pod(),
                base.stalls(),
                base.cpu());
    }

    /** The periods of 100 ms of the runtime's cgroup, and those that were cut short. */
    private void count() {
        double passed = now().minus(counted).toMillis() / 100.0;
        counted = now();
        periods += passed;
        throttled += passed * share;
    }

    private int pid() {
        lastPid = lastPid >= 32_000 ? 2_001 : lastPid + 1;
        return lastPid;
    }

    private static String id(int number, char kind) {
        String digits = Integer.toString(number);
        return "0".repeat(63 - digits.length()) + digits + kind;
    }
}
