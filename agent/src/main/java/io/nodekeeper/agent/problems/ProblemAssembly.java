package io.nodekeeper.agent.problems;

import io.nodekeeper.agent.problems.kernel.InotifyTrial;
import io.nodekeeper.agent.problems.kernel.KernelLog;
import io.nodekeeper.agent.problems.kernel.MountFile;
import io.nodekeeper.agent.problems.rules.BuiltInRules;
import io.nodekeeper.agent.problems.rules.RuleFile;
import io.nodekeeper.client.ServerDate;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Workers;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates the checks of this machine and their threads, and owns both. */
public final class ProblemAssembly {
    private static final Logger log = LoggerFactory.getLogger(ProblemAssembly.class);
    private static final Path PROC = Path.of("/proc");
    /** The mounts of this process. */
    public static final Path MOUNTINFO = PROC.resolve("self/mountinfo");

    /** The checks besides those of logs. */
    private static final int CHECKS = 6;

    private final List<KernelLog> logs = new ArrayList<>();
    private final Workers workers;
    private final Workers nfs;
    private final NodeProblems problems;
    private final MountFile mountFile;

    /** Asks a file system for its size; blocks. */
    public interface Question {
        /** Asks. */
        void ask(Path path) throws IOException;
    }

    /**
     * Checks that are not started yet.
     *
     * @param mounts the file that lists the node's mounts
     * @param rootDir the agent's root directory
     * @param files rules besides the built-in ones
     * @param server the newest reading of the API server's clock
     * @param statvfs asks a file system for its size
     * @param events receives temporary problems and changes of conditions, on the loop
     */
    public ProblemAssembly(
            Path mounts,
            Path rootDir,
            List<RuleFile> files,
            Supplier<Optional<ServerDate>> server,
            Question statvfs,
            Loop loop,
            RandomGenerator random,
            Consumer<Finding.Temporary> events) {
        Map<Path, List<RuleFile>> byLog = new LinkedHashMap<>();
        byLog.computeIfAbsent(BuiltInRules.FILE.log(), path -> new ArrayList<>())
                .add(BuiltInRules.FILE);
        files.forEach(file ->
                byLog.computeIfAbsent(file.log(), path -> new ArrayList<>()).add(file));
        workers = new Workers("problems", byLog.size() + CHECKS, loop);
        nfs = new Workers("nfs", NfsCheck.QUESTIONS, loop);
        List<ProblemCheck> checks = new ArrayList<>();
        byLog.forEach((path, rules) -> {
            KernelLog reader = new KernelLog(path);
            logs.add(reader);
            checks.add(new KernelLogCheck(path, reader, PROC, rules));
        });
        mountFile = new MountFile(mounts, loop.clock());
        checks.add(new ReadonlyCheck(mountFile, rootDir));
        checks.add(new OpenFilesCheck(PROC));
        checks.add(new InotifyCheck(InotifyTrial::run));
        checks.add(new ConntrackCheck(PROC));
        checks.add(new ClockCheck(server));
        checks.add(new NfsCheck(
                mountFile, NfsCheck.PATIENCE, path -> CompletableFuture.runAsync(() -> ask(statvfs, path), nfs)));
        problems = new NodeProblems(checks, loop, workers, random, events);
    }

    /** The conditions. */
    public NodeProblems problems() {
        return problems;
    }

    /** Stops all checks. */
    public void stop() {
        problems.stop();
        workers.close();
        nfs.close();
        logs.forEach(reader -> close(reader::close));
        close(mountFile::close);
    }

    /** Closes a file; may fail. */
    private interface Closing {
        void close() throws IOException;
    }

    private static void close(Closing file) {
        try {
            file.close();
        } catch (IOException e) {
            log.debug("Closing a file of the kernel failed", e);
        }
    }

    private static void ask(Question statvfs, Path path) {
        try {
            statvfs.ask(path);
        } catch (IOException e) {
            throw new CompletionException(e);
        }
    }
}
