package io.nodekeeper.agent.culprit.repair;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.ProcessFixtures;
import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.diagnosis.Layer;
import io.nodekeeper.agent.culprit.diagnosis.Remedy;
import io.nodekeeper.agent.culprit.evidence.Confidence;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRef;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.cri.FakeRuntime;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/**
 * Repairs of generated machines: with bystanders, zombies, processes in state D, pids that are reused and processes
 * that change between the scans, and with culprits whose remedies name any process at all. Whatever the diagnosis says,
 * a repair hits nothing that it must not.
 */
class RepairPropertiesTest {
    private static final String STATES = "SSSSSRTTDZ";
    private static final List<String> SANDBOXES = List.of("s-a", "s-b", "s-c");
    private static final Set<ProcessRole> OF_PODS = Set.of(ProcessRole.SHIM, ProcessRole.CONTAINER);

    @Property(tries = 1_500)
    void repairHitsOnlyWhatItMay(@ForAll long seed) {
        new Run(seed).repair();
    }

    @Example
    void generatorReachesEveryKindOfAction() {
        Map<String, Integer> actions = new TreeMap<>();
        for (long seed = 0; seed < 2_000; seed++) {
            new Run(seed).repair().forEach((kind, count) -> actions.merge(kind, count, Integer::sum));
        }

        assertThat(actions)
                .containsOnlyKeys(
                        "end SHIM",
                        "end outside",
                        "kill CNI_PLUGIN",
                        "kill CONTAINER",
                        "kill HELPER",
                        "kill OCI_RUNTIME",
                        "kill SHIM",
                        "continue CNI_PLUGIN",
                        "continue CONTAINER",
                        "continue HELPER",
                        "continue OCI_RUNTIME",
                        "continue RUNTIME",
                        "continue SHIM",
                        "end CNI_PLUGIN",
                        "end CONTAINER",
                        "end HELPER",
                        "end OCI_RUNTIME",
                        "remove sandbox",
                        "thaw")
                .allSatisfy((kind, count) -> assertThat(count).as(kind).isGreaterThan(2));
    }

    /** One generated machine and its repair. */
    private static final class Run {
        private final Random random;
        private final VirtualTime time = new VirtualTime(Instant.parse("2026-11-23T00:00:00Z"));
        private final VirtualTime.VirtualLoop loop = time.loop("doctor");
        private final FakeRuntime runtime = new FakeRuntime(loop);
        private final Map<String, Integer> actions = new HashMap<>();
        private final boolean force;
        private Map<Integer, ProcessInfo> scanned = Map.of();
        private final FakeMachine machine = new FakeMachine() {
            @Override
            public void signal(int pid, int signal) {
                check(pid, signal);
                super.signal(pid, signal);
            }

            @Override
            public void write(String file, String text) {
                assertThat(file).startsWith("/sys/fs/cgroup/");
                actions.merge("thaw", 1, Integer::sum);
                super.write(file, text);
            }
        };

        Run(long seed) {
            random = new Random(seed);
            force = random.nextBoolean();
            SANDBOXES.forEach(id -> runtime.sandbox(id, id, true));
            machine.add(in(ProcessFixtures.runtime('S')));
            int pid = 200;
            for (String sandbox : SANDBOXES) {
                int shim = pid;
                machine.add(in(ProcessFixtures.shim(pid++, sandbox, 'S')));
                machine.add(in(ProcessFixtures.process(pid++, shim, 'S', ProcessRole.CONTAINER, "nginx")));
                int command = pid;
                String verb = random.nextBoolean() ? "create" : "exec";
                ProcessInfo runc = ProcessFixtures.runc(pid++, verb, sandbox, 20);
                machine.add(in(below(runc, shim)));
                machine.add(in(ProcessFixtures.process(pid++, command, 'S', ProcessRole.CONTAINER, "runc init")));
                int plugin = pid;
                machine.add(in(ProcessFixtures.cni(pid++, 100, "ADD", 20, true)));
                machine.add(in(ProcessFixtures.process(pid++, plugin, 'S', ProcessRole.HELPER, "curl ipam")));
            }
            int culprits = 1 + random.nextInt(4);
            machine.culprits = new ArrayList<>();
            for (int i = 0; i < culprits; i++) {
                machine.culprits.add(culprit("Hung" + i));
            }
            machine.beforeScan = () -> {
                change();
                scanned = Map.copyOf(machine.processes);
            };
            machine.beforeAction = this::change;
        }

        Map<String, Integer> repair() {
            scanned = Map.copyOf(machine.processes);
            RepairPlan plan = RepairPlan.of(machine.findings(), force);
            Remedies remedies = new Remedies(runtime, machine, machine::run, loop);
            CompletableFuture<Repair.Result> result = new Repair(
                            plan, machine, remedies, loop, Duration.ofSeconds(2), said -> {})
                    .run(machine.findings());
            time.advance(Duration.ofMinutes(30));

            assertThat(result).isCompleted();
            checkRemovals();
            checkOrder(result.join().attempts());
            return actions;
        }

        /** What must hold for each signal at the time at which it is sent. */
        private void check(int pid, int signal) {
            ProcessInfo now =
                    Optional.ofNullable(machine.processes.get(pid)).orElseGet(() -> machine.outsiders.get(pid));
            assertThat(now).as("pid %d lives", pid).isNotNull();
            assertThat(machine.culprits.stream()
                            .flatMap(culprit -> culprit.remedies().stream())
                            .anyMatch(remedy -> names(remedy, now.ref())))
                    .as("a remedy names exactly %s", now.ref())
                    .isTrue();
            assertThat(isBelowARoot(now.ref()))
                    .as("%s is the root of a culprit or below it", now.ref())
                    .isTrue();
            ProcessInfo seen = scanned.get(pid);
            String role = seen == null ? "outside" : seen.role().name();
            if (signal == 18) {
                assertThat(seen == null ? '?' : seen.state()).as("continued").isEqualTo('T');
                assertThat(force || now.role() != ProcessRole.CONTAINER).isTrue();
                actions.merge("continue " + role, 1, Integer::sum);
                return;
            }
            assertThat(now.state()).as("state of pid %d", pid).isNotIn('Z', 'D');
            assertThat(role).isNotEqualTo("RUNTIME");
            if (!force) {
                assertThat(signal).isEqualTo(9);
                assertThat(seen).as("a process of the runtime").isNotNull();
                assertThat(OF_PODS.contains(now.role()) && !isBeingCreated(pid))
                        .as("pid %d (%s) belongs to a running pod", pid, role)
                        .isFalse();
            }
            boolean end = machine.culprits.stream()
                    .flatMap(culprit -> culprit.remedies().stream())
                    .anyMatch(remedy -> remedy instanceof Remedy.EndProcess ending
                            && ending.process().equals(now.ref()));
            actions.merge((signal == 15 || seen == null || end ? "end " : "kill ") + role, 1, Integer::sum);
        }

        private void checkRemovals() {
            List<String> ids = runtime.calls().stream()
                    .filter(RuntimeCall.RemoveSandbox.class::isInstance)
                    .map(call -> call.sandboxId().orElseThrow())
                    .toList();
            assertThat(ids).hasSizeLessThanOrEqualTo(force ? 1 : 0);
            assertThat(ids)
                    .allSatisfy(id -> assertThat(machine.culprits.stream().map(Culprit::sandboxId))
                            .contains(Optional.of(id)));
            ids.forEach(id -> actions.merge("remove sandbox", 1, Integer::sum));
        }

        /** Before a remedy of a culprit, all milder ones were applied, and none of them is an operator's action. */
        private void checkOrder(List<Attempt> attempts) {
            Map<String, List<Remedy>> done = new HashMap<>();
            for (Attempt attempt : attempts) {
                Culprit culprit = attempt.step().culprit();
                List<Remedy> before = done.computeIfAbsent(culprit.key(), key -> new ArrayList<>());
                if (attempt.outcome() == Attempt.Outcome.NOT_APPLIED) {
                    before.add(new Remedy.Advice("nothing may follow"));
                    continue;
                }
                assertThat(before).noneMatch(Remedy.Advice.class::isInstance);
                int index = index(culprit, attempt.step().remedy());
                for (Remedy milder : culprit.remedies().subList(0, index)) {
                    assertThat(attempts.stream()
                                    .anyMatch(other ->
                                            overlap(milder, other.step().remedy())))
                            .as("%s before %s", milder, attempt.step().remedy())
                            .isTrue();
                }
                before.add(attempt.step().remedy());
            }
        }

        private static int index(Culprit culprit, Remedy remedy) {
            for (int i = 0; i < culprit.remedies().size(); i++) {
                if (overlap(culprit.remedies().get(i), remedy)) {
                    return i;
                }
            }
            throw new AssertionError(remedy + " is no remedy of " + culprit);
        }

        private static boolean overlap(Remedy whole, Remedy part) {
            return whole instanceof Remedy.KillProcesses(List<ProcessRef> all)
                            && part instanceof Remedy.KillProcesses(List<ProcessRef> some)
                    ? all.stream().anyMatch(some::contains)
                    : whole.equals(part);
        }

        private static boolean names(Remedy remedy, ProcessRef process) {
            return switch (remedy) {
                case Remedy.KillProcesses(List<ProcessRef> processes) -> processes.contains(process);
                case Remedy.EndProcess end -> end.process().equals(process);
                case Remedy.ContinueProcess(ProcessRef stopped) -> stopped.equals(process);
                default -> false;
            };
        }

        private boolean isBelowARoot(ProcessRef process) {
            Set<ProcessRef> roots = new HashSet<>();
            machine.culprits.forEach(culprit -> culprit.process().ifPresent(roots::add));
            if (roots.contains(process)) {
                return true;
            }
            ProcessInfo at = scanned.get(process.pid());
            while (at != null) {
                if (roots.contains(at.ref())) {
                    return true;
                }
                at = scanned.get(at.parent());
            }
            return false;
        }

        private boolean isBeingCreated(int pid) {
            return Optional.ofNullable(scanned.get(pid))
                    .flatMap(info -> Optional.ofNullable(scanned.get(info.parent())))
                    .filter(parent -> parent.verb().equals("create"))
                    .isPresent();
        }

        /** Something happens on the machine. */
        private void change() {
            List<Integer> pids = new ArrayList<>(machine.processes.keySet());
            for (int i = random.nextInt(3); i > 0; i--) {
                int pid = pids.get(random.nextInt(pids.size()));
                ProcessInfo info = machine.processes.get(pid);
                if (info == null) {
                    continue;
                }
                switch (random.nextInt(4)) {
                    case 0 -> machine.processes.remove(pid);
                    case 1 -> machine.state(pid, state());
                    case 2 ->
                        // The pid is reused.
                        machine.add(ref(info, new ProcessRef(pid, info.ref().startTicks() + 1, "sshd")));
                    default ->
                        machine.add(ref(info, new ProcessRef(pid, info.ref().startTicks(), "nginx -g")));
                }
            }
        }

        private Culprit culprit(String reason) {
            List<ProcessInfo> all = new ArrayList<>(machine.processes.values());
            ProcessRef outsider = new ProcessRef(900 + random.nextInt(3), 5, "flock /run/lock");
            ProcessRef root = random.nextInt(8) == 0
                    ? outsider
                    : all.get(random.nextInt(all.size())).ref();
            if (root.equals(outsider)) {
                machine.outsiders.put(
                        root.pid(),
                        ref(ProcessFixtures.process(root.pid(), 1, 'S', ProcessRole.HELPER, "flock"), root));
            }
            String sandbox = SANDBOXES.get(random.nextInt(SANDBOXES.size()));
            List<Remedy> remedies = new ArrayList<>();
            for (int i = random.nextInt(4); i >= 0; i--) {
                remedies.add(remedy(root, sandbox, all));
            }
            return new Culprit(
                    Layer.PROCESS,
                    reason,
                    reason,
                    Instant.EPOCH,
                    Optional.empty(),
                    random.nextInt(4) == 0 ? Optional.empty() : Optional.of(sandbox),
                    Optional.empty(),
                    random.nextInt(10) == 0 ? Optional.empty() : Optional.of(root),
                    Optional.empty(),
                    List.of(),
                    remedies.stream().distinct().toList(),
                    Confidence.values()[random.nextInt(3)]);
        }

        private Remedy remedy(ProcessRef root, String sandbox, List<ProcessInfo> all) {
            ProcessRef named = random.nextInt(3) > 0
                    ? root
                    : all.get(random.nextInt(all.size())).ref();
            return switch (random.nextInt(10)) {
                case 0 -> new Remedy.Advice("restart it");
                case 1, 2 -> new Remedy.ContinueProcess(named);
                case 3, 4 -> new Remedy.EndProcess(named, random.nextBoolean(), "its work");
                case 5 -> new Remedy.RemoveSandbox(random.nextInt(4) == 0 ? "s-b" : sandbox);
                case 6 ->
                    new Remedy.ThawCgroup(
                            random.nextBoolean() ? "/sys/fs/cgroup/freezer/p/freezer.state" : "/etc/freezer.state",
                            "THAWED");
                default -> {
                    Set<ProcessRef> processes = new HashSet<>(Set.of(named));
                    for (int i = random.nextInt(4); i > 0; i--) {
                        processes.add(all.get(random.nextInt(all.size())).ref());
                    }
                    all.stream().filter(info -> info.parent() == root.pid()).forEach(info -> processes.add(info.ref()));
                    yield new Remedy.KillProcesses(List.copyOf(processes));
                }
            };
        }

        private ProcessInfo in(ProcessInfo info) {
            return FakeMachine.in(info, state());
        }

        private char state() {
            return STATES.charAt(random.nextInt(STATES.length()));
        }

        private static ProcessInfo below(ProcessInfo info, int parent) {
            return copy(info, info.ref(), parent);
        }

        private static ProcessInfo ref(ProcessInfo info, ProcessRef ref) {
            return copy(info, ref, info.parent());
        }

        private static ProcessInfo copy(ProcessInfo info, ProcessRef ref, int parent) {
            return new ProcessInfo(
                    ref,
                    parent,
                    info.state(),
                    info.age(),
                    info.role(),
                    info.own(),
                    info.verb(),
                    info.ids(),
                    info.pod(),
                    info.stalls(),
                    info.cpu());
        }
    }
}
