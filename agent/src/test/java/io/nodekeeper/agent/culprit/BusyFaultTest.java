package io.nodekeeper.agent.culprit;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.BusyNode.Load;
import io.nodekeeper.agent.culprit.scan.Limit;
import io.nodekeeper.agent.culprit.scan.ProcessInfo;
import io.nodekeeper.agent.culprit.scan.ProcessRole;
import io.nodekeeper.agent.culprit.scan.Stall;
import io.nodekeeper.agent.culprit.scan.Wait;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.time.Randoms;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A fault of each class that begins while a node is busy, in virtual time. What the kernel shows is named under every load;
 * what only late calls show is named while the runtime answers others, because a runtime that answers nothing under load
 * cannot be told from a hung one. An orphaned shim is named once no command runs, so not here.
 */
class BusyFaultTest {
    private static final Stall.Mount DISK = new Stall.Mount("/mnt/data", "/dev/loop0", "ext4");
    private static final Stall.Mount FUSE = new Stall.Mount("/mnt/remote", "sshfs", "fuse.sshfs");

    /**
     * A fault.
     *
     * @param bound the seconds within which it must be named
     * @param byCalls whether only late calls show it
     */
    private record Fault(String reason, int bound, boolean byCalls, Consumer<BusyNode> strike) {
        @Override
        public String toString() {
            return reason;
        }
    }

    @ParameterizedTest
    @MethodSource("faults")
    void faultThatBeginsOnABusyNodeIsNamedInTime(Fault fault) {
        for (Load load : fault.byCalls ? List.of(Load.CALM, Load.SLOW_DISK) : List.of(Load.values())) {
            RandomGenerator random = Randoms.seeded(load.ordinal());
            BusyNode busy = new BusyNode(load.ordinal());
            busy.start();
            busy.node.time.advance(Duration.ofMinutes(2));
            busy.stay(load);
            busy.node.time.advance(Duration.ofSeconds(120).plusMillis(random.nextLong(10_000)));
            int before = busy.node.heard.size();

            fault.strike.accept(busy);
            busy.node.time.advance(Duration.ofSeconds(fault.bound));

            assertThat(busy.node.heard.subList(before, busy.node.heard.size()))
                    .as("%s under %s", fault, load)
                    .anyMatch(line -> line.endsWith(" found " + fault.reason));
        }
    }

    static Stream<Arguments> faults() {
        String webStats = "ContainerStats:" + ProcessFixtures.WEB_APP;
        return Stream.of(
                        shown("RuntimeFrozen", age -> ProcessFixtures.runtime('T')),
                        shown("ShimStopped", age -> ProcessFixtures.shim(200, ProcessFixtures.WEB, 'T')),
                        shown(
                                "CgroupFrozen",
                                age -> ProcessFixtures.runtime('S')
                                        .waitingFor(List.of(new Wait.Frozen("/sys/fs/cgroup/x", 2, false)))),
                        shown(
                                "ProcessTraced",
                                age -> ProcessFixtures.shim(200, ProcessFixtures.WEB, 't')
                                        .waitingFor(List.of(new Wait.Traced(900)))),
                        shown("OCIRuntimeHung", age -> ProcessFixtures.runc(400, "kill", ProcessFixtures.WEB_APP, age)),
                        shown("CNIPluginHung", age -> ProcessFixtures.cni(500, 100, "ADD", age, true)),
                        shown("LockHeld", age -> waiting(age, new Wait.ForLock("/run/a", "FLOCK", List.of(900)))),
                        shown("PipeHeldOpen", age -> waiting(age, new Wait.ForPipe("pipe:[7]", true, List.of(900)))),
                        shown(
                                "DaemonHung",
                                age -> waiting(
                                        age,
                                        new Wait.ForSocket(
                                                "socket:[7]", "/run/a.sock", true, Wait.Progress.READ, List.of(900)))),
                        shown("FileServerHung", age -> waiting(age, new Wait.ForServer(FUSE, List.of(900)))),
                        shown(
                                "DiskStalled",
                                age -> ProcessFixtures.stalled(
                                        ProcessFixtures.process(301, 300, 'D', ProcessRole.CONTAINER, "postgres"),
                                        new Stall(
                                                301,
                                                17,
                                                "io_schedule",
                                                List.of(),
                                                Optional.empty(),
                                                Optional.empty(),
                                                List.of(DISK)))),
                        shown(
                                "OpenFilesExhausted",
                                age -> ProcessFixtures.runtime('S')
                                        .at(List.of(new Limit(Limit.Kind.OPEN_FILES, "", 64, 64)))),
                        // An ended process gets 30 s to be reaped.
                        new Fault(
                                "ContainerNotReaped",
                                50,
                                false,
                                strike(age ->
                                        ProcessFixtures.process(301, 300, 'Z', ProcessRole.CONTAINER, "postgres"))),
                        new Fault(
                                "RuntimeUnreachable",
                                20,
                                false,
                                busy -> busy.node.runtime.fail(
                                        "*",
                                        new RuntimeCallException(
                                                "Version",
                                                RuntimeCallException.Code.UNAVAILABLE,
                                                "connection refused"))),
                        new Fault("RuntimeHung", 20, true, busy -> busy.node.runtime.hang("*")),
                        new Fault("ContainerCallHung", 20, true, busy -> busy.node.runtime.hang(webStats)),
                        new Fault("RuntimeCallHung", 20, true, busy -> {
                            busy.node.runtime.hang("Status");
                            busy.node
                                    .calls
                                    .call(new RuntimeCall.GetStatus(), Duration.ofMinutes(1))
                                    .exceptionally(late -> null);
                        }))
                .map(Arguments::of);
    }

    /** A fault that one process shows from now on; {@code state} gets the seconds since then. */
    private static Fault shown(String reason, IntFunction<ProcessInfo> state) {
        return new Fault(reason, 20, false, strike(state));
    }

    private static Consumer<BusyNode> strike(IntFunction<ProcessInfo> state) {
        return busy -> {
            long began = busy.node.seconds();
            busy.fault = all -> {
                ProcessInfo changed = state.apply((int) (busy.node.seconds() - began));
                all.removeIf(other -> other.ref().pid() == changed.ref().pid());
                all.add(changed);
                all.add(ProcessFixtures.process(900, 1, 'S', ProcessRole.OUTSIDER, "/usr/bin/other"));
                return all;
            };
        };
    }

    private static ProcessInfo waiting(int age, Wait wait) {
        return ProcessFixtures.runc(400, "create", ProcessFixtures.WEB_APP, age).waitingFor(List.of(wait));
    }
}
