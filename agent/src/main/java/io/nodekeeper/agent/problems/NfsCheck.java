package io.nodekeeper.agent.problems;

import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.agent.kernel.MountTable;
import io.nodekeeper.agent.kernel.MountTable.Mount;
import io.nodekeeper.agent.problems.kernel.MountText;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/**
 * Finds NFS mounts whose server does not answer: it asks each file system for its size, which needs the server. A question
 * without an answer keeps a worker until the server answers, so the questions in progress are bounded. Used by one worker
 * at a time.
 */
public final class NfsCheck implements ProblemCheck {
    static final String TYPE = "NFSUnavailable";
    /** The most questions in progress, which is the number of threads that may wait for servers. */
    public static final int QUESTIONS = 8;
    /** The most mounts in a message. */
    private static final int SHOWN = 5;
    /** A server on a local network answers in milliseconds. */
    public static final Duration PATIENCE = Duration.ofSeconds(5);

    private final MountText mounts;
    private final Duration patience;
    private final Function<Path, CompletableFuture<?>> question;
    /** By device; at most {@link #QUESTIONS} entries. */
    private final Map<String, Question> open = new LinkedHashMap<>();

    private record Question(Mount mount, CompletableFuture<?> answer) {}

    /**
     * A check of {@code mounts}.
     *
     * @param patience how long a run waits for answers
     * @param question asks for the size of a file system; completes only when the call has returned
     */
    public NfsCheck(MountText mounts, Duration patience, Function<Path, CompletableFuture<?>> question) {
        this.mounts = mounts;
        this.patience = patience;
        this.question = question;
    }

    @Override
    public String name() {
        return "NFS mounts";
    }

    @Override
    public List<String> conditions() {
        return List.of(TYPE);
    }

    @Override
    public Duration period() {
        return Duration.ofSeconds(15);
    }

    @Override
    public Duration deadline() {
        return patience.plusSeconds(5);
    }

    @Override
    public Finding run() throws IOException {
        // Of some hundred mounts few are those of servers, and only these are parsed.
        List<String> lines =
                mounts.read().lines().filter(line -> line.contains(" - nfs")).toList();
        List<Mount> servers =
                MountTable.parse(lines).mounts().stream().filter(Mount::nfs).toList();
        open.values().removeIf(asked -> asked.answer().isDone());
        Set<String> devices = new HashSet<>(open.keySet());
        boolean goesOn = true;
        while (goesOn) {
            List<Question> asked = new ArrayList<>();
            for (Mount mount : servers) {
                if (open.size() < QUESTIONS && devices.add(mount.device())) {
                    Question next = new Question(mount, question.apply(Path.of(mount.point())));
                    open.put(mount.device(), next);
                    asked.add(next);
                }
            }
            // As long as all answer, the next ones are asked at once; after a silent one with the next run.
            goesOn = !asked.isEmpty() && await(asked);
            open.values().removeIf(other -> other.answer().isDone());
        }
        return Finding.of(report(servers));
    }

    private ConditionReport report(List<Mount> mounts) {
        // A mount that was removed while its question is open concerns no pod any more.
        Set<String> present = new HashSet<>(mounts.stream().map(Mount::device).toList());
        List<String> silent = open.values().stream()
                .map(Question::mount)
                .filter(mount -> present.contains(mount.device()))
                .map(mount -> mount.point() + " from " + mount.source())
                .toList();
        if (silent.isEmpty()) {
            return Finding.fine(TYPE, "NFSServersAnswer", "every NFS server answers");
        }
        String more = silent.size() > SHOWN ? ", and " + (silent.size() - SHOWN) + " more" : "";
        return Finding.problem(
                TYPE,
                "NFSServerNotResponding",
                "no answer from the server of " + String.join(", ", silent.subList(0, Math.min(SHOWN, silent.size())))
                        + more);
    }

    /** Whether all have answered. */
    private boolean await(List<Question> asked) throws IOException {
        CompletableFuture<?>[] answers = asked.stream().map(Question::answer).toArray(CompletableFuture[]::new);
        try {
            CompletableFuture.allOf(answers).get(patience.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (ExecutionException e) {
            // An error is an answer, too.
            return asked.stream().allMatch(one -> one.answer().isDone());
        } catch (TimeoutException e) {
            // Those without an answer are still in the map.
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }
}
