package io.nodekeeper.client.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OpeningTurnsTest {
    private final EmbeddedChannel time = new EmbeddedChannel();
    private final List<HttpExchange> opened = new ArrayList<>();
    private final OpeningTurns turns = new OpeningTurns(time.eventLoop(), this::open);
    private final Set<Integer> depths = new HashSet<>();
    private boolean failing;
    private final List<HttpExchange> burst = new ArrayList<>();

    @BeforeEach
    void freeze() {
        time.freezeTime();
    }

    @Test
    void eightAreOpenedAtATimeAndTheOthersInTheirOrder() {
        burst(20);
        assertThat(opened).isEqualTo(burst.subList(0, 8));

        turns.ended(burst.get(3));
        turns.ended(burst.get(3));

        assertThat(opened).isEqualTo(burst.subList(0, 9));
        for (int i = 0; i < 20; i++) {
            turns.ended(burst.get(i));
        }
        assertThat(opened).isEqualTo(burst);
        assertThat(turns.isAnyWaiting()).isFalse();
    }

    @Test
    void aConnectionThatBecomesIdleServesTheOneThatHasWaitedLongest() {
        burst(10);

        assertThat(turns.poll()).contains(burst.get(8));
        turns.ended(burst.get(0));

        assertThat(opened).endsWith(burst.get(9)).hasSize(9);
        assertThat(turns.poll()).isEmpty();
    }

    @Test
    void whoGivesUpWhileWaitingGetsNoConnection() {
        burst(10);
        burst.get(8).cancel();

        turns.ended(burst.get(0));

        assertThat(opened).endsWith(burst.get(9)).hasSize(9);
    }

    @Test
    void openingsThatAllFailAtOnceNeedNoDeepStack() {
        burst(1_000);
        failing = true;

        turns.ended(burst.getFirst());

        assertThat(opened).hasSize(1_000);
        assertThat(depths).hasSize(1);
    }

    /** An address that accepts connections and does not answer. */
    @Test
    void openingsThatHangDelayTheOthersByHalfASecond() {
        burst(20);

        time.advanceTimeBy(499, TimeUnit.MILLISECONDS);
        time.runScheduledPendingTasks();
        assertThat(opened).hasSize(8);
        time.advanceTimeBy(1, TimeUnit.MILLISECONDS);
        time.runScheduledPendingTasks();

        assertThat(opened).hasSize(16);
    }

    private void open(HttpExchange exchange) {
        opened.add(exchange);
        if (failing) {
            depths.add(Thread.currentThread().getStackTrace().length);
            turns.ended(exchange);
        }
    }

    private void burst(int exchanges) {
        for (int i = 0; i < exchanges; i++) {
            HttpExchange exchange = new HttpExchange(
                    Runnable::run, HttpMethod.GET, "/" + i, new DefaultHttpHeaders(), new byte[0], new Ignoring());
            burst.add(exchange);
            turns.add(exchange);
        }
    }

    private static final class Ignoring implements ResponseReceiver {
        @Override
        public void head(HttpResponse head) {}

        @Override
        public void body(ByteBuf bytes) {}

        @Override
        public CompletableFuture<Void> arrived() {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public void end() {}

        @Override
        public void failed(Throwable why) {}
    }
}
