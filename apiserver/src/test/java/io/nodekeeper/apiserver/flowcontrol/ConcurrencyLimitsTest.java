package io.nodekeeper.apiserver.flowcontrol;

import static io.nodekeeper.apiserver.flowcontrol.ConcurrencyLimits.Kind.HEARTBEAT;
import static io.nodekeeper.apiserver.flowcontrol.ConcurrencyLimits.Kind.READ;
import static io.nodekeeper.apiserver.flowcontrol.ConcurrencyLimits.Kind.WRITE;
import static io.nodekeeper.apiserver.flowcontrol.ConcurrencyLimits.State.GONE;
import static io.nodekeeper.apiserver.flowcontrol.ConcurrencyLimits.State.SEATED;
import static io.nodekeeper.apiserver.flowcontrol.ConcurrencyLimits.State.WAITING;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.flowcontrol.ConcurrencyLimits.Kind;
import io.nodekeeper.apiserver.flowcontrol.ConcurrencyLimits.Seat;
import io.nodekeeper.apiserver.flowcontrol.ConcurrencyLimits.State;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which requests get a seat, wait or are refused. */
@Tag("W86")
class ConcurrencyLimitsTest {
    private final ConcurrencyLimits limits =
            new ConcurrencyLimits(new FlowControlOptions(4, 2, 3, 1, Duration.ofSeconds(60)));

    private static Seat seat(Kind kind, String user) {
        return new Seat(kind, user, false, false, 0);
    }

    private State enter(Kind kind, String user) {
        return limits.enter(seat(kind, user));
    }

    private List<Seat> fill(Kind kind, String user, int count) {
        List<Seat> seats = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Seat seat = seat(kind, user);
            assertThat(limits.enter(seat)).isEqualTo(SEATED);
            seats.add(seat);
        }
        return seats;
    }

    @Test
    void oneUserCanTakeAllSeatsAndIsThenRefused() {
        fill(READ, "greedy", 4);
        assertThat(enter(READ, "greedy")).isEqualTo(GONE);
        assertThat(enter(WRITE, "greedy")).isEqualTo(SEATED);
        assertThat(enter(HEARTBEAT, "greedy")).isEqualTo(SEATED);
    }

    @Test
    void otherUserGetsTheNextFreeSeat() {
        List<Seat> seats = fill(READ, "greedy", 4);
        Seat modest = seat(READ, "modest");
        assertThat(limits.enter(modest)).isEqualTo(WAITING);
        assertThat(enter(READ, "greedy")).isEqualTo(GONE);
        assertThat(limits.leave(seats.get(0))).contains(modest);
        // Seats are free again, so the next request gets one.
        assertThat(limits.leave(seats.get(1))).isEmpty();
        assertThat(enter(READ, "greedy")).isEqualTo(SEATED);
    }

    @Test
    void userWaitsOnlyBelowItsFairShare() {
        fill(READ, "greedy", 4);
        // two users: two seats each
        assertThat(enter(READ, "modest")).isEqualTo(WAITING);
        assertThat(enter(READ, "modest")).isEqualTo(WAITING);
        assertThat(enter(READ, "modest")).isEqualTo(GONE);
        // three users: one seat each
        assertThat(enter(READ, "third")).isEqualTo(WAITING);
        assertThat(enter(READ, "third")).isEqualTo(GONE);
    }

    @Test
    void freeSeatGoesToTheUserWithTheFewestSeats() {
        List<Seat> greedy = fill(READ, "greedy", 3);
        List<Seat> some = fill(READ, "some", 1);
        Seat again = seat(READ, "some");
        Seat b = seat(READ, "b");
        Seat c = seat(READ, "c");
        assertThat(limits.enter(again)).isEqualTo(WAITING);
        assertThat(limits.enter(b)).isEqualTo(WAITING);
        assertThat(limits.enter(c)).isEqualTo(WAITING);
        assertThat(limits.leave(greedy.get(0))).contains(b);
        assertThat(limits.leave(greedy.get(1))).contains(c);
        assertThat(limits.leave(some.get(0))).contains(again);
    }

    @Test
    void heartbeatsOfAllNodesWaitInOneQueue() {
        Seat first = fill(HEARTBEAT, "n1", 1).getFirst();
        fill(HEARTBEAT, "n2", 2);
        Seat third = seat(HEARTBEAT, "n1");
        Seat fourth = seat(HEARTBEAT, "n3");
        assertThat(limits.enter(third)).isEqualTo(WAITING);
        assertThat(limits.enter(fourth)).isEqualTo(WAITING);
        assertThat(limits.leave(first)).contains(third);
        assertThat(limits.leave(third)).contains(fourth);
        // at most ten requests per seat wait
        for (int i = 0; i < 30; i++) {
            assertThat(enter(HEARTBEAT, "n" + i)).isIn(SEATED, WAITING);
        }
        assertThat(enter(HEARTBEAT, "n31")).isEqualTo(GONE);
    }

    @Test
    void nodeHasEightHeartbeatsAtATimeAtMost() {
        // given a node that sends ten heartbeats, of which three are served and five wait
        List<Seat> own = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            Seat seat = new Seat(HEARTBEAT, "system:node:n1", true, false, 0);
            own.add(seat);
            State expected = i < 3 ? SEATED : i < 8 ? WAITING : GONE;
            assertThat(limits.enter(seat)).isEqualTo(expected);
        }

        // then another one waits behind those, not behind all that the first one sends
        Seat other = new Seat(HEARTBEAT, "system:node:n2", true, false, 0);
        assertThat(limits.enter(other)).isEqualTo(WAITING);
        for (int i = 0; i < 5; i++) {
            assertThat(limits.leave(own.get(i))).contains(own.get(i + 3));
        }
        assertThat(limits.leave(own.get(5))).contains(other);

        // and the first one may send again what it has room for; the limit is only for heartbeats
        Seat next = new Seat(HEARTBEAT, "system:node:n1", true, false, 0);
        assertThat(limits.enter(next)).isEqualTo(WAITING);
        for (int i = 0; i < 4; i++) {
            assertThat(limits.enter(new Seat(READ, "system:node:n1", true, false, 0)))
                    .isEqualTo(SEATED);
        }
    }

    @Test
    void nodeThatIsAClusterAdministratorIsNeverRefused() {
        for (int i = 0; i < 20; i++) {
            assertThat(limits.enter(new Seat(HEARTBEAT, "system:node:n1", true, true, 0)))
                    .isEqualTo(SEATED);
        }
    }

    @Test
    void clusterAdministratorsAreNeverRefused() {
        fill(READ, "greedy", 4);
        Seat master = new Seat(READ, "admin", false, true, 0);
        assertThat(limits.enter(master)).isEqualTo(SEATED);
        Seat waiting = seat(READ, "modest");
        assertThat(limits.enter(waiting)).isEqualTo(WAITING);
        // This seat was above the limit, so no waiting request gets it.
        assertThat(limits.leave(master)).isEmpty();
    }

    @Test
    void seatIsFreedOnceAndWaitingRequestsCanBeCancelled() {
        List<Seat> seats = fill(READ, "greedy", 4);
        Seat waiting = seat(READ, "modest");
        assertThat(limits.enter(waiting)).isEqualTo(WAITING);
        assertThat(limits.leave(waiting)).isEmpty();
        assertThat(limits.leave(seats.get(0))).isEmpty();
        assertThat(limits.leave(seats.get(0))).isEmpty();
        assertThat(enter(READ, "greedy")).isEqualTo(SEATED);
        assertThat(enter(READ, "greedy")).isEqualTo(GONE);
    }

    @Test
    void overdueRequestIsReportedUntilItEnds() {
        Seat early = new Seat(READ, "a", false, false, 100);
        Seat late = new Seat(WRITE, "a", false, false, 200);
        limits.enter(early);
        limits.enter(late);
        assertThat(limits.overdue(99)).isEmpty();
        assertThat(limits.overdue(100)).containsExactly(early);
        assertThat(limits.overdue(200)).containsExactlyInAnyOrder(early, late);
        limits.leave(early);
        assertThat(limits.overdue(200)).containsExactly(late);
        assertThat(limits.idle()).isFalse();
        limits.leave(late);
        assertThat(limits.idle()).isTrue();
    }

    @Test
    void numberOfSeatsIsInvariant() {
        Random random = new Random(1);
        ConcurrencyLimits some = new ConcurrencyLimits(new FlowControlOptions(5, 3, 2, 1, Duration.ofSeconds(60)));
        ArrayDeque<Seat> seated = new ArrayDeque<>();
        Map<String, Integer> waiting = new TreeMap<>();
        for (int i = 0; i < 100_000; i++) {
            if (random.nextInt(2) == 0 || seated.isEmpty()) {
                Seat seat = seat(READ, "user-" + random.nextInt(6));
                switch (some.enter(seat)) {
                    case SEATED -> seated.add(seat);
                    case WAITING -> waiting.merge(seat.user(), 1, Integer::sum);
                    case GONE -> assertThat(seated).hasSize(5);
                }
            } else {
                Optional<Seat> next = some.leave(seated.remove());
                next.ifPresent(seat -> {
                    waiting.merge(seat.user(), -1, Integer::sum);
                    seated.add(seat);
                });
            }
            int waits = waiting.values().stream().mapToInt(Integer::intValue).sum();
            assertThat(seated.size()).isLessThanOrEqualTo(5);
            assertThat(waits).isLessThanOrEqualTo(5);
            if (waits > 0) {
                assertThat(seated).hasSize(5);
            }
        }
        while (!seated.isEmpty()) {
            some.leave(seated.remove()).ifPresent(seated::add);
        }
        assertThat(some.idle()).isTrue();
    }
}
