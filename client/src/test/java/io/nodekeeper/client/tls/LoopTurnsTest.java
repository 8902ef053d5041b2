package io.nodekeeper.client.tls;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who is next, and when. */
class LoopTurnsTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2026-11-29T07:00:00Z"));
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final LoopTurns turns =
            new LoopTurns(channel.eventLoop(), time.loop("test").clock());
    private final List<String> order = new ArrayList<>();

    @BeforeEach
    void freeze() {
        channel.freezeTime();
    }

    private void pass(long millis) {
        time.advance(Duration.ofMillis(millis));
        channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();
    }

    private void wait(String address, String name, int millis) {
        turns.await(address, () -> {
            order.add(name);
            if (millis > 0) {
                turns.charge(TimeUnit.MILLISECONDS.toNanos(millis));
            }
        });
    }

    @Test
    void nobodyWaitsWhileRecordsHaveData() {
        assertThat(turns.isFree()).isTrue();
    }

    @Test
    void othersHaveFourFifthsOfTheTime() {
        // given a record without data that took 100 ms
        turns.charge(TimeUnit.MILLISECONDS.toNanos(100));
        wait("a", "a1", 0);

        // when 399 ms pass, then the next one waits
        pass(399);
        assertThat(turns.isFree()).isFalse();
        assertThat(order).isEmpty();

        // and then it is processed
        pass(2);
        assertThat(order).containsExactly("a1");
        assertThat(turns.isFree()).isTrue();
    }

    @Test
    void addressesTakeTurns() {
        // given an address with five records that take 10 ms each, and then two with one each
        turns.charge(TimeUnit.MILLISECONDS.toNanos(10));
        for (int i = 1; i <= 5; i++) {
            wait("a", "a" + i, 10);
        }
        wait("b", "b1", 10);
        wait("c", "c1", 10);

        // when there is time for four
        for (int i = 0; i < 4; i++) {
            pass(41);
        }

        // then each address had its turn
        assertThat(order).containsExactly("a1", "b1", "c1", "a2");

        // and the others come to their turn, too
        for (int i = 0; i < 3; i++) {
            pass(41);
        }
        assertThat(order).containsExactly("a1", "b1", "c1", "a2", "a3", "a4", "a5");
        pass(41);
        assertThat(turns.isFree()).isTrue();
    }

    @Test
    void turnsThatCostNothingFollowOneAnother() {
        // given a thousand honest clients behind an attack
        turns.charge(TimeUnit.MILLISECONDS.toNanos(100));
        for (int i = 0; i < 1_000; i++) {
            wait("10.0.0." + i, "x", 0);
        }

        // when its pause has passed
        pass(401);
        assertThat(order).hasSizeGreaterThanOrEqualTo(64);
        for (int i = 0; i < 20; i++) {
            pass(0);
        }

        // then all have been served
        assertThat(order).hasSize(1_000);
        assertThat(turns.isFree()).isTrue();
    }

    @Test
    void severalOffencesAddUp() {
        turns.charge(TimeUnit.MILLISECONDS.toNanos(100));
        turns.charge(TimeUnit.MILLISECONDS.toNanos(100));
        pass(799);
        assertThat(turns.isFree()).isFalse();
        pass(2);
        assertThat(turns.isFree()).isTrue();
    }

    @Test
    void suspectsAreBehindAllOthersForFiveMinutes() {
        // given an address that exceeded the limit, and waits with another one
        turns.charge(TimeUnit.MILLISECONDS.toNanos(10));
        turns.suspect("bad");
        wait("bad", "bad1", 10);
        wait("bad", "bad2", 10);
        wait("good", "good1", 10);
        wait("good", "good2", 10);

        // when there is time for one after the other
        for (int i = 0; i < 4; i++) {
            pass(41);
        }
        assertThat(order).containsExactly("good1", "good2", "bad1", "bad2");

        // then it is as good as others after five minutes
        pass(TimeUnit.MINUTES.toMillis(5));
        turns.charge(TimeUnit.MILLISECONDS.toNanos(10));
        wait("bad", "bad3", 10);
        wait("good", "good3", 10);
        pass(41);
        assertThat(order).last().isEqualTo("bad3");
    }

    @Test
    void numberOfSuspectsIsLimited() {
        for (int i = 0; i <= LoopTurns.SUSPECTS; i++) {
            turns.suspect(i);
        }
        assertThat(turns.isSuspect(0)).isFalse();
        assertThat(turns.isSuspect(1)).isTrue();
    }

    @Test
    void turnThatFailsDoesNotStopTheOthers() {
        turns.charge(TimeUnit.MILLISECONDS.toNanos(100));
        turns.await("a", () -> {
            throw new OutOfMemoryError("a test");
        });
        wait("b", "b1", 0);
        pass(401);
        pass(0);
        assertThat(order).containsExactly("b1");
        assertThat(turns.isFree()).isTrue();
    }

    @Test
    void connectionThatIsClosedWaitsNoLonger() {
        turns.charge(TimeUnit.MILLISECONDS.toNanos(100));
        Runnable gone = () -> order.add("gone");
        turns.await("a", gone);
        wait("b", "b1", 0);
        turns.leave("a", gone);
        pass(401);
        assertThat(order).containsExactly("b1");
    }
}
