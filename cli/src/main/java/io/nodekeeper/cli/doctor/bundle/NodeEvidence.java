package io.nodekeeper.cli.doctor.bundle;

import io.nodekeeper.agent.culprit.Findings;
import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.scan.ProcessRef;
import io.nodekeeper.agent.kernel.KernelFile;
import io.nodekeeper.agent.problems.kernel.KernelLog;
import io.nodekeeper.agent.problems.kernel.KmsgRecord;
import io.nodekeeper.cli.doctor.node.ApiServerReads;
import io.nodekeeper.cli.doctor.node.LocalPage;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.Version;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a bundle contains, the most telling first. Neither kubeconfigs nor keys, configurations or environments of processes are read.
 */
final class NodeEvidence {
    /** Files of /proc that tell how the machine is. */
    private static final List<String> PROC = List.of(
            "meminfo",
            "loadavg",
            "uptime",
            "version",
            "cmdline",
            "pressure/cpu",
            "pressure/io",
            "pressure/memory",
            "vmstat",
            "net/route",
            "self/mountinfo");
    /** Files of /proc/PID that tell where a process stands. */
    private static final List<String> PROCESS =
            List.of("status", "stat", "wchan", "stack", "syscall", "cgroup", "limits", "io");
    /** The pages of an agent; a kubelet serves only the first. */
    private static final List<String> PAGES =
            List.of("/healthz?verbose", "/readyz?verbose", "/metrics", "/debug/runtime");
    /** The most processes that are looked at: causes come first. */
    private static final int SUSPECTS = 16;
    /** The most lines of the kernel's log: some minutes of a machine in trouble. */
    private static final int LINES = 2_000;
    /** The companion's port beside the kubelet's. */
    private static final int COMPANION = 20_248;

    private final Path root;

    /** Evidence of the machine whose files are below {@code root}, which is {@code /} except in tests. */
    NodeEvidence(Path root) {
        this.root = root;
    }

    /** All of it. {@code port} is that of the health check of kubelet or agent. */
    List<Evidence> of(String text, String json, Findings findings, Optional<ApiServerReads> reads, int port) {
        List<Evidence> all = new ArrayList<>();
        all.add(new Evidence("doctor.txt", () -> text));
        all.add(new Evidence("doctor.json", () -> json));
        all.add(new Evidence("versions.txt", () -> versions(findings)));
        Stream.concat(findings.culprits().stream(), findings.loads().stream())
                .map(Culprit::process)
                .flatMap(Optional::stream)
                .map(ProcessRef::pid)
                .distinct()
                .limit(SUSPECTS)
                .forEach(pid -> {
                    PROCESS.forEach(name -> all.add(file("proc/" + pid + "/" + name)));
                    all.add(commandLine("proc/" + pid + "/cmdline"));
                });
        all.add(new Evidence("kernel.log", this::kernelLog));
        PROC.forEach(name -> all.add(file("proc/" + name)));
        all.add(new Evidence("api/node.json", api(reads, ApiServerReads::node)));
        all.add(new Evidence("api/lease.json", api(reads, ApiServerReads::lease)));
        for (String page : PAGES) {
            all.add(page("pages-" + port, port, page));
        }
        for (String page : PAGES) {
            all.add(page("pages-companion", COMPANION, page));
        }
        return all;
    }

    private Evidence file(String path) {
        return new Evidence(path, () -> KernelFile.beginning(root.resolve(path), Evidence.READ));
    }

    /** The arguments of a process. Only here it is known where each ends. */
    private Evidence commandLine(String path) {
        return new Evidence(path, () -> Redaction.ofArguments(KernelFile.beginning(root.resolve(path), Evidence.READ)));
    }

    private static Evidence page(String folder, int port, String target) {
        String name = target.substring(1).replace('/', '-').replace("?verbose", "");
        return new Evidence(folder + "/" + name + ".txt", () -> {
            LocalPage page = LocalPage.read(port, target, Evidence.READ);
            if (page.status() == 404) {
                throw new IOException("127.0.0.1:" + port + " has no page " + target);
            }
            return "HTTP " + page.status() + "\n" + page.text();
        });
    }

    private static Callable<String> api(
            Optional<ApiServerReads> reads, Function<ApiServerReads, CompletableFuture<Reply>> read) {
        return () -> {
            // The reads have deadlines of their own.
            Reply reply = reads.map(read)
                    .orElseThrow(() -> new IOException("there is no kubeconfig"))
                    .join();
            if (reply.status() != 200) {
                throw new IOException("the API server answers " + reply.status());
            }
            return new String(reply.body(), StandardCharsets.UTF_8);
        };
    }

    private String versions(Findings findings) throws IOException {
        String os = KernelFile.lines(root.resolve("etc/os-release")).stream()
                .filter(line -> line.startsWith("PRETTY_NAME="))
                .map(line -> line.substring("PRETTY_NAME=".length()))
                .findFirst()
                .orElse("unknown");
        return String.join(
                "\n",
                "nodekeeper  " + Version.current(),
                "runtime     "
                        + findings.version()
                                .map(version -> version.name() + " " + version.version())
                                .orElse("unknown"),
                "kernel      "
                        + KernelFile.text(root.resolve("proc/sys/kernel/osrelease"))
                                .strip(),
                "system      " + os,
                "boot id     "
                        + KernelFile.text(root.resolve("proc/sys/kernel/random/boot_id"))
                                .strip(),
                "java        " + System.getProperty("java.version", ""),
                "");
    }

    private String kernelLog() throws IOException {
        KernelLog log = new KernelLog(root.resolve("dev/kmsg"));
        Deque<KmsgRecord> last = new ArrayDeque<>();
        try {
            // The kernel's buffer has some ten thousand records; new ones may come as fast as they are read.
            for (int reads = 0; reads < 100; reads++) {
                List<KmsgRecord> records = log.read(1_000);
                last.addAll(records);
                while (last.size() > LINES) {
                    last.removeFirst();
                }
                if (records.isEmpty()) {
                    break;
                }
            }
        } finally {
            log.close();
        }
        return last.stream().map(NodeEvidence::line).collect(Collectors.joining("\n", "", "\n"));
    }

    /** With the seconds since boot, to the millisecond. */
    static String line(KmsgRecord record) {
        long millis = record.micros() / 1_000;
        return String.format(Locale.ROOT, "[%d.%03d] %s", millis / 1_000, millis % 1_000, record.message());
    }
}
