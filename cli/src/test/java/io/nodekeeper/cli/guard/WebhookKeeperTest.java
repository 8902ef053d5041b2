package io.nodekeeper.cli.guard;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.FakeTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.config.Identity;
import io.nodekeeper.controller.guard.Blame;
import io.nodekeeper.controller.guard.SwitchState;
import io.nodekeeper.controller.guard.Webhook;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.net.URI;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Certificates and the switch in virtual time, against a server that stores the webhook configuration. */
class WebhookKeeperTest {
    private static final Instant NOW = Instant.parse("2026-11-23T03:00:00Z");

    private final VirtualTime time = new VirtualTime(NOW);
    private final VirtualTime.VirtualLoop loop = time.loop("guard");
    private final FakeTransport server = new FakeTransport();
    private final SwitchState state = new SwitchState();
    private final List<Identity> shown = new ArrayList<>();
    private Optional<Webhook> stored = Optional.of(
            Webhook.of(new Webhook.Target.Service("kube-system", "nodekeeper-guard", 443), Blame.USERS, true));
    private final List<Boolean> mismatches = new ArrayList<>();
    private int updates;
    private boolean refuses;
    private boolean readOnly;

    private WebhookKeeper keeper() {
        server.answer(this::answer);
        WebhookKeeper.Endpoint endpoint = new WebhookKeeper.Endpoint() {
            @Override
            public void show(Identity identity) {
                shown.add(identity);
            }

            @Override
            public void mismatch(boolean found) {
                mismatches.add(found);
            }
        };
        return new WebhookKeeper(
                loop, new KubeClient(server, loop, Duration.ofSeconds(10)), state, Randoms.seeded(1), endpoint);
    }

    private Optional<Reply> answer(Call call) {
        assertThat(call.target())
                .isEqualTo("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/nodekeeper-guard");
        if (refuses || (readOnly && call.method().equals("PUT"))) {
            return Optional.of(FakeTransport.refusal(new ApiException(409, "Conflict", "changed")));
        }
        if (call.method().equals("PUT")) {
            updates++;
            stored = Optional.of(new Webhook(Json.parseObject(call.body())));
        }
        return Optional.of(stored.map(webhook -> FakeTransport.reply(200, webhook.json()))
                .orElseGet(() -> FakeTransport.refusal(new ApiException(404, "NotFound", "none"))));
    }

    private Set<X509Certificate> trusted() {
        return TrustBundle.read(stored.orElseThrow().caBundle());
    }

    /** Whether a client that trusts what is stored accepts what the server shows last. */
    private boolean isAccepted() {
        return trusted().stream().anyMatch(authority -> {
            try {
                shown.getLast().certificate().verify(authority.getPublicKey());
                shown.getLast().certificate().checkValidity(Date.from(time.wallTime()));
                return true;
            } catch (GeneralSecurityException e) {
                return false;
            }
        });
    }

    @Test
    void theFirstCertificateIsPublishedAndThenShown() throws Exception {
        keeper().start();
        time.advance(Duration.ofSeconds(1));
        assertThat(trusted()).hasSize(1);
        assertThat(shown).hasSize(1);
        assertThat(isAccepted()).isTrue();
        assertThat(shown.getFirst().certificate().getSubjectAlternativeNames().toString())
                .isEqualTo("[[2, nodekeeper-guard.kube-system.svc]]");
        assertThat(state.off(loop.nanoTime())).isEmpty();
    }

    @Test
    void rotationKeepsTheEndpointTrustedAtEveryMoment() {
        keeper().start();
        time.advance(Duration.ofSeconds(1));
        for (int minute = 0; minute < 9 * 24 * 60; minute += 5) {
            time.advance(Duration.ofMinutes(5));
            assertThat(isAccepted()).as("at %s", time.wallTime()).isTrue();
            assertThat(trusted()).hasSizeLessThanOrEqualTo(9);
        }
        // One certificate each day, none of which outlives its week in the bundle. The last one is not shown yet.
        assertThat(shown).hasSize(9);
        assertThat(updates).isEqualTo(10);
    }

    @Test
    void aNewCertificateIsPublishedAMinuteBeforeItIsShown() {
        keeper().start();
        time.advance(Duration.ofDays(1).minusSeconds(1));
        assertThat(updates).isEqualTo(1);
        time.advance(Duration.ofSeconds(20));
        assertThat(updates).isEqualTo(2);
        assertThat(shown).hasSize(1);
        time.advance(Duration.ofSeconds(70));
        assertThat(shown).hasSize(2);
    }

    @Test
    void twoGuardsAddTheirCertificatesToTheSameBundle() {
        keeper().start();
        time.advance(Duration.ofSeconds(1));
        keeper().start();
        time.advance(Duration.ofSeconds(30));
        assertThat(trusted()).hasSize(2);
        assertThat(shown).hasSize(2);
        int before = updates;
        time.advance(Duration.ofHours(1));
        assertThat(updates).as("they do not fight").isEqualTo(before);
    }

    @Test
    void aConflictIsRetriedAndNothingIsShownBeforeItIsTrusted() {
        refuses = true;
        keeper().start();
        time.advance(Duration.ofMinutes(3));
        assertThat(shown).isEmpty();
        assertThat(state.off(loop.nanoTime())).isPresent();
        refuses = false;
        time.advance(Duration.ofSeconds(10));
        assertThat(isAccepted()).isTrue();
    }

    @Test
    void aConfigurationThatIsResetAgainAndAgainMismatchesThoughItIsRepaired() {
        keeper().start();
        time.advance(Duration.ofSeconds(11));
        assertThat(mismatches).as("none is trusted at the start").containsExactly(true, false);
        for (int i = 0; i < 3; i++) {
            stored = Optional.of(stored.orElseThrow().withCaBundle(""));
            time.advance(Duration.ofSeconds(10));
            assertThat(isAccepted()).as("repaired").isTrue();
        }
        time.advance(Duration.ofSeconds(10));
        assertThat(mismatches).containsExactly(true, false, true, true, true, false);
    }

    @Test
    void aCertificateThatCannotBeReplacedMismatchesWhenItHasExpired() {
        keeper().start();
        time.advance(Duration.ofSeconds(11));
        refuses = true;
        time.advance(Duration.ofDays(6));
        refuses = false;
        readOnly = true;
        time.advance(Duration.ofDays(1).minusSeconds(40));
        assertThat(mismatches.getLast()).isFalse();
        assertThat(isAccepted()).isTrue();
        time.advance(Duration.ofMinutes(1));
        assertThat(mismatches.getLast()).isTrue();
        assertThat(isAccepted()).isFalse();
        readOnly = false;
        time.advance(Duration.ofMinutes(2));
        assertThat(mismatches.getLast()).isFalse();
        assertThat(isAccepted()).isTrue();
    }

    @Test
    void theAnnotationSwitchesTheGuardOffAndOnWithinTenSeconds() {
        keeper().start();
        time.advance(Duration.ofSeconds(1));
        JsonObject on = stored.orElseThrow().json();
        stored = Optional.of(new Webhook(on.update(
                "metadata",
                metadata -> metadata.with("annotations", JsonObject.EMPTY.with("nodekeeper.io/guard", "off")))));
        time.advance(Duration.ofSeconds(10));
        assertThat(state.off(loop.nanoTime()))
                .contains("the annotation nodekeeper.io/guard of the ValidatingWebhookConfiguration is off");
        stored = Optional.of(new Webhook(on));
        time.advance(Duration.ofSeconds(10));
        assertThat(state.off(loop.nanoTime())).isEmpty();
    }

    @Test
    void aRemovedConfigurationSwitchesTheGuardOffAndAnAppliedOneOn() {
        Webhook applied = stored.orElseThrow();
        stored = Optional.empty();
        keeper().start();
        time.advance(Duration.ofSeconds(1));
        assertThat(state.off(loop.nanoTime())).contains("there is no ValidatingWebhookConfiguration nodekeeper-guard");
        assertThat(updates).isZero();
        assertThat(mismatches).containsOnly(false);
        stored = Optional.of(applied);
        time.advance(Duration.ofSeconds(10));
        assertThat(isAccepted()).isTrue();
    }

    @Test
    void anotherAddressGetsACertificateForIt() {
        keeper().start();
        time.advance(Duration.ofSeconds(1));
        stored = Optional.of(
                Webhook.of(new Webhook.Target.Address(URI.create("https://10.0.0.7:9443")), Blame.USERS, true));
        time.advance(Duration.ofSeconds(10));
        assertThat(mismatches.getLast()).as("the shown one is for the Service").isTrue();
        time.advance(Duration.ofMinutes(2));
        assertThat(mismatches.getLast()).isFalse();
        assertThat(shown).hasSize(2);
        assertThat(isAccepted()).isTrue();
    }

    @Test
    void anAddressThatIsTakenBackWithinAMinuteChangesNothing() {
        keeper().start();
        time.advance(Duration.ofSeconds(1));
        Optional<Webhook> before = stored;
        stored = Optional.of(
                Webhook.of(new Webhook.Target.Address(URI.create("https://10.0.0.7:9443")), Blame.USERS, true));
        time.advance(Duration.ofSeconds(20));

        stored = before;

        for (int second = 0; second < 300; second += 10) {
            time.advance(Duration.ofSeconds(10));
            assertThat(isAccepted()).as("at %s", time.wallTime()).isTrue();
        }
        assertThat(shown).hasSize(1);
    }

    @Test
    void unreadableCertificatesAreReplaced() {
        stored = Optional.of(stored.orElseThrow().withCaBundle("!rubbish"));
        keeper().start();
        time.advance(Duration.ofSeconds(1));
        assertThat(trusted()).hasSize(1);
        assertThat(isAccepted()).isTrue();
    }

    @Test
    void theBundleHasALimitAndKeepsOwnCertificates() {
        List<X509Certificate> many = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            many.add(ServingCertificate.issue(List.of("a"), NOW.plusSeconds(i), Randoms.seeded(i))
                    .authority());
        }
        String bundle = TrustBundle.merged("", many.subList(0, 15), NOW);
        String next = TrustBundle.merged(bundle, many.subList(15, 17), NOW);
        assertThat(TrustBundle.read(next))
                .hasSize(16)
                .containsAll(many.subList(15, 17))
                .doesNotContain(many.get(0));
        assertThat(TrustBundle.merged(next, many.subList(15, 17), NOW)).isSameAs(next);
        assertThat(TrustBundle.read(TrustBundle.merged(next, many.subList(20, 21), NOW.plus(Duration.ofDays(8)))))
                .containsExactly(many.get(20));
    }
}
