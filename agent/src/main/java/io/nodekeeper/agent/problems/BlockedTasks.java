package io.nodekeeper.agent.problems;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.agent.kernel.KernelFile;
import io.nodekeeper.agent.problems.rules.BuiltInRules;
import io.nodekeeper.agent.problems.rules.LogMatcher.Match;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The condition {@code KernelDeadlock}: True while a task that the kernel reported as blocked is still in uninterruptible
 * sleep, and for some time after each report of a processor that makes no progress. Used by one worker at a time.
 */
final class BlockedTasks {
    /** node-problem-detector's name. */
    static final String TYPE = "KernelDeadlock";
    /** The kernel repeats the reports of a lockup every 20 s and those of a stall every 63 s by default. */
    private static final long REPEATED_MICROS = 180_000_000;
    /** The most tasks; a deadlock of more tasks has the same condition. */
    private static final int TASKS = 64;
    /** The most tasks in a message. */
    private static final int SHOWN = 5;

    private static final Set<String> LOCKUPS = Set.of(BuiltInRules.SOFT_LOCKUP, BuiltInRules.RCU_STALL);
    private static final Pattern TASK = Pattern.compile("task (.+):(\\d{1,9}) blocked");

    private final Path proc;
    /** By pid: the task's name. */
    private final Map<Integer, String> tasks = new LinkedHashMap<>();

    private String lockup = "";
    private String lockupReason = "";
    private long lockupAt;

    BlockedTasks(Path proc) {
        this.proc = proc;
    }

    /** Takes a match of the built-in rules in a record of {@code micros} since boot. */
    void matched(Match match, long micros) {
        if (LOCKUPS.contains(match.reason())) {
            lockup = match.text();
            lockupReason = match.reason();
            lockupAt = micros;
        } else if (match.reason().equals(BuiltInRules.TASK_HUNG)) {
            Matcher task = TASK.matcher(match.text());
            if (task.find() && tasks.size() < TASKS) {
                tasks.put(Integer.parseInt(task.group(2)), task.group(1));
            }
        }
    }

    /** The condition at {@code micros} since boot. */
    ConditionReport condition(long micros) {
        tasks.keySet().removeIf(pid -> !blocked(pid));
        if (!lockup.isEmpty() && micros - lockupAt < REPEATED_MICROS) {
            return Finding.problem(TYPE, lockupReason, lockup);
        }
        lockup = "";
        if (tasks.isEmpty()) {
            return Finding.fine(TYPE, "KernelHasNoDeadlock", "no task that the kernel reported is still blocked");
        }
        List<String> names = tasks.entrySet().stream()
                .limit(SHOWN)
                .map(task -> task.getValue() + " (pid " + task.getKey() + ")")
                .toList();
        String more = tasks.size() > SHOWN ? ", and " + (tasks.size() - SHOWN) + " more" : "";
        return Finding.problem(
                TYPE, BuiltInRules.TASK_HUNG, "blocked in the kernel: " + String.join(", ", names) + more);
    }

    /** Whether the task still exists and is in state D. */
    private boolean blocked(int pid) {
        try {
            String stat = KernelFile.text(proc.resolve(Integer.toString(pid)).resolve("stat"));
            int name = stat.lastIndexOf(')');
            return name >= 0 && stat.startsWith(") D", name);
        } catch (IOException e) {
            // It has ended.
            return false;
        }
    }
}
