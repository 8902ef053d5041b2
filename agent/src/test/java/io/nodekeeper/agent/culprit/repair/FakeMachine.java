package io.nodekeeper.agent.culprit.repair;

import io.nodekeeper.agent.culprit.Findings;
import io.nodekeeper.agent.culprit.diagnosis.ContainerIndex;
import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRef;
import io.nodekeeper.cri.FakeRuntime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

/**
 * A machine with processes, cgroup files and culprits that the test sets. Signals act as on Linux: SIGKILL and SIGTERM
 * end a process unless it is in state D, SIGCONT continues a stopped one.
 */
class FakeMachine implements Host, Repair.Examiner {
    /** A signal that was sent. */
    record Sent(int pid, int signal) {}

    final Map<Integer, ProcessInfo> processes = new LinkedHashMap<>();
    /** Processes that no scan shows. */
    final Map<Integer, ProcessInfo> outsiders = new LinkedHashMap<>();

    final Map<String, String> files = new HashMap<>();
    final List<Sent> sent = new ArrayList<>();
    /** Pids of processes that ignore signals. */
    final List<Integer> deaf = new ArrayList<>();

    List<Culprit> culprits = new ArrayList<>();
    String processError = "";
    int examinations;
    int rescans;
    /** Runs before each scan. */
    Runnable beforeScan = () -> {};
    /** Runs between the last scan and the check before an action. */
    Runnable beforeAction = () -> {};

    void add(ProcessInfo... added) {
        for (ProcessInfo info : added) {
            processes.put(info.ref().pid(), info);
        }
    }

    void state(int pid, char state) {
        processes.computeIfPresent(pid, (key, info) -> in(info, state));
    }

    static ProcessInfo in(ProcessInfo info, char state) {
        return new ProcessInfo(
                info.ref(),
                info.parent(),
                state,
                info.age(),
                info.role(),
                info.own(),
                info.verb(),
                info.ids(),
                info.pod(),
                info.stalls(),
                info.cpu());
    }

    Findings findings() {
        return new Findings(
                "/run/c.sock",
                Optional.empty(),
                Optional.of(FakeRuntime.ready()),
                ContainerIndex.NONE,
                List.of(),
                List.copyOf(processes.values()),
                processError,
                List.copyOf(culprits),
                List.of());
    }

    CompletableFuture<String> run(Callable<String> action) {
        beforeAction.run();
        try {
            return CompletableFuture.completedFuture(action.call());
        } catch (Exception e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    @Override
    public CompletableFuture<Findings> examine() {
        examinations++;
        beforeScan.run();
        return CompletableFuture.completedFuture(findings());
    }

    @Override
    public CompletableFuture<Findings> rescan() {
        rescans++;
        beforeScan.run();
        return CompletableFuture.completedFuture(findings());
    }

    @Override
    public boolean lives(ProcessRef process) {
        return find(process).filter(info -> info.ref().equals(process)).isPresent();
    }

    @Override
    public Optional<Character> state(ProcessRef process) {
        return find(process).map(ProcessInfo::state);
    }

    private Optional<ProcessInfo> find(ProcessRef process) {
        return Optional.ofNullable(processes.get(process.pid()))
                .or(() -> Optional.ofNullable(outsiders.get(process.pid())))
                .filter(info -> info.ref().startTicks() == process.startTicks());
    }

    @Override
    public void signal(int pid, int signal) {
        sent.add(new Sent(pid, signal));
        ProcessInfo info = processes.getOrDefault(pid, outsiders.get(pid));
        if (info == null || deaf.contains(pid)) {
            return;
        }
        if (signal == 18) {
            if (info.state() == 'T') {
                state(pid, 'S');
            }
        } else if (info.state() != 'D') {
            processes.remove(pid);
            outsiders.remove(pid);
        }
    }

    @Override
    public Optional<String> read(String file) {
        return Optional.ofNullable(files.get(file));
    }

    @Override
    public void write(String file, String text) {
        files.put(file, text);
    }
}
