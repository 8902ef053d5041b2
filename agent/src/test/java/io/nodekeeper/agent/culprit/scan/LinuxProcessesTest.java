package io.nodekeeper.agent.culprit.scan;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.Signals;
import io.nodekeeper.time.DeadlineExceededException;
import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.Workers;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Scans of an artificial {@code /proc} and of the real one. */
class LinuxProcessesTest {
    private static final String SOCKET = "/run/x/containerd.sock";
    private static final String ID = "ab".repeat(32);
    private static final String NEW = "cd".repeat(32);
    private static final boolean ARM = System.getProperty("os.arch").equals("aarch64");

    @TempDir
    Path root;

    private final ThreadLoop loop = new ThreadLoop("test");
    private final Workers workers = new Workers("scan", 2, loop);

    @BeforeEach
    void machine() throws IOException {
        file("proc/uptime", "1000.00 900.00\n");
        file(
                "proc/net/unix",
                "Num       RefCount Protocol Flags    Type St Inode Path\n"
                        + "0000: 00000003 00000000 00000000 0001 03 41 " + SOCKET + "\n"
                        + "0000: 00000002 00000000 00010000 0001 01 42 " + SOCKET + "\n");
        process(1, 0, 'S', 1, "init");
        process(50, 1, 'S', 1, "sshd");
        process(100, 1, 'S', 500, "/usr/bin/containerd");
        Files.createDirectories(root.resolve("proc/100/fd"));
        Files.createSymbolicLink(root.resolve("proc/100/fd/9"), Path.of("socket:[42]"));
        process(
                200,
                1,
                'S',
                1_000,
                "/usr/bin/containerd-shim-runc-v2",
                "-namespace",
                "k8s.io",
                "-id",
                ID,
                "-address",
                SOCKET);
        process(201, 200, 'S', 1_100, "nginx", "-g", "daemon off;");
        process(
                900,
                1,
                'S',
                1_000,
                "/usr/bin/containerd-shim-runc-v2",
                "-id",
                "ff".repeat(32),
                "-address",
                "/other.sock");
        process(901, 900, 'T', 1_000, "stranger");
    }

    @AfterEach
    void close() {
        workers.close();
        loop.close();
    }

    @Test
    void onlyTheRuntimesOwnProcessesAreSeen() throws Exception {
        List<ProcessInfo> seen = scan(false);

        assertThat(seen.stream().map(info -> info.ref().pid() + " " + info.role()))
                .containsExactlyInAnyOrder("100 RUNTIME", "200 SHIM", "201 CONTAINER");
        ProcessInfo shim = of(seen, 200);
        assertThat(shim.ids()).containsExactly(ID);
        assertThat(shim.age()).isEqualTo(Duration.ofSeconds(990));
        assertThat(of(seen, 201).ref().command()).isEqualTo("nginx -g daemon off;");
    }

    @Test
    void runtimeIsFoundBehindThousandsOfOtherSockets() throws Exception {
        // given a program with 20,000 sockets, which the kernel lists first
        StringBuilder list = new StringBuilder("Num       RefCount Protocol Flags    Type St Inode Path\n");
        for (int i = 0; i < 20_000; i++) {
            list.append("0000: 00000003 00000000 00000000 0001 03 ")
                    .append(1_000 + i)
                    .append(" /run/leak/")
                    .append(i)
                    .append('\n');
        }
        file("proc/net/unix", list + "0000: 00000002 00000000 00010000 0001 01 42 " + SOCKET + "\n");

        assertThat(of(scan(false), 100).role()).isEqualTo(ProcessRole.RUNTIME);
    }

    /** The kernel keeps the system call and the stack of a process locked while it starts a program on a file system that hangs. */
    @Test
    void processWhoseSystemCallCannotBeReadEndsNoLaterScan() throws Exception {
        // given a process in state D whose system call cannot be read
        process(201, 200, 'D', 1_100, "starter");
        file("proc/201/task/201/stat", stat(201, "starter", 'D', 200, 1_100));
        file("proc/201/task/201/wchan", "request_wait_answer");
        Path call = root.resolve("proc/201/task/201/syscall");
        assertThat(new ProcessBuilder("mkfifo", call.toString()).start().waitFor())
                .isZero();
        try (Workers many = new Workers("scan", 5, loop)) {
            LinuxProcesses processes = new LinuxProcesses(root, Path.of(SOCKET), many, loop.clock());

            // when two scans have hung there
            assertThat(processes.scan(Set.of(), true)).failsWithin(Duration.ofSeconds(20));
            assertThat(processes.scan(Set.of(), true)).failsWithin(Duration.ofSeconds(20));

            // then the next one leaves it alone, and says for what it waits
            Stall stall = of(processes.scan(Set.of(), true).get(20, TimeUnit.SECONDS), 201)
                    .stalls()
                    .getFirst();
            assertThat(stall.thread()).isEqualTo(201);
            assertThat(stall.waitsIn()).isEqualTo("request_wait_answer");
        } finally {
            // The hung scans end.
            Files.writeString(call, "");
        }
    }

    @Test
    void processOfASlowScanIsReadAgainOnceThatHasEnded() throws Exception {
        // given a scan that took too long at a process
        process(201, 200, 'D', 1_100, "starter");
        file("proc/201/task/201/stat", stat(201, "starter", 'D', 200, 1_100));
        Path call = root.resolve("proc/201/task/201/syscall");
        assertThat(new ProcessBuilder("mkfifo", call.toString()).start().waitFor())
                .isZero();
        LinuxProcesses processes = new LinuxProcesses(root, Path.of(SOCKET), workers, loop.clock());
        assertThat(processes.scan(Set.of(), true)).failsWithin(Duration.ofSeconds(20));

        // when it has ended
        file("proc/201/mem", "x".repeat(0x40) + "/srv/file" + "\0" + "x".repeat(8_192));
        // Under another name: a second look at the pipe would wait for ever.
        Path pipe = Files.move(call, root.resolve("pipe"));
        file("proc/201/task/201/syscall", (ARM ? 56 : 257) + " 0xffffff9c 0x40 0x241 0x1b6 0x0 0x0 0x7ffe 0x7fdf\n");
        Files.writeString(pipe, "");
        Optional<String> path = Optional.empty();
        for (int look = 0; look < 100 && path.isEmpty(); look++) {
            Thread.sleep(100);
            path = of(processes.scan(Set.of(), true).get(20, TimeUnit.SECONDS), 201)
                    .stalls()
                    .getFirst()
                    .path();
        }

        // then its memory is read again
        assertThat(path).contains("/srv/file");
    }

    @Test
    void knownProcessThatWasStoppedContinuedOrReplacedHasChanged() throws Exception {
        LinuxProcesses processes = new LinuxProcesses(root, Path.of(SOCKET), workers, loop.clock());
        List<ProcessInfo> known = scan(false);
        assertThat(changed(processes, known)).isFalse();

        process(201, 200, 'D', 1_100, "nginx", "-g", "daemon off;");
        assertThat(changed(processes, known)).as("it runs").isFalse();
        process(201, 200, 'T', 1_100, "nginx", "-g", "daemon off;");
        assertThat(changed(processes, known)).as("stopped").isTrue();
        List<ProcessInfo> stopped = scan(false);
        assertThat(changed(processes, stopped)).as("still stopped").isFalse();
        process(201, 200, 'S', 1_100, "nginx", "-g", "daemon off;");
        assertThat(changed(processes, stopped)).as("continued").isTrue();
        process(201, 200, 'S', 5_000, "nginx", "-g", "daemon off;");
        assertThat(changed(processes, known)).as("another process").isTrue();
        Files.delete(root.resolve("proc/201/stat"));
        assertThat(changed(processes, known)).as("gone").isTrue();
    }

    private static boolean changed(LinuxProcesses processes, List<ProcessInfo> known) throws Exception {
        return processes.changed(known).get(5, TimeUnit.SECONDS);
    }

    @Test
    void shimsOfKnownSandboxesLeadToTheRuntimeBehindARelay() throws Exception {
        LinuxProcesses relay = new LinuxProcesses(root, Path.of("/run/x/relay.sock"), workers, loop.clock());

        assertThat(relay.scan(Set.of(ID), false).get(5, TimeUnit.SECONDS).stream()
                        .map(info -> info.ref().pid() + " " + info.role()))
                .containsExactlyInAnyOrder("100 RUNTIME", "200 SHIM", "201 CONTAINER");
    }

    @ParameterizedTest
    @CsvSource({"true, 1", "false, 4"})
    void processWithThePidOfOneOutsideIsFound(boolean deep, int scans) throws Exception {
        LinuxProcesses processes = new LinuxProcesses(root, Path.of(SOCKET), workers, loop.clock());
        processes.scan(Set.of(ID), false).get(5, TimeUnit.SECONDS);

        process(50, 200, 'S', 99_000, "sleep", "9");
        List<ProcessInfo> seen = List.of();
        for (int scan = 0; scan < scans; scan++) {
            seen = processes.scan(Set.of(ID), deep).get(5, TimeUnit.SECONDS);
        }

        assertThat(of(seen, 50).role()).isEqualTo(ProcessRole.CONTAINER);
    }

    @Test
    void holderOutsideIsFoundAlsoByAScanThatSkipsProcessesOutside() throws Exception {
        LinuxProcesses processes = new LinuxProcesses(root, Path.of(SOCKET), workers, loop.clock());
        processes.scan(Set.of(ID), false).get(5, TimeUnit.SECONDS);

        process(300, 100, 'S', 99_000, "/opt/cni/bin/bridge");
        file("proc/300/environ", "CNI_COMMAND=ADD\0");
        file("proc/300/task/300/wchan", "fcntl_setlk");
        file("proc/300/task/300/syscall", "72 0x3 0x7 0x1\n");
        file(
                "proc/locks",
                "1: POSIX  ADVISORY  WRITE 50 fe:00:7 0 EOF\n1: -> POSIX  ADVISORY  WRITE 300 fe:00:7 0 EOF\n");

        List<ProcessInfo> seen = processes.scan(Set.of(ID), false).get(5, TimeUnit.SECONDS);

        assertThat(of(seen, 300).waits().getFirst().holders()).containsExactly(50);
        assertThat(of(seen, 50).role()).isEqualTo(ProcessRole.OUTSIDER);
    }

    @ParameterizedTest
    @CsvSource({"true, 1", "false, 4"})
    void processWithThePidOfAnEndedThreadOfTheKernelIsFound(boolean deep, int scans) throws Exception {
        LinuxProcesses processes = new LinuxProcesses(root, Path.of(SOCKET), workers, loop.clock());
        file("proc/60/stat", stat(60, "kworker/0:1", 'I', 2, 1));
        file("proc/60/cmdline", "");
        processes.scan(Set.of(ID), false).get(5, TimeUnit.SECONDS);

        process(60, 200, 'S', 99_000, "sleep", "9");
        List<ProcessInfo> seen = List.of();
        for (int scan = 0; scan < scans; scan++) {
            seen = processes.scan(Set.of(ID), deep).get(5, TimeUnit.SECONDS);
        }

        assertThat(of(seen, 60).role()).isEqualTo(ProcessRole.CONTAINER);
    }

    @Test
    void networkPluginNamesItsPodEvenAsAnOrphan() throws Exception {
        process(300, 100, 'S', 99_000, "/usr/bin/python3", "/opt/cni/bin/gate");
        process(310, 1, 'S', 99_000, "/opt/cni/bin/bridge");
        for (int pid : List.of(300, 310)) {
            file(
                    "proc/" + pid + "/environ",
                    "PATH=/bin\0CNI_COMMAND=ADD\0CNI_CONTAINERID=" + NEW + "\0CNI_ARGS=IgnoreUnknown=1;"
                            + "K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web;K8S_POD_UID=w1\0");
        }

        List<ProcessInfo> seen = scan(false);

        ProcessInfo plugin = of(seen, 300);
        assertThat(plugin.role()).isEqualTo(ProcessRole.CNI_PLUGIN);
        assertThat(plugin.verb()).isEqualTo("ADD");
        assertThat(plugin.ids()).containsExactly(NEW);
        assertThat(plugin.pod()).contains(new PodIdentity("w1", "web", "shop"));
        assertThat(plugin.own()).isTrue();
        assertThat(of(seen, 310).own()).isFalse();
    }

    @Test
    void ociRuntimeIsKnownByItsArgumentsAndFindsItsPodInTheBundle() throws Exception {
        String bundle = "/run/x/task/k8s.io/" + NEW;
        file(bundle.substring(1) + "/config.json", """
                {"annotations":{"io.kubernetes.cri.sandbox-name":"web","io.kubernetes.cri.sandbox-namespace":"shop",
                 "io.kubernetes.cri.sandbox-uid":"w1"}}""");
        process(
                400,
                200,
                'S',
                99_000,
                "/bin/bash",
                "/x/runc-gate",
                "--root",
                "/run/containerd/runc/k8s.io",
                "--log",
                bundle + "/log.json",
                "--log-format",
                "json",
                "create",
                "--bundle",
                bundle,
                NEW);

        ProcessInfo runc = of(scan(false), 400);

        assertThat(runc.role()).isEqualTo(ProcessRole.OCI_RUNTIME);
        assertThat(runc.verb()).isEqualTo("create");
        assertThat(runc.ids()).containsExactly(NEW);
        assertThat(runc.pod()).contains(new PodIdentity("w1", "web", "shop"));
        assertThat(CommandLines.program(runc.ref().command())).isEqualTo("runc-gate");
    }

    @Test
    void programOfAContainerWithSimilarFlagsIsNoOciRuntime() throws Exception {
        process(202, 201, 'S', 1_100, "myapp", "run", "--log=info", "--root=/data");
        process(203, 201, 'S', 1_100, "runc", "-root", "/run/runc", "-log", "/x/log.json", "delete", NEW);
        process(204, 201, 'S', 1_100, "myapp", "run", "--root=/data", NEW);

        List<ProcessInfo> seen = scan(false);

        assertThat(of(seen, 202).role()).isEqualTo(ProcessRole.CONTAINER);
        assertThat(of(seen, 203).role()).isEqualTo(ProcessRole.OCI_RUNTIME);
        assertThat(of(seen, 204).role()).isEqualTo(ProcessRole.CONTAINER);
    }

    @Test
    void programOfAContainerHasNoRoleByItsArguments() throws Exception {
        // given programs in a container with the arguments of runc, of a shim and the environment of a plugin
        String bundle = "/var/lib/kubelet/pods/u1/volumes/kubernetes.io~empty-dir/v";
        file(bundle.substring(1) + "/config.json", """
                {"annotations":{"io.kubernetes.cri.sandbox-name":"web","io.kubernetes.cri.sandbox-namespace":"shop"}}""");
        process(202, 201, 'S', 1_100, "x", "--root=/x", "--log=" + bundle + "/log.json", "exec", NEW);
        process(203, 201, 'S', 1_100, "xshim", "-id", ID, "-address", SOCKET);
        process(204, 1, 'S', 1_100, "/opt/cni/bin/bridge");
        file("proc/204/environ", "CNI_COMMAND=ADD\0CNI_ARGS=K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web\0");
        for (int pid : List.of(202, 203, 204)) {
            file("proc/" + pid + "/cgroup", "0::/kubepods/podu1/" + NEW + "\n");
        }
        namespaces(1, 1);
        namespaces(202, 2);

        // when they are scanned
        List<ProcessInfo> seen = scan(true);

        // then they are of the container, and name no other pod
        assertThat(of(seen, 202).role()).isEqualTo(ProcessRole.CONTAINER);
        assertThat(of(seen, 202).pod()).isEmpty();
        assertThat(of(seen, 203).role()).isEqualTo(ProcessRole.CONTAINER);
        assertThat(seen).noneMatch(info -> info.ref().pid() == 204);
    }

    @Test
    void shimThatAContainerForgesMakesNoOtherProcessTheRuntime() throws Exception {
        // given a program of a container that names the socket of another daemon as the runtime's
        file(
                "proc/net/unix",
                "Num       RefCount Protocol Flags    Type St Inode Path\n"
                        + "0000: 00000002 00000000 00010000 0001 01 42 " + SOCKET + "\n"
                        + "0000: 00000002 00000000 00010000 0001 01 43 /run/dbus/system_bus_socket\n");
        process(60, 1, 'S', 1, "dbus-daemon");
        Files.createDirectories(root.resolve("proc/60/fd"));
        Files.createSymbolicLink(root.resolve("proc/60/fd/3"), Path.of("socket:[43]"));
        process(202, 201, 'S', 1_100, "xshim", "-id", ID, "-address", "/run/dbus/system_bus_socket");
        file("proc/202/cgroup", "0::/kubepods/podu1/" + NEW + "\n");

        // when the processes are scanned
        List<ProcessInfo> seen = new LinuxProcesses(root, Path.of(SOCKET), workers, loop.clock())
                .scan(Set.of(ID), false)
                .get(5, TimeUnit.SECONDS);

        // then only the real runtime is one
        assertThat(seen.stream()
                        .filter(info -> info.role() == ProcessRole.RUNTIME)
                        .map(info -> info.ref().pid()))
                .containsExactly(100);
    }

    /** As with Kata, whose shims are in the cgroup of their sandbox, and CRI-O, where conmon and runc are. */
    @Test
    void shimAndRuncInTheCgroupOfAContainerAreKnownByTheNamespacesOfTheHost() throws Exception {
        process(210, 1, 'S', 1_000, "/usr/bin/containerd-shim-kata-v2", "-id", ID, "-address", SOCKET);
        process(211, 210, 'S', 1_100, "runc", "-root", "/run/runc", "-log", "/x/log.json", "create", NEW);
        process(212, 210, 'S', 1_100, "runc", "-root", "/run/runc", "-log", "/x/log.json", "create", NEW);
        for (int pid : List.of(210, 211, 212)) {
            file("proc/" + pid + "/cgroup", "0::/kubepods/podu1/" + ID + "\n");
        }
        namespaces(100, 7);
        namespaces(210, 7);
        namespaces(1, 1);
        namespaces(211, 1);
        namespaces(212, 9);

        List<ProcessInfo> seen = scan(false);

        assertThat(List.of(210, 211, 212))
                .extracting(pid -> of(seen, pid).role())
                .containsExactly(ProcessRole.SHIM, ProcessRole.OCI_RUNTIME, ProcessRole.CONTAINER);
    }

    private void namespaces(int pid, int mounts) throws IOException {
        Path directory = Files.createDirectories(root.resolve("proc/" + pid + "/ns"));
        Files.createSymbolicLink(directory.resolve("pid"), Path.of("pid:[4026531836]"));
        Files.createSymbolicLink(directory.resolve("mnt"), Path.of("mnt:[" + mounts + "]"));
    }

    @Test
    void namedPipeInPlaceOfTheConfigurationOfABundleHangsNoScan() throws Exception {
        // given a command of runc whose bundle has a named pipe, and one whose bundle has a link
        String bundle = "/run/x/task/k8s.io/" + NEW;
        Files.createDirectories(root.resolve(bundle.substring(1)));
        assertThat(new ProcessBuilder(
                                "mkfifo",
                                root.resolve(bundle.substring(1) + "/config.json")
                                        .toString())
                        .start()
                        .waitFor())
                .isZero();
        process(400, 200, 'S', 99_000, "runc", "-root", "/run/runc", "-log", bundle + "/log.json", "create", NEW);
        String other = "/run/x/task/k8s.io/" + ID;
        file("etc/secret.json", "{\"annotations\":{\"io.kubernetes.cri.sandbox-name\":\"web\"}}");
        Files.createDirectories(root.resolve(other.substring(1)));
        Files.createSymbolicLink(root.resolve(other.substring(1) + "/config.json"), root.resolve("etc/secret.json"));
        process(401, 200, 'S', 99_000, "runc", "-root", "/run/runc", "-log", other + "/log.json", "create", ID);

        // when the processes are scanned
        List<ProcessInfo> seen = scan(false);

        // then the scan ends, and neither is read
        assertThat(of(seen, 400).role()).isEqualTo(ProcessRole.OCI_RUNTIME);
        assertThat(of(seen, 400).pod()).isEmpty();
        assertThat(of(seen, 401).pod()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"' ', ''", "'  x', ''", "/bin/sh, sh", "sh /x/gate, gate", "'', ''"})
    void everyLineHasAProgram(String line, String program) {
        assertThat(CommandLines.program(line)).isEqualTo(program);
    }

    @Test
    void processWhoseOnlyArgumentIsABlankIsCalledAsTheKernelDoes() throws Exception {
        process(201, 200, 'S', 1_100, "nginx");
        file("proc/201/cmdline", " \0");

        ProcessRef blank = of(scan(false), 201).ref();

        assertThat(CommandLines.program(blank.command())).isEqualTo("[nginx");
        assertThat(new LinuxProcesses(root, Path.of(SOCKET), workers, loop.clock()).lives(blank))
                .isTrue();
    }

    @Test
    void threadThatWaitsForItsVforkIsNoStall() throws Exception {
        // given threads in state D: two that started a child, one by its call and one by the kernel's function, one
        // that waits
        // for a lock before it can, and one on a disk
        process(201, 200, 'D', 1_100, "builder");
        for (int thread : List.of(201, 202, 203, 204)) {
            file("proc/201/task/" + thread + "/stat", stat(thread, "builder", 'D', 200, 1_100));
        }
        file("proc/201/task/201/syscall", (ARM ? 220 : 58) + " 0x3 0x7f 0x10 0x0 0x0 0x0 0x7ffe 0x7fdf\n");
        file("proc/201/task/202/wchan", "kernel_clone");
        file("proc/201/task/203/wchan", "io_schedule");
        file("proc/201/task/204/syscall", (ARM ? 220 : 58) + " 0x3 0x7f 0x10 0x0 0x0 0x0 0x7ffe 0x7fdf\n");
        file("proc/201/task/204/wchan", "percpu_rwsem_wait");

        // when they are scanned, then only the last two are stalls
        assertThat(of(scan(true), 201).stalls()).extracting(Stall::thread).containsExactlyInAnyOrder(203, 204);
    }

    @Test
    void argumentThatIsNoDescriptorNamesNoFile() throws Exception {
        process(201, 200, 'D', 1_100, "builder");
        file("proc/201/task/201/stat", stat(201, "builder", 'D', 200, 1_100));
        file("proc/201/task/201/syscall", (ARM ? 260 : 61) + " 0x3 0x7f 0x10 0x0 0x0 0x0 0x7ffe 0x7fdf\n");
        Files.createDirectories(root.resolve("proc/201/fd"));
        Files.createSymbolicLink(root.resolve("proc/201/fd/3"), Path.of("/data/file"));

        assertThat(of(scan(true), 201).stalls().getFirst().file()).isEmpty();
    }

    @Test
    void programThatRuncStartsIsItsHelperUnlessItIsOfTheContainer() throws Exception {
        process(203, 200, 'S', 99_000, "runc", "-root", "/run/runc", "-log", "/x/log.json", "kill", NEW);
        process(204, 203, 'S', 99_000, "/usr/bin/hook");
        process(205, 204, 'S', 99_000, "sleep", "60");
        process(206, 203, 'S', 99_000, "runc", "init");
        process(207, 203, 'S', 99_000, "nginx");
        file("proc/207/cgroup", "0::/kubepods/pod1/" + NEW + "\n");

        List<ProcessInfo> seen = scan(false);

        assertThat(List.of(204, 205, 206, 207))
                .extracting(pid -> of(seen, pid).role())
                .containsExactly(ProcessRole.HELPER, ProcessRole.HELPER, ProcessRole.CONTAINER, ProcessRole.CONTAINER);
    }

    @Test
    void freezerOfTheRuntimeAndOfAnOldCommandIsReadThoughNothingIsLate() throws Exception {
        for (String group : List.of("rt", "plugin", "young", "pod")) {
            file("sys/fs/cgroup/" + group + "/cgroup.events", "populated 1\nfrozen 1\n");
            file("sys/fs/cgroup/" + group + "/cgroup.freeze", "1\n");
        }
        process(300, 100, 'S', 99_700, "/opt/cni/bin/bridge");
        process(301, 300, 'S', 99_700, "/opt/cni/bin/host-local");
        process(310, 100, 'S', 99_900, "/opt/cni/bin/bridge");
        for (int pid : List.of(300, 301, 310)) {
            file("proc/" + pid + "/environ", "CNI_COMMAND=ADD\0");
        }
        file("proc/100/cgroup", "0::/rt\n");
        file("proc/301/cgroup", "0::/plugin\n");
        file("proc/310/cgroup", "0::/young\n");
        file("proc/201/cgroup", "0::/pod\n");

        List<ProcessInfo> seen = scan(false);

        assertThat(of(seen, 100).waits()).containsExactly(new Wait.Frozen("/sys/fs/cgroup/rt", 2, false));
        assertThat(of(seen, 301).waits()).containsExactly(new Wait.Frozen("/sys/fs/cgroup/plugin", 2, false));
        assertThat(of(seen, 310).waits()).isEmpty();
        assertThat(of(seen, 201).waits()).isEmpty();
    }

    @Test
    void commandIsExaminedBeforeShimsSpendTheBudgetOfTheScan() throws Exception {
        for (int shim = 210; shim < 225; shim++) {
            process(shim, 1, 'S', 1_000, "/usr/bin/containerd-shim-runc-v2", "-id", ID, "-address", SOCKET);
            Files.createDirectories(root.resolve("proc/" + shim + "/fd"));
            for (int fd = 0; fd < 1_000; fd++) {
                Files.createSymbolicLink(root.resolve("proc/" + shim + "/fd/" + fd), Path.of("/x"));
            }
        }
        process(300, 100, 'S', 99_000, "/opt/cni/bin/bridge");
        process(301, 300, 'S', 99_000, "/opt/cni/bin/host-local");
        file("proc/300/environ", "CNI_COMMAND=ADD\0");
        file("proc/300/task/300/wchan", "do_wait");
        file("proc/300/task/300/syscall", "61 0x12d 0x7f 0x0 0x0\n");

        assertThat(of(scan(true), 300).waits()).containsExactly(new Wait.ForChild(301));
    }

    @Test
    void commandsThatTheRuntimeHasOpenInAContainerAreCountedOnceEach() throws Exception {
        String io = "/run/containerd/io.containerd.grpc.v1.cri/containers/" + NEW + "/io/";
        List<String> open = List.of(
                io + "1/" + NEW + "-stdout",
                io + "1/" + NEW + "-stderr",
                io + "2/" + ID + "-stdout",
                io + "2/" + ID + "-stderr",
                io + "3/command-stdin",
                "/containers/" + NEW + "/io/x",
                "/data/file");
        for (int i = 0; i < open.size(); i++) {
            Files.createSymbolicLink(root.resolve("proc/100/fd/" + (20 + i)), Path.of(open.get(i)));
        }

        assertThat(of(scan(true), 100).commands()).containsExactly(Map.entry(NEW, 2));
        assertThat(of(scan(false), 100).commands()).isEmpty();
    }

    @Test
    void processThatRunsAnotherProgramIsNotTheSameAnyMore() throws Exception {
        LinuxProcesses processes = new LinuxProcesses(root, Path.of(SOCKET), workers, loop.clock());
        process(202, 200, 'S', 1_100, "runc", "init");
        ProcessRef init = of(scan(false), 202).ref();
        assertThat(processes.lives(init)).isTrue();

        process(202, 200, 'S', 1_100, "nginx", "-g", "daemon off;");

        assertThat(processes.lives(init)).isFalse();
        assertThat(processes.lives(of(scan(false), 202).ref())).isTrue();
    }

    @Test
    void memoryOfAStuckProcessIsNotReadToTellWhetherItIsTheSame() throws Exception {
        LinuxProcesses processes = new LinuxProcesses(root, Path.of(SOCKET), workers, loop.clock());
        process(202, 200, 'S', 1_100, "writer", "/data");
        ProcessRef writer = of(scan(false), 202).ref();
        process(202, 200, 'D', 1_100, "writer", "/data");

        assertThat(processes.lives(writer)).isFalse();
        assertThat(processes.lives(new ProcessRef(202, 1_100, "[writer (x) ]"))).isTrue();
    }

    @Test
    void unkillableThreadShowsItsKernelFunctionAndFileSystem() throws Exception {
        process(201, 200, 'D', 1_100, "writer");
        file("proc/201/task/205/stat", stat(205, "writer", 'D', 200, 1_100));
        file("proc/201/task/205/wchan", "percpu_rwsem_wait");
        file("proc/201/task/205/stack", "[<0>] percpu_rwsem_wait+0x1/0x2\n[<0>] vfs_write+0x3/0x4\n");
        file("proc/201/task/205/syscall", (ARM ? 64 : 1) + " 0x3 0x7f 0x10 0x0 0x0 0x0 0x7ffe 0x7fdf\n");
        file("proc/201/task/205/status", "Name: writer\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t2\n");
        file("proc/201/cgroup", "1:memory:/kubepods/pod1/" + NEW + "\n");
        file("proc/201/mountinfo", "1 0 0:5 / / rw - overlay overlay rw\n2 1 7:0 / /data rw - ext4 /dev/loop0 rw\n");
        file("proc/self/mountinfo", "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n9 1 7:0 / /mnt/vol rw - ext4 /dev/loop0 rw\n");
        Files.createDirectories(root.resolve("proc/201/fd"));
        Files.createSymbolicLink(root.resolve("proc/201/fd/3"), Path.of("/data/file"));

        ProcessInfo stuck = of(scan(false), 201);

        assertThat(stuck.ids()).containsExactly(NEW);
        assertThat(stuck.stalls())
                .containsExactly(new Stall(
                        205,
                        9,
                        "percpu_rwsem_wait",
                        List.of("percpu_rwsem_wait", "vfs_write"),
                        Optional.of("/data/file"),
                        Optional.empty(),
                        List.of(new Stall.Mount("/mnt/vol", "/dev/loop0", "ext4"))));
        assertThat(stuck.stalls().getFirst().onFrozen()).isTrue();
    }

    @Test
    void onlyVolumeOfAContainerIsNamedWhereTheCallNamesNoFile() throws Exception {
        process(201, 200, 'D', 1_100, "writer");
        file("proc/201/task/201/stat", stat(201, "writer", 'D', 200, 1_100));
        file("proc/201/task/201/wchan", "percpu_rwsem_wait");
        file(
                "proc/201/mountinfo",
                "1 0 0:5 / / rw - overlay overlay rw\n3 1 8:1 /etc/hosts /etc/hosts rw - ext4 /dev/sda1 rw\n"
                        + "2 1 7:0 /sub /data rw - ext4 /dev/loop0 rw\n");
        file("proc/self/mountinfo", "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n9 1 7:0 / /mnt/vol rw - ext4 /dev/loop0 rw\n");

        assertThat(of(scan(false), 201).stalls().getFirst().mounts())
                .containsExactly(new Stall.Mount("/mnt/vol", "/dev/loop0", "ext4"));
    }

    /** openat(AT_FDCWD, "volume/file", ...): the working directory is on another disk than the path. */
    @Test
    void pathOfAnOpenThatHangsNamesItsFileSystemAndNotThatOfTheWorkingDirectory() throws Exception {
        hungOpen("volume/file");

        Stall stall = of(scan(false), 201).stalls().getFirst();

        assertThat(stall.path()).contains("/srv/volume/file");
        assertThat(stall.file()).isEmpty();
        assertThat(stall.mounts())
                .containsExactly(
                        new Stall.Mount("/srv/volume", "/dev/loop1", "ext4"),
                        new Stall.Mount("/srv", "/dev/loop0", "ext4"));
    }

    /** A look-up waits in functions of the kernel that do not tell a disk from other causes. */
    @Test
    void pathOnADeviceShowsThatItsFileSystemIsWaitedFor() throws Exception {
        hungOpen("volume/file");
        file("proc/201/task/201/wchan", "d_alloc_parallel");

        assertThat(of(scan(false), 201).stalls().getFirst().onDisk()).isTrue();
    }

    @Test
    void pathOnTheRootFileSystemNamesNoOtherMountThatTheProcessUses() throws Exception {
        hungOpen("/etc/file");

        assertThat(of(scan(false), 201).stalls().getFirst().mounts()).isEmpty();
    }

    private void hungOpen(String path) throws Exception {
        process(201, 200, 'D', 1_100, "writer");
        file("proc/201/task/201/stat", stat(201, "writer", 'D', 200, 1_100));
        file("proc/201/task/201/wchan", "percpu_rwsem_wait");
        file("proc/201/task/201/syscall", (ARM ? 56 : 257) + " 0xffffff9c 0x40 0x241 0x1b6 0x0 0x0 0x7ffe 0x7fdf\n");
        file("proc/201/mem", "x".repeat(0x40) + path + "\0" + "x".repeat(8_192));
        String mounts = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 7:0 / /srv rw - ext4 /dev/loop0 rw\n"
                + "3 2 7:1 / /srv/volume rw - ext4 /dev/loop1 rw\n";
        file("proc/201/mountinfo", mounts);
        file("proc/self/mountinfo", mounts);
        Files.createSymbolicLink(root.resolve("proc/201/cwd"), Path.of("/srv"));
    }

    @Test
    void quotaOfTheRuntimesCgroupIsRead() throws Exception {
        file("proc/100/cgroup", "4:cpu,cpuacct:/system/containerd\n0::/\n");
        file("sys/fs/cgroup/cpu,cpuacct/system/containerd/cpu.stat", "nr_periods 50\nnr_throttled 45\n");

        assertThat(of(scan(false), 100).cpu()).contains(new CpuPeriods(50, 45));
    }

    @Test
    void runtimeIsFoundAgainAfterItsRestart() throws Exception {
        LinuxProcesses processes = new LinuxProcesses(root, Path.of(SOCKET), workers, loop.clock());
        assertThat(of(processes.scan(Set.of(), false).get(5, TimeUnit.SECONDS), 100)
                        .role())
                .isEqualTo(ProcessRole.RUNTIME);

        Files.delete(root.resolve("proc/100/fd/9"));
        Files.delete(root.resolve("proc/100/stat"));
        process(150, 1, 'S', 90_000, "/usr/bin/containerd");
        Files.createDirectories(root.resolve("proc/150/fd"));
        Files.createSymbolicLink(root.resolve("proc/150/fd/9"), Path.of("socket:[42]"));

        assertThat(of(processes.scan(Set.of(), false).get(5, TimeUnit.SECONDS), 150)
                        .role())
                .isEqualTo(ProcessRole.RUNTIME);
    }

    @Test
    void stoppedChildIsSeenInTheRealProcAndContinuesAfterSigcont() throws Exception {
        Path socket = Files.createTempDirectory("nk").resolve("c.sock");
        Process sleep = new ProcessBuilder("sleep", "60").start();
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            // The process that listens is the runtime, and its children belong to it: this test process and its child.
            server.bind(UnixDomainSocketAddress.of(socket));
            LinuxProcesses processes = new LinuxProcesses(Path.of("/"), socket, workers, loop.clock());
            int pid = (int) sleep.pid();
            ProcessRef ref = of(scanned(processes, true), pid).ref();
            assertThat(ref.command()).isEqualTo("sleep 60");

            new ProcessBuilder("kill", "-STOP", "" + pid).start().waitFor();
            // The kernel stops a process when it next schedules it, so the first scans may come too early.
            char state = 'S';
            for (int look = 0; look < 1_000 && state != 'T'; look++) {
                state = of(scanned(processes, false), pid).state();
            }
            assertThat(state).isEqualTo('T');

            assertThat(processes.lives(ref)).isTrue();
            assertThat(processes.lives(new ProcessRef(pid, ref.startTicks() + 1, ref.command())))
                    .isFalse();
            Signals.send(pid, Signals.CONT);
            for (int look = 0; look < 1_000 && state == 'T'; look++) {
                state = of(scanned(processes, false), pid).state();
            }
            assertThat(state).isNotEqualTo('T');
            Signals.send(pid, Signals.KILL);
            assertThat(sleep.waitFor(5, TimeUnit.SECONDS)).isTrue();
            assertThat(processes.lives(ref)).isFalse();
        } finally {
            sleep.destroyForcibly();
            Files.deleteIfExists(socket);
        }
    }

    /** What the first scan finds that ends in time: on a busy machine one of the real {@code /proc} may take longer. */
    private static List<ProcessInfo> scanned(LinuxProcesses processes, boolean deep) throws Exception {
        for (int scan = 0; scan < 20; scan++) {
            try {
                return processes.scan(Set.of(), deep).get(5, TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                assertThat(e).hasCauseInstanceOf(DeadlineExceededException.class);
            }
        }
        throw new AssertionError("none of 20 scans ended in time");
    }

    private List<ProcessInfo> scan(boolean deep) throws Exception {
        return new LinuxProcesses(root, Path.of(SOCKET), workers, loop.clock())
                .scan(Set.of(), deep)
                .get(5, TimeUnit.SECONDS);
    }

    private static ProcessInfo of(List<ProcessInfo> processes, int pid) {
        return processes.stream()
                .filter(info -> info.ref().pid() == pid)
                .findFirst()
                .orElseThrow(() -> new AssertionError("pid " + pid + " is not among " + processes));
    }

    private void process(int pid, int parent, char state, long start, String... arguments) throws IOException {
        String name = Path.of(arguments[0]).getFileName().toString();
        file("proc/" + pid + "/stat", stat(pid, name + " (x) ", state, parent, start));
        file("proc/" + pid + "/cmdline", String.join("\0", arguments) + "\0");
    }

    private static String stat(int pid, String name, char state, int parent, long start) {
        return pid + " (" + name + ") " + state + " " + parent + " 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 " + start
                + " 0 0\n";
    }

    private void file(String path, String text) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }
}
