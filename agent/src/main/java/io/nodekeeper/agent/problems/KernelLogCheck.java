package io.nodekeeper.agent.problems;

import io.nodekeeper.agent.facts.ConditionReport;
import io.nodekeeper.agent.kernel.KernelFile;
import io.nodekeeper.agent.problems.kernel.KmsgRecord;
import io.nodekeeper.agent.problems.kernel.LogSource;
import io.nodekeeper.agent.problems.rules.BuiltInRules;
import io.nodekeeper.agent.problems.rules.DefaultCondition;
import io.nodekeeper.agent.problems.rules.LogMatcher;
import io.nodekeeper.agent.problems.rules.LogMatcher.Match;
import io.nodekeeper.agent.problems.rules.RuleFile;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads a log of the kernel and applies rules: a temporary problem is an event, a permanent one a condition that stays True
 * until the agent ends, as in node-problem-detector. The built-in rules also lead to the condition {@code KernelDeadlock}.
 * Used by one worker at a time.
 */
public final class KernelLogCheck implements ProblemCheck {
    /** The most records of one run; the kernel writes some 10 per second when much fails. */
    private static final int RECORDS = 2_000;
    /** The most events of one run; more than that say nothing new. */
    private static final int EVENTS = 50;
    /** The most characters of a message: the API accepts 1,024 for an event. */
    private static final int MESSAGE = 1_000;

    private final Path log;
    private final LogSource source;
    private final Path proc;
    private final List<LogMatcher> matchers;
    private final boolean builtIn;
    private final BlockedTasks blocked;
    private final Map<String, ConditionReport> conditions = new LinkedHashMap<>();
    private long lost;
    private boolean first = true;
    private long startMicros;
    /** Whether all records of before the start have been read. */
    private boolean caughtUp;

    /**
     * A check of one log.
     *
     * @param log its path, for messages
     * @param proc {@code /proc}
     * @param files the rules
     */
    public KernelLogCheck(Path log, LogSource source, Path proc, List<RuleFile> files) {
        this.log = log;
        this.source = source;
        this.proc = proc;
        matchers = files.stream().map(LogMatcher::new).toList();
        builtIn = files.contains(BuiltInRules.FILE);
        blocked = new BlockedTasks(proc);
        for (RuleFile file : files) {
            for (DefaultCondition condition : file.conditions()) {
                conditions.put(
                        condition.type(), Finding.fine(condition.type(), condition.reason(), condition.message()));
            }
        }
    }

    @Override
    public String name() {
        return "kernel log " + log;
    }

    @Override
    public List<String> conditions() {
        List<String> types = new ArrayList<>(conditions.keySet());
        if (builtIn) {
            types.add(BlockedTasks.TYPE);
        }
        return types;
    }

    @Override
    public Duration period() {
        return Duration.ofSeconds(2);
    }

    @Override
    public Duration deadline() {
        return Duration.ofSeconds(5);
    }

    @Override
    public Finding run() throws IOException {
        long now = uptimeMicros();
        if (first) {
            startMicros = now;
            first = false;
        }
        List<Finding.Temporary> events = new ArrayList<>();
        List<KmsgRecord> records = read();
        for (KmsgRecord record : records) {
            // The log's clock stands still while the machine is suspended, and drifts from the uptime.
            // A new record is as old as this run.
            long micros = caughtUp ? now : record.micros();
            if (builtIn && micros >= startMicros - micros(BuiltInRules.FILE.lookback())) {
                SystemOom.of(record.message()).ifPresent(events::add);
            }
            for (LogMatcher matcher : matchers) {
                if (micros >= startMicros - micros(matcher.file().lookback())) {
                    matcher.next(record.message()).forEach(match -> take(matcher, match, micros, events));
                }
            }
        }
        caughtUp |= records.isEmpty();
        if (source.lost() > lost) {
            lost = source.lost();
            events.add(Finding.Temporary.warning(
                    "KernelLogOverrun", "records of " + log + " were overwritten before the agent read them"));
        }
        List<ConditionReport> reports = new ArrayList<>(conditions.values());
        if (builtIn) {
            reports.add(blocked.condition(now));
        }
        return new Finding(reports, events.subList(0, Math.min(EVENTS, events.size())));
    }

    private List<KmsgRecord> read() throws IOException {
        try {
            return source.read(RECORDS);
        } catch (IOException e) {
            // It is read from its beginning again.
            caughtUp = false;
            throw e;
        }
    }

    private void take(LogMatcher matcher, Match match, long micros, List<Finding.Temporary> events) {
        String text = match.text().length() > MESSAGE ? match.text().substring(0, MESSAGE) : match.text();
        if (match.condition().isPresent()) {
            String type = match.condition().get();
            conditions.put(type, Finding.problem(type, match.reason(), text));
            return;
        }
        events.add(Finding.Temporary.warning(match.reason(), text)
                .from(matcher.file().source()));
        if (matcher.file() == BuiltInRules.FILE) {
            blocked.matched(match, micros);
        }
    }

    private long uptimeMicros() throws IOException {
        Path file = proc.resolve("uptime");
        String text = KernelFile.text(file);
        try {
            return (long) (Double.parseDouble(text.split(" ")[0]) * 1_000_000);
        } catch (NumberFormatException e) {
            throw new IOException(file + ": expected seconds, got \"" + text.strip() + "\"", e);
        }
    }

    private static long micros(Duration duration) {
        return duration.toNanos() / 1_000;
    }
}
