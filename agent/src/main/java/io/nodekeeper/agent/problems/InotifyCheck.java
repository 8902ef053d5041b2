package io.nodekeeper.agent.problems;

import io.nodekeeper.agent.problems.kernel.InotifyTrial;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/**
 * Finds that the user of the agent has no inotify instance or watch left. It tries to create one, because the kernel
 * does not report how many are used. Used by one worker at a time.
 */
public final class InotifyCheck implements ProblemCheck {
    static final String TYPE = "InotifyLimitReached";

    /** A trial, for tests without limits. */
    public interface Trial {
        /** Creates and removes an instance with a watch. */
        InotifyTrial.Outcome run() throws IOException;
    }

    private final Trial trial;

    /** A check that uses {@code trial}. */
    public InotifyCheck(Trial trial) {
        this.trial = trial;
    }

    @Override
    public String name() {
        return "inotify limits";
    }

    @Override
    public List<String> conditions() {
        return List.of(TYPE);
    }

    @Override
    public Duration period() {
        return Duration.ofSeconds(60);
    }

    @Override
    public Duration deadline() {
        return Duration.ofSeconds(2);
    }

    @Override
    public Finding run() throws IOException {
        return Finding.of(
                switch (trial.run()) {
                    case AVAILABLE -> Finding.fine(TYPE, "InotifyAvailable", "inotify instances and watches are left");
                    case NO_INSTANCE ->
                        Finding.problem(
                                TYPE,
                                "InotifyInstancesExhausted",
                                "the agent's user has no inotify instance left; raise fs.inotify.max_user_instances");
                    case NO_WATCH ->
                        Finding.problem(
                                TYPE,
                                "InotifyWatchesExhausted",
                                "the agent's user has no inotify watch left; raise fs.inotify.max_user_watches");
                });
    }
}
