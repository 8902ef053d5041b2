package io.nodekeeper.it;

import io.nodekeeper.api.Condition;
import io.nodekeeper.cri.CriRelay;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Faults of a container runtime, each caused as it happens in practice, and what an agent should report. */
enum RuntimeFault {
    /** A shim serves the containers of a pod; calls to containerd for their statistics wait for it. */
    SHIM_STOPPED("a pod's shim stopped (SIGSTOP)", Expected.culprit("ShimStopped")) {
        @Override
        void strike(RealNode node) throws Exception {
            Command.signal(node.containerd().shim(node.victim().sandbox()), "STOP");
        }

        @Override
        void heal(RealNode node) throws Exception {
            Command.signal(node.containerd().shim(node.victim().sandbox()), "CONT");
        }
    },
    /** A probe of a container hangs. */
    RUNC_EXEC("runc exec hangs", Expected.culprit("OCIRuntimeHung")) {
        @Override
        void strike(RealNode node) throws Exception {
            node.containerd().runc().hang("exec");
            node.begun(node.pods().exec(node.victim(), "/bin/sh", "-c", "true"));
        }

        @Override
        void heal(RealNode node) throws Exception {
            node.containerd().runc().open("exec");
        }
    },
    /** A new pod does not come up. */
    RUNC_CREATE("runc create hangs", Expected.culprit("OCIRuntimeHung")) {
        @Override
        void strike(RealNode node) throws Exception {
            node.containerd().runc().hang("create");
            node.begun(node.pods().begin("newcomer"));
        }

        @Override
        void heal(RealNode node) throws Exception {
            node.containerd().runc().open("create");
        }
    },
    /** A pod is not removed. containerd gives up the command after 10 s and tries again later. */
    RUNC_DELETE("runc delete hangs", Expected.culprit("OCIRuntimeHung").later()) {
        @Override
        void strike(RealNode node) throws Exception {
            node.containerd().runc().hang("delete");
            node.begun(node.pods().stop(node.victim()));
        }

        @Override
        void heal(RealNode node) throws Exception {
            node.containerd().runc().open("delete");
        }
    },
    /** The beginning of incident I-5. */
    CNI_ADD("CNI ADD hangs", Expected.culprit("CNIPluginHung")) {
        @Override
        void strike(RealNode node) throws Exception {
            node.containerd().cni().hang("ADD");
            node.begun(node.pods().begin("newcomer"));
        }

        @Override
        void heal(RealNode node) throws Exception {
            node.containerd().cni().open("ADD");
        }
    },
    /** A pod hangs in Terminating. */
    CNI_DEL("CNI DEL hangs", Expected.culprit("CNIPluginHung")) {
        @Override
        void strike(RealNode node) throws Exception {
            node.containerd().cni().hang("DEL");
            node.begun(node.pods().stop(node.victim()));
        }

        @Override
        void heal(RealNode node) throws Exception {
            node.containerd().cni().open("DEL");
        }
    },
    /** No pod gets a network, which only an attempt shows. */
    CNI_FAILS("CNI ADD fails", Expected.told("PodNetworkUnavailable", "no address left in the pool")) {
        @Override
        List<String> agentFlags() {
            return List.of("--network-probe-interval=10s");
        }

        @Override
        void strike(RealNode node) throws Exception {
            node.containerd().cni().fail("ADD");
            node.begun(node.pods().begin("newcomer"));
        }

        @Override
        void heal(RealNode node) throws Exception {
            node.containerd().cni().open("ADD");
        }
    },
    /** The runtime itself says that it has no network. */
    NETWORK_REMOVED(
            "network configuration removed",
            Expected.notReady(
                    Duration.ofSeconds(20), "reason:NetworkPluginNotReady", "reason:NetworkPluginNotReady", "")) {
        @Override
        void strike(RealNode node) throws Exception {
            node.containerd().removeNetwork();
        }

        @Override
        void heal(RealNode node) throws Exception {
            node.containerd().restoreNetwork();
        }
    },
    /** It accepts connections and does not answer. */
    RUNTIME_FROZEN("containerd frozen (SIGSTOP)", Expected.down(Duration.ofSeconds(45), "RuntimeFrozen|RuntimeHung")) {
        @Override
        void strike(RealNode node) throws Exception {
            node.containerd().signal("STOP");
        }

        @Override
        void heal(RealNode node) throws Exception {
            node.containerd().signal("CONT");
        }
    },
    /** The socket's file stays: connections are refused. */
    RUNTIME_KILLED("containerd killed (SIGKILL)", Expected.down(Duration.ofSeconds(35), "RuntimeUnreachable")) {
        @Override
        void strike(RealNode node) throws Exception {
            node.containerd().kill();
        }

        @Override
        void heal(RealNode node) throws Exception {
            node.containerd().start();
        }
    },
    /** The socket's file is removed, too. */
    RUNTIME_ENDED("containerd ended (SIGTERM)", Expected.down(Duration.ofSeconds(35), "RuntimeUnreachable")) {
        @Override
        void strike(RealNode node) throws Exception {
            node.containerd().terminate();
        }

        @Override
        void heal(RealNode node) throws Exception {
            node.containerd().start();
        }
    },
    /** Each answer takes some 100 ms. */
    RUNTIME_SLOW("containerd with hardly enough of a processor", Expected.stale("RuntimeThrottled", "")) {
        @Override
        void watch(RealNode node) throws Exception {
            node.containerd().watchNeed();
        }

        @Override
        void strike(RealNode node) throws Exception {
            node.containerd().strain();
            node.begun(node.pods().begin("newcomer"));
        }

        @Override
        void heal(RealNode node) throws Exception {
            node.containerd().fast();
        }
    },
    /** Answers from memory continue; starts and stops of pods wait in the kernel. */
    DISK_FROZEN("containerd's disk frozen (fsfreeze)", Expected.culprit("DiskStalled")) {
        @Override
        boolean needsDisk() {
            return true;
        }

        @Override
        void strike(RealNode node) throws Exception {
            node.containerd().disk().freeze();
            node.begun(node.pods().begin("newcomer"));
            node.begun(node.pods().stop(node.victim()));
        }

        @Override
        void heal(RealNode node) throws Exception {
            node.containerd().disk().thaw();
        }
    },
    /** SIGKILL does not reach a container that waits for its volume. */
    UNKILLABLE("a container in state D, its volume frozen", Expected.culprit("DiskStalled|ProcessUninterruptible")) {
        private static final String WRITE = "while :; do echo x >> /data/f; sleep 0.2; done";

        @Override
        void prepare(RealNode node) throws Exception {
            Path mountPoint = node.directory().resolve("volume");
            LoopDisk volume = node.opened(LoopDisk.mount(node.directory().resolve("volume.img"), mountPoint));
            node.volume(volume);
            node.victim(node.pods().run("writer", WRITE, Map.of(mountPoint, "/data")));
        }

        @Override
        void strike(RealNode node) throws Exception {
            node.volume().freeze();
            // A signal that comes before the next write would still reach it.
            Eventually.within(
                    Duration.ofSeconds(10),
                    () -> node.containerd().leftovers().processes().stream()
                            .anyMatch(pid -> ProcessFacts.state(pid) == 'D'));
            node.begun(node.pods().stop(node.victim()));
        }

        @Override
        void heal(RealNode node) throws Exception {
            node.volume().thaw();
        }
    },
    /** As dockerd in incident I-4: calls about one container are not answered, and all others are. */
    CONTAINER_CALLS("all calls about one container hang (relay)", Expected.culprit("ContainerCallHung")) {
        @Override
        void prepare(RealNode node) throws Exception {
            node.relayed();
        }

        @Override
        void strike(RealNode node) {
            node.relay().fault("*:" + node.victim().container(), new CriRelay.Fault.Hang());
            node.relay().fault("*:" + node.victim().sandbox(), new CriRelay.Fault.Hang());
        }

        @Override
        void heal(RealNode node) {
            node.relay().heal("*:" + node.victim().container());
            node.relay().heal("*:" + node.victim().sandbox());
        }
    },
    /** One method waits for a lock: pods cannot be listed, and the runtime reports that it is ready. */
    LIST_CALLS(
            "ListContainers hangs (relay)",
            Expected.stale("RuntimeCallHung|RuntimeHung", "PLEG is not healthy: pleg has yet to be successful")) {
        @Override
        void prepare(RealNode node) throws Exception {
            node.relayed();
        }

        @Override
        void strike(RealNode node) {
            node.relay().fault("ListContainers", new CriRelay.Fault.Hang());
        }

        @Override
        void heal(RealNode node) {
            node.relay().heal("ListContainers");
        }
    },
    /** The runtime works, but does not answer requests for its status. */
    STATUS_CALLS("Status hangs (relay)", Expected.down(Duration.ofSeconds(45), "RuntimeCallHung|RuntimeHung")) {
        @Override
        void prepare(RealNode node) throws Exception {
            node.relayed();
        }

        @Override
        void strike(RealNode node) {
            node.relay().fault("Status", new CriRelay.Fault.Hang());
        }

        @Override
        void heal(RealNode node) {
            node.relay().heal("Status");
        }
    };

    /**
     * What an agent should report.
     *
     * @param ready whether the node stays Ready
     * @param notReadyWithin if not, how soon that must be seen
     * @param readyMessage what Ready says then
     * @param restartedMessage what Ready says if the agent is started during the fault; empty if the node stays Ready
     * @param othersFresh whether the agent can and must know all of the other pods
     * @param condition the condition that names the culprit or the problem
     * @param named its reason or a part of its message, a pattern; empty if nothing should be named
     * @param namedWithin how soon
     */
    record Expected(
            boolean ready,
            Duration notReadyWithin,
            String readyMessage,
            String restartedMessage,
            boolean othersFresh,
            String condition,
            String named,
            Duration namedWithin) {
        private static final Duration SOON = Duration.ofSeconds(20);
        private static final Duration LATER = Duration.ofSeconds(45);
        private static final Duration NEVER = Duration.ZERO;
        private static final String DEGRADED = "RuntimeDegraded";

        /** The node stays Ready, and one of these reasons is named. */
        static Expected culprit(String reasons) {
            return new Expected(true, NEVER, "", "", true, DEGRADED, reasons, SOON);
        }

        /** The node stays Ready, and a condition says what is wrong. */
        static Expected told(String condition, String message) {
            return new Expected(true, NEVER, "", "", true, condition, message, Duration.ofSeconds(30));
        }

        /** The node stays Ready, but knowledge of its pods is out of date. */
        static Expected stale(String reasons, String restartedMessage) {
            return new Expected(true, NEVER, "", restartedMessage, false, DEGRADED, reasons, LATER);
        }

        /** The node becomes NotReady; one of these reasons may be named, too. */
        static Expected notReady(Duration within, String message, String restartedMessage, String reasons) {
            return new Expected(false, within, message, restartedMessage, false, DEGRADED, reasons, LATER);
        }

        /** The culprit is named later: its calls end and begin again. */
        Expected later() {
            return new Expected(
                    ready, notReadyWithin, readyMessage, restartedMessage, othersFresh, condition, named, LATER);
        }

        /** The runtime has ended or does not answer. */
        static Expected down(Duration within, String reasons) {
            return notReady(
                    within,
                    "container runtime is down",
                    "container runtime status check may not have completed yet",
                    reasons);
        }

        /** What Ready should be after a restart of the agent. */
        String restartedStatus() {
            return restartedMessage.isEmpty() ? Condition.TRUE : Condition.FALSE;
        }

        /** Whether a culprit should be named. */
        boolean names() {
            return !named.isEmpty();
        }
    }

    private final String text;
    private final Expected expected;

    RuntimeFault(String text, Expected expected) {
        this.text = text;
        this.expected = expected;
    }

    /** A description. */
    String text() {
        return text;
    }

    Expected expected() {
        return expected;
    }

    /** Whether containerd needs a disk of its own. */
    boolean needsDisk() {
        return false;
    }

    /** More flags of the agent. */
    List<String> agentFlags() {
        return List.of();
    }

    /** Prepares what must exist before the agent starts. */
    void prepare(RealNode node) throws Exception {}

    /** Looks at the calm node, before the time of the fault begins. */
    void watch(RealNode node) throws Exception {}

    /** Causes the fault. */
    abstract void strike(RealNode node) throws Exception;

    /** Ends it. */
    abstract void heal(RealNode node) throws Exception;
}
