package io.nodekeeper.client.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class ExecCredentialsTest {
    private static final Instant B = Instant.parse("2015-01-01T12:00:00Z");

    private final VirtualTime time = new VirtualTime(B);
    private final List<CompletableFuture<ExecCredential>> runs = new ArrayList<>();
    private final Deque<CompletableFuture<ExecCredential>> answers = new ArrayDeque<>();
    private final ExecCredentials credentials = new ExecCredentials(time.loop("credentials"), () -> {
        CompletableFuture<ExecCredential> run = answers.isEmpty() ? new CompletableFuture<>() : answers.poll();
        runs.add(run);
        return run;
    });

    private static ExecCredential token(String token, Duration life) {
        return new ExecCredential(token, Optional.empty(), Optional.of(B.plus(life)));
    }

    private CompletableFuture<ExecCredential> ask() {
        CompletableFuture<ExecCredential> answer = credentials.current();
        time.advance(Duration.ofMillis(1));
        return answer;
    }

    private void answer(int run, ExecCredential credential) {
        runs.get(run).complete(credential);
        time.advance(Duration.ofMillis(1));
    }

    @Test
    void allCallsWaitForOneRunAndItsCredentialIsKept() {
        CompletableFuture<ExecCredential> first = ask();
        CompletableFuture<ExecCredential> second = ask();
        assertThat(runs).hasSize(1);
        assertThat(first).isNotDone();

        answer(0, token("a", Duration.ofMinutes(15)));

        assertThat(List.of(first.join(), second.join(), ask().join()))
                .allSatisfy(credential -> assertThat(credential.token()).isEqualTo("a"));
        assertThat(runs).hasSize(1);
    }

    @Test
    void credentialIsRenewedAMinuteBeforeItExpiresWhileTheOldOneServes() {
        // given
        ask();
        answer(0, token("a", Duration.ofMinutes(15)));
        time.advance(Duration.ofSeconds(14 * 60 + 1));

        // when
        CompletableFuture<ExecCredential> during = ask();

        // then
        assertThat(during.join().token()).isEqualTo("a");
        assertThat(runs).hasSize(2);
        answer(1, token("b", Duration.ofMinutes(30)));
        assertThat(ask().join().token()).isEqualTo("b");
    }

    @Test
    void callsWaitOnceTheCredentialHasExpired() {
        ask();
        answer(0, token("a", Duration.ofMinutes(15)));
        time.advance(Duration.ofMinutes(15));

        CompletableFuture<ExecCredential> late = ask();
        assertThat(late).isNotDone();
        answer(1, token("b", Duration.ofMinutes(30)));

        assertThat(late.join().token()).isEqualTo("b");
    }

    @Test
    void runThatFailsChangesNothingWhileTheCredentialIsValidAndIsRepeatedAfterAPause() {
        ask();
        answer(0, token("a", Duration.ofMinutes(15)));
        time.advance(Duration.ofSeconds(14 * 60 + 30));

        ask();
        runs.get(1).completeExceptionally(new CredentialException("no network"));
        assertThat(ask().join().token()).isEqualTo("a");
        assertThat(runs).hasSize(2);

        time.advance(Duration.ofSeconds(10));
        assertThat(ask().join().token()).isEqualTo("a");
        assertThat(runs).hasSize(3);
    }

    @Test
    void pluginThatFailsRunsOnceInTenSecondsAndItsReasonIsGivenMeanwhile() {
        answers.add(CompletableFuture.failedFuture(new CredentialException("exited with 1")));
        assertThat(ask()).isCompletedExceptionally();
        assertThat(ask().exceptionNow()).hasMessage("exited with 1");
        assertThat(runs).hasSize(1);

        time.advance(Duration.ofSeconds(10));
        ask();

        assertThat(runs).hasSize(2);
    }

    @Test
    void credentialThatTheServerRefusesIsReplaced() {
        // given a credential without an end
        ask();
        ExecCredential refused = new ExecCredential("a", Optional.empty(), Optional.empty());
        answer(0, refused);
        time.advance(Duration.ofDays(1));
        assertThat(ask().join()).isEqualTo(refused);

        // when
        credentials.refused(refused);
        CompletableFuture<ExecCredential> next = ask();

        // then
        assertThat(runs).hasSize(2);
        answer(1, token("b", Duration.ofDays(2)));
        assertThat(next.join().token()).isEqualTo("b");

        // and a late answer to the old one changes nothing
        credentials.refused(refused);
        time.advance(Duration.ofMinutes(1));
        assertThat(ask().join().token()).isEqualTo("b");
        assertThat(runs).hasSize(2);
    }
}
