package io.nodekeeper.agent.companion;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.FakeTransport.Watch;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KubeletWatchTest {
    private static final Consumer<Watch> SILENT = watch -> {};
    private static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");

    private final VirtualTime time = new VirtualTime(BEGIN);
    private final VirtualTime.VirtualLoop loop = time.loop("companion");
    private final FakeTransport health = new FakeTransport();
    private final FakeTransport metrics = new FakeTransport();
    private final KubeletWatch kubelet = new KubeletWatch(health, Optional.of(metrics), loop, Randoms.seeded(1));

    /** The fake opens before it returns the stream, so answers come on the loop. */
    private void answers(FakeTransport transport, Consumer<Watch> answer) {
        transport.opened(watch -> loop.execute(() -> answer.accept(watch)));
    }

    @BeforeEach
    void start() {
        answers(health, Watch::end);
        answers(metrics, watch -> {
            watch.line("kubelet_pleg_last_seen_seconds 1767225600");
            watch.end();
        });
    }

    @Test
    void aKubeletThatNeverAnsweredMayHaveAnotherPort() {
        answers(health, Watch::breakOff);
        answers(metrics, Watch::breakOff);
        kubelet.start();
        time.advance(Duration.ofMinutes(10));

        assertThat(kubelet.silence()).isEmpty();
        assertThat(kubelet.observed()).isFalse();
        assertThat(kubelet.runs()).isFalse();
    }

    @Test
    void aKubeletThatStopsToAnswerIsSilentSinceTheFirstFailedCheck() {
        kubelet.start();
        time.advance(Duration.ofSeconds(60));
        assertThat(kubelet.runs()).isTrue();

        answers(health, SILENT);
        time.advance(Duration.ofSeconds(60));

        assertThat(kubelet.runs()).isFalse();
        assertThat(kubelet.silence().orElseThrow()).isBetween(Duration.ofSeconds(48), Duration.ofSeconds(60));
        assertThat(health.watches().getLast().call()).hasToString("GET /healthz");

        answers(health, Watch::end);
        time.advance(Duration.ofSeconds(20));
        assertThat(kubelet.runs()).isTrue();
        assertThat(kubelet.silence()).isEmpty();
    }

    /** A busy kubelet may miss one. The pulse of the companion looks each second. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void oneFailedCheckAccusesNoKubelet(boolean refuses) {
        // given a kubelet that answers each third check only, or two of three
        int[] checks = {0};
        transportOf(check -> check % 3 == 1, refuses, checks);
        kubelet.start();

        // then it is never silent while no two in a row fail
        for (int second = 0; second < 600; second++) {
            time.advance(Duration.ofSeconds(1));
            assertThat(kubelet.silence()).isEmpty();
            assertThat(kubelet.runs()).isTrue();
        }
        assertThat(checks[0]).isGreaterThan(30);
    }

    private void transportOf(IntPredicate fails, boolean refuses, int[] checks) {
        answers(health, watch -> {
            if (!fails.test(checks[0]++)) {
                watch.end();
            } else if (refuses) {
                watch.refuse(new ApiException(500, "", "syncloop failed"));
            }
        });
    }

    @Test
    void aStepOfTheClockChangesNoSilence() {
        // given a kubelet that was silent for a minute
        kubelet.start();
        time.advance(Duration.ofSeconds(30));
        answers(health, SILENT);
        time.advance(Duration.ofSeconds(60));
        Duration before = kubelet.silence().orElseThrow();

        // when the clock steps
        loop.skewWallClock(Duration.ofHours(-1));

        // then
        assertThat(kubelet.silence()).contains(before);
    }

    @Test
    void aRefusedHealthCheckIsAFailedOne() {
        kubelet.start();
        time.advance(Duration.ofSeconds(30));
        answers(health, watch -> watch.refuse(new ApiException(500, "", "syncloop failed")));
        time.advance(Duration.ofSeconds(30));

        assertThat(kubelet.silence()).isPresent();
    }

    @Test
    void metricsThatCannotBeReadAnyMoreDoNotCount() {
        kubelet.start();
        time.advance(Duration.ofSeconds(20));
        assertThat(kubelet.metrics().flatMap(KubeletMetrics::lastRelist)).hasValue(BEGIN);

        answers(metrics, watch -> watch.refuse(new ApiException(403, "", "forbidden")));
        time.advance(Duration.ofSeconds(20));
        assertThat(kubelet.metrics()).isEmpty();
    }

    @Test
    void aScrapeThatNeverEndsIsGivenUp() {
        byte[] noise = new byte[1 << 20];
        answers(metrics, watch -> {
            for (int i = 0; i < 20; i++) {
                watch.line(new String(noise, StandardCharsets.ISO_8859_1));
            }
        });
        kubelet.start();
        time.advance(Duration.ofSeconds(1));
        assertThat(metrics.watches().getFirst().cancelled()).isTrue();

        answers(metrics, SILENT);
        time.advance(Duration.ofSeconds(30));
        assertThat(kubelet.metrics()).isEmpty();
        assertThat(metrics.watches().get(1).cancelled()).isTrue();
    }

    @Test
    void afterItsEndNothingIsAsked() {
        kubelet.start();
        time.advance(Duration.ofSeconds(20));
        kubelet.stop();
        time.advance(Duration.ofSeconds(1));
        int asked = health.watches().size() + metrics.watches().size();
        time.advance(Duration.ofMinutes(5));

        assertThat(health.watches().size() + metrics.watches().size()).isEqualTo(asked);
    }
}
