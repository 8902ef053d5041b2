package io.nodekeeper.it;

import io.nodekeeper.it.Operation.Kind;
import io.nodekeeper.it.Operation.Outcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Checks whether a store that performs one operation at a time could have given the answers that concurrent clients saw.
 *
 * <p>The watch gives the order in which writes took place, by their revisions, and also tells what became of those that were
 * never answered: each write leaves a value of its own, and a deletion names the revision that it ends. First the watch is
 * checked against the writes: every revision once, in order, all that was acknowledged, nothing that was refused or that
 * no client requested. Then each object's writes stand in a row; every read and every refusal must fit into a gap of that row
 * that shows what it saw, no earlier than the writes that had ended when it began, no later than those that began after it
 * had ended, and not before what another one saw that had ended by then. The earliest gap that fits is always the best
 * choice, so this is exact, unlike for stores without revisions, where the order itself has to be searched for.
 */
final class HistoryCheck {
    private final List<String> faults = new ArrayList<>();

    private HistoryCheck() {}

    /** A write that took place: an object is {@code value} from {@code revision} on; empty if it is gone. */
    private record Write(long revision, String value, long invoked, long returned) {}

    /** The faults, a sentence each; empty if there are none. */
    static List<String> faults(List<Operation> operations, List<WatchedEvent> events) {
        HistoryCheck check = new HistoryCheck();
        Map<String, List<Write>> rows = check.rows(operations, events);
        operations.stream()
                .map(Operation::key)
                .distinct()
                .forEach(key -> check.checkOrder(
                        key,
                        rows.getOrDefault(key, List.of()),
                        operations.stream()
                                .filter(operation -> operation.key().equals(key))
                                .toList()));
        return check.faults;
    }

    /** Each object's writes in the order of the watch, after comparing the two. */
    private Map<String, List<Write>> rows(List<Operation> operations, List<WatchedEvent> events) {
        Map<String, Operation> byValue = new HashMap<>();
        Map<String, Operation> deletions = new HashMap<>();
        for (Operation operation : operations) {
            if (operation.kind() == Kind.CREATE || operation.kind() == Kind.UPDATE) {
                byValue.put(operation.value(), operation);
            } else if (operation.kind() == Kind.DELETE) {
                deletions.merge(operation.key() + "@" + operation.expected(), operation, this::likelier);
            }
        }
        Map<String, List<Write>> rows = new TreeMap<>();
        long last = 0;
        for (WatchedEvent event : events) {
            if (event.revision() <= last) {
                faults.add("the watch went from revision " + last + " to " + event);
            }
            last = Math.max(last, event.revision());
            List<Write> row = rows.computeIfAbsent(event.key(), key -> new ArrayList<>());
            Write before = row.isEmpty() ? new Write(0, "", 0, 0) : row.getLast();
            boolean deletion = event.type().equals("DELETED");
            if (event.type().equals("ADDED") != before.value.isEmpty()) {
                faults.add(event + " came after " + before);
            }
            if (deletion && !event.value().equals(before.value)) {
                faults.add(event + " tells of another last state than " + before);
            }
            Operation cause =
                    deletion ? deletions.remove(event.key() + "@" + before.revision) : byValue.remove(event.value());
            if (cause == null) {
                faults.add("no request for " + event + " (before: " + before + "), or it came twice");
                continue;
            }
            checkCause(event, cause, before);
            row.add(new Write(event.revision(), deletion ? "" : event.value(), cause.invoked(), cause.returned()));
        }
        Stream.concat(byValue.values().stream(), deletions.values().stream())
                .filter(operation -> operation.outcome() == Outcome.DONE)
                .forEach(lost -> faults.add("acknowledged, but never in the watch: " + lost));
        return rows;
    }

    /** Of two deletions of the same revision, the one that can have taken place. */
    private Operation likelier(Operation one, Operation other) {
        if (one.outcome() == Outcome.DONE && other.outcome() == Outcome.DONE) {
            faults.add("deleted twice: " + one + " and " + other);
        }
        if (one.outcome() == Outcome.DONE || other.outcome() == Outcome.DONE) {
            return one.outcome() == Outcome.DONE ? one : other;
        }
        if (one.outcome() != Outcome.UNKNOWN || other.outcome() != Outcome.UNKNOWN) {
            return one.outcome() == Outcome.UNKNOWN ? one : other;
        }
        // Either may have done it: the one that began first leaves the most room.
        return one.invoked() <= other.invoked() ? one : other;
    }

    private void checkCause(WatchedEvent event, Operation cause, Write before) {
        boolean fits = cause.key().equals(event.key())
                && cause.kind()
                        == switch (event.type()) {
                            case "ADDED" -> Kind.CREATE;
                            case "MODIFIED" -> Kind.UPDATE;
                            default -> Kind.DELETE;
                        };
        if (!fits) {
            faults.add(event + " does not follow from " + cause);
        }
        if (cause.outcome() != Outcome.DONE && cause.outcome() != Outcome.UNKNOWN) {
            faults.add("refused, and yet in the watch: " + cause + " as " + event);
        }
        if (cause.kind() != Kind.CREATE && cause.expected() != before.revision) {
            faults.add(cause + " was done to " + before);
        }
        if (cause.outcome() == Outcome.DONE && cause.kind() != Kind.DELETE && cause.revision() != event.revision()) {
            faults.add("acknowledged as " + cause + ", but in the watch as " + event);
        }
    }

    private void checkOrder(String key, List<Write> row, List<Operation> operations) {
        long latest = 0;
        for (Write write : row) {
            if (write.returned < latest) {
                faults.add(key + ": " + write + " ended before one began that comes earlier");
            }
            latest = Math.max(latest, write.invoked);
        }
        // The place of a read is the number of writes before it. What had ended when: place, by the end of its reader.
        List<long[]> placed = new ArrayList<>();
        List<Operation> looks = operations.stream()
                .filter(operation -> operation.outcome() != Outcome.UNKNOWN)
                .filter(operation -> operation.kind() == Kind.GET || operation.outcome() != Outcome.DONE)
                .sorted(Comparator.comparingLong(Operation::invoked))
                .toList();
        for (Operation look : looks) {
            int place = 0;
            int most = row.size();
            for (int i = 0; i < row.size(); i++) {
                if (row.get(i).returned < look.invoked()) {
                    place = i + 1;
                }
            }
            for (int i = row.size() - 1; i >= 0; i--) {
                if (row.get(i).invoked > look.returned()) {
                    most = i;
                }
            }
            for (long[] earlier : placed) {
                if (earlier[0] < look.invoked()) {
                    place = Math.max(place, (int) earlier[1]);
                }
            }
            int earliest = place;
            while (place <= most && !shows(look, place == 0 ? new Write(0, "", 0, 0) : row.get(place - 1))) {
                place++;
            }
            if (place > most) {
                faults.add(look + " saw what was not there between " + earliest + " and " + most + " of "
                        + row.subList(Math.max(0, earliest - 1), Math.min(row.size(), most + 1)));
            } else {
                placed.add(new long[] {look.returned(), place});
            }
        }
    }

    private static boolean shows(Operation look, Write state) {
        boolean there = !state.value.isEmpty();
        return switch (look.outcome()) {
            case DONE -> there && look.seen().equals(state.value) && look.revision() == state.revision;
            case ABSENT -> !there;
            case PRESENT -> there;
            case CONFLICT -> there && look.expected() != state.revision;
            case UNKNOWN -> true;
        };
    }
}
