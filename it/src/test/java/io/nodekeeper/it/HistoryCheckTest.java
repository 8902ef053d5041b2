package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.it.Operation.Kind;
import io.nodekeeper.it.Operation.Outcome;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The check finds real faults, and only those. */
class HistoryCheckTest {
    private static final long NEVER = Long.MAX_VALUE;
    private static final Operation CREATED = create("a", 0, 10, Outcome.DONE, 5);
    private static final Operation UPDATED = update("b", 5, 20, 30, Outcome.DONE, 6);
    private static final WatchedEvent ADDED = new WatchedEvent("ADDED", "k", 5, "a");
    private static final WatchedEvent MODIFIED = new WatchedEvent("MODIFIED", "k", 6, "b");

    @Test
    void aHistoryOfOneAfterTheOtherIsFine() {
        assertThat(HistoryCheck.faults(
                        List.of(CREATED, get("a", 5, 11, 12), UPDATED, get("b", 6, 31, 32), delete(6, 40, 50)),
                        List.of(ADDED, MODIFIED, new WatchedEvent("DELETED", "k", 7, "b"))))
                .isEmpty();
    }

    @Test
    void aReadDuringAWriteMaySeeEither() {
        assertThat(HistoryCheck.faults(
                        List.of(CREATED, UPDATED, get("a", 5, 21, 29), get("b", 6, 21, 29)), List.of(ADDED, MODIFIED)))
                .isEmpty();
    }

    @Test
    void aReadThatGoesBackBehindAnotherIsFound() {
        // Both are during the write, but the second began after the first had seen it.
        assertThat(HistoryCheck.faults(
                        List.of(CREATED, UPDATED, get("b", 6, 21, 23), get("a", 5, 24, 29)), List.of(ADDED, MODIFIED)))
                .singleElement()
                .asString()
                .contains("saw what was not there");
    }

    @Test
    void aStaleReadIsFound() {
        assertThat(HistoryCheck.faults(List.of(CREATED, UPDATED, get("a", 5, 31, 32)), List.of(ADDED, MODIFIED)))
                .hasSize(1);
    }

    @Test
    void aRefusalWithoutReasonIsFound() {
        assertThat(HistoryCheck.faults(List.of(CREATED, update("c", 5, 11, 12, Outcome.CONFLICT, 0)), List.of(ADDED)))
                .hasSize(1);
        assertThat(HistoryCheck.faults(List.of(CREATED, create("c", 11, 12, Outcome.PRESENT, 0)), List.of(ADDED)))
                .isEmpty();
    }

    @Test
    void anAcknowledgedWriteThatNobodyWasToldOfIsFound() {
        assertThat(HistoryCheck.faults(List.of(CREATED, UPDATED), List.of(ADDED)))
                .singleElement()
                .asString()
                .contains("never in the watch");
    }

    @Test
    void anEventThatNobodyAskedForIsFound() {
        assertThat(HistoryCheck.faults(List.of(CREATED), List.of(ADDED, MODIFIED)))
                .singleElement()
                .asString()
                .contains("no request for");
    }

    @Test
    void anEventThatComesTwiceIsFound() {
        assertThat(HistoryCheck.faults(List.of(CREATED), List.of(ADDED, ADDED))).isNotEmpty();
    }

    @Test
    void aRefusedWriteThatTookPlaceIsFound() {
        assertThat(HistoryCheck.faults(
                        List.of(CREATED, update("b", 5, 20, 30, Outcome.CONFLICT, 0)), List.of(ADDED, MODIFIED)))
                .anyMatch(fault -> fault.contains("refused, and yet"));
    }

    @Test
    void aWriteWithoutAnAnswerMayHaveTakenPlaceOrNot() {
        Operation unknown = update("b", 5, 20, NEVER, Outcome.UNKNOWN, 0);
        assertThat(HistoryCheck.faults(List.of(CREATED, unknown, get("b", 6, 90, 91)), List.of(ADDED, MODIFIED)))
                .isEmpty();
        assertThat(HistoryCheck.faults(List.of(CREATED, unknown, get("a", 5, 90, 91)), List.of(ADDED)))
                .isEmpty();
    }

    @Test
    void twoWinnersOverOneRevisionAreFound() {
        assertThat(HistoryCheck.faults(
                        List.of(CREATED, UPDATED, update("c", 5, 20, 30, Outcome.DONE, 7)),
                        List.of(ADDED, MODIFIED, new WatchedEvent("MODIFIED", "k", 7, "c"))))
                .anyMatch(fault -> fault.contains("was done to"));
    }

    private static Operation create(String value, long invoked, long returned, Outcome outcome, long revision) {
        return new Operation(Kind.CREATE, "k", value, 0, invoked, returned, outcome, revision, "");
    }

    private static Operation update(
            String value, long expected, long invoked, long returned, Outcome outcome, long revision) {
        return new Operation(Kind.UPDATE, "k", value, expected, invoked, returned, outcome, revision, "");
    }

    private static Operation delete(long expected, long invoked, long returned) {
        return new Operation(Kind.DELETE, "k", "", expected, invoked, returned, Outcome.DONE, 0, "");
    }

    private static Operation get(String seen, long revision, long invoked, long returned) {
        return new Operation(Kind.GET, "k", "", 0, invoked, returned, Outcome.DONE, revision, seen);
    }
}
