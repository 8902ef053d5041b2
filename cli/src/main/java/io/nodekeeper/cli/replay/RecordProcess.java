package io.nodekeeper.cli.replay;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.client.HttpTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.simulator.replay.RecordingWriter;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.GoDuration;
import io.nodekeeper.time.Interruption;
import io.nodekeeper.time.Loop;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.ThreadLoop;
import io.nodekeeper.time.progress.Progress;
import io.nodekeeper.time.progress.ProgressDisplay;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;

/** Records a cluster for as long as a {@link RecordCommand} says. */
public final class RecordProcess {
    /** The deadline of lists and of the first bytes of watches: far more than they take. */
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(30);
    /** How long the first lists may take. Those of a large cluster take seconds, and what is refused now stays so. */
    private static final Duration FIRST_LISTS = Duration.ofMinutes(1);
    /** How often it looks whether it is to end. */
    private static final Duration LOOK = Duration.ofMillis(200);
    /** How long a process that was asked to exit waits for the end of the file. */
    private static final Duration LAST_WRITE = Duration.ofSeconds(10);

    private RecordProcess() {}

    /** Records; prints what it has to {@code out} and progress to {@code err}, and returns the exit code. */
    public static int run(RecordCommand command, PrintWriter out, PrintWriter err) throws Exception {
        Runnable late = () -> {
            err.println("replay record: the file could not be ended within " + GoDuration.format(LAST_WRITE)
                    + "; what it has can be replayed");
            err.flush();
        };
        try (Interruption interruption = Interruption.within(LAST_WRITE, late)) {
            return run(command, out, err, interruption::requested);
        }
    }

    /** The same, until {@code ended}. */
    static int run(RecordCommand command, PrintWriter out, PrintWriter err, BooleanSupplier ended) throws Exception {
        return run(command, out, err, ended, FIRST_LISTS);
    }

    static int run(RecordCommand command, PrintWriter out, PrintWriter err, BooleanSupplier ended, Duration firstLists)
            throws Exception {
        ThreadLoop loop = new ThreadLoop("record");
        HttpTransport transport = new HttpTransport(command.client.access());
        try (RecordingWriter writer = new RecordingWriter(
                new BufferedOutputStream(
                        Files.newOutputStream(command.file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)),
                loop.clock().wallTime())) {
            KubeClient client = new KubeClient(transport, loop, CALL_TIMEOUT);
            Recorder recorder = new Recorder(client, Randoms.secure(), writer);
            recorder.start();
            Duration took = record(command, recorder, loop, err, ended, firstLists);
            end(recorder);
            if (!recorder.hasBegun()) {
                Files.delete(command.file);
                throw new IOException("nothing was recorded: the API server sent no lists of nodes and leases within "
                        + GoDuration.format(took) + "; "
                        + (ended.getAsBoolean() ? "warnings say why" : refusal(client)));
            }
            out.println("recorded " + GoDuration.format(took) + " of " + recorder.nodeCount() + " nodes, "
                    + recorder.renewals() + " renewals, "
                    + (recorder.gaps() == 0 ? "always in sight" : "times without sight: " + recorder.gaps())
                    + ", in " + command.file);
            out.flush();
            return took.compareTo(command.length) < 0 ? CommandRunner.INTERRUPTED : CommandRunner.OK;
        } finally {
            transport.close();
            loop.close();
        }
    }

    /** Waits until the end; returns how long it recorded. */
    private static Duration record(
            RecordCommand command,
            Recorder recorder,
            Loop loop,
            PrintWriter err,
            BooleanSupplier ended,
            Duration firstLists) {
        long began = loop.clock().nanoTime();
        try (ProgressDisplay display = command.progress.show("record", err, () -> {
            Duration so = Duration.ofNanos(loop.clock().nanoTime() - began);
            return Progress.of(
                    recorder.nodeCount() + " nodes, " + recorder.renewals() + " renewals",
                    so.toMillis(),
                    command.length.toMillis());
        })) {
            while (!ended.getAsBoolean() && !recorder.failed().isDone()) {
                long so = loop.clock().nanoTime() - began;
                if (so >= command.length.toNanos() || (!recorder.hasBegun() && so >= firstLists.toNanos())) {
                    break;
                }
                Deadlines.sleep(loop, LOOK).join();
            }
        }
        Duration so = Duration.ofNanos(loop.clock().nanoTime() - began);
        return so.compareTo(command.length) < 0 ? Duration.ofSeconds(so.toSeconds()) : command.length;
    }

    /** Why the API server sends no lists: its answer to short ones. */
    private static String refusal(KubeClient client) {
        try {
            client.list(ResourceType.NODES, "", "limit=1").join();
            client.list(ResourceType.LEASES, Lease.NODE_NAMESPACE, "limit=1").join();
            return "warnings say why";
        } catch (CompletionException e) {
            return Failures.text(e);
        }
    }

    private static void end(Recorder recorder) throws IOException {
        try {
            recorder.end().join();
        } catch (CompletionException e) {
            throw new IOException("cannot write the recording: " + Failures.text(e), e);
        }
    }
}
