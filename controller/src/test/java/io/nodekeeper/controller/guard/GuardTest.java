package io.nodekeeper.controller.guard;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.observer.StalledHop;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** When a write that blames a node is refused. */
class GuardTest {
    private static final Instant NOW = Instant.parse("2026-11-23T03:00:00Z");
    private static final Duration GRACE = Duration.ofSeconds(50);
    private static final Blame BLAME =
            new Blame(Blame.Kind.STATUS, "n1", "uid-1", "system:kube-controller-manager", "changes Ready to Unknown");
    private static final OwnSight SEES = new OwnSight.Sees(20);

    private final RefusalBudget budget = new RefusalBudget(1, Duration.ofMinutes(15));

    private static LiveLease renewed(Duration ago) {
        return new LiveLease.Renewed(NOW.minus(ago));
    }

    private GuardVerdict enforced(LiveLease lease, OwnSight sight) {
        return new Guard(GRACE, true).decide(BLAME, lease, sight, NOW, budget, 0);
    }

    @Test
    void aNodeWhoseLeaseIsFreshIsProtected() {
        assertThat(enforced(renewed(Duration.ofSeconds(3)), SEES))
                .isInstanceOfSatisfying(
                        GuardVerdict.Refuse.class,
                        refused -> assertThat(refused.proof().text())
                                .isEqualTo("node n1 renewed its lease 3s ago, within the grace of 50s"));
    }

    @Test
    void withoutEnforcementTheWritePassesWithAWarning() {
        assertThat(new Guard(GRACE, false).decide(BLAME, renewed(Duration.ofSeconds(3)), SEES, NOW, budget, 0))
                .isInstanceOf(GuardVerdict.AllowWithWarning.class);
    }

    @ParameterizedTest
    @CsvSource({
        "49999, refused",
        "50000, allowed",
        "50001, allowed",
        "0, refused",
        "-10000, refused",
        "-10001, allowed",
        "-3600000, allowed"
    })
    void theBordersAreTheGraceAndTheToleratedErrorOfTheNodesClock(long millisAgo, String verdict) {
        assertThat(enforced(renewed(Duration.ofMillis(millisAgo)), SEES).label())
                .isEqualTo(verdict);
    }

    @ParameterizedTest
    @CsvSource({
        // Silent for 60 s now, blind for 20 s: it had been silent for 40 s when that could last be seen.
        "60, 20, WATCH, refused",
        "60, 20, STORE, refused",
        "60, 20, API_SERVER, refused",
        // This process stood still, which says nothing about the node's renewals.
        "60, 20, CONTROLLER, allowed",
        // Silent for 50 s before the blindness began.
        "70, 20, STORE, allowed",
        "69, 20, STORE, refused"
    })
    void whileTheControllerIsBlindOnlyTheSilenceBeforeItCounts(
            int silentSeconds, int blindSeconds, StalledHop hop, String verdict) {
        OwnSight blind = new OwnSight.Blind(20, Duration.ofSeconds(blindSeconds), hop);
        assertThat(enforced(renewed(Duration.ofSeconds(silentSeconds)), blind).label())
                .isEqualTo(verdict);
    }

    @ParameterizedTest
    @CsvSource({
        // Silent for 3 s before the blindness and for 2 s since.
        "65, 40, refused",
        "65, 50, refused",
        // Silent for 45 s before it.
        "107, 40, allowed",
        "107, 50, refused",
        // The grace had ended when the blindness began.
        "112, 50, allowed",
        "3600, 50, allowed",
        // Renewed in the middle of it, or after it.
        "30, 50, refused",
        "1, 50, refused"
    })
    void aBlindnessThatIsOverIsNoSilence(int silentSeconds, int graceSeconds, String verdict) {
        OwnSight.Past past = new OwnSight.Past(Duration.ofSeconds(62), Duration.ofSeconds(2));
        Guard guard = new Guard(Duration.ofSeconds(graceSeconds), true);
        OwnSight sees = new OwnSight.Sees(20, List.of(past));
        assertThat(guard.decide(BLAME, renewed(Duration.ofSeconds(silentSeconds)), sees, NOW, budget, 0)
                        .label())
                .isEqualTo(verdict);
    }

    @Test
    void anEarlierBlindnessIsNoSilenceWhileTheNextOneLasts() {
        // Silent for 30 s, blind for 60 s, sight for 5 s, blind for 10 s so far.
        OwnSight.Past past = new OwnSight.Past(Duration.ofSeconds(75), Duration.ofSeconds(15));
        OwnSight blind = new OwnSight.Blind(20, Duration.ofSeconds(10), StalledHop.STORE, List.of(past));
        assertThat(enforced(renewed(Duration.ofSeconds(105)), blind))
                .isInstanceOfSatisfying(
                        GuardVerdict.Refuse.class,
                        refused -> assertThat(refused.proof().text())
                                .isEqualTo("node n1 renewed its lease 35s before the control plane stalled (store,"
                                        + " for 10s), not counting 1m0s in which the control plane stalled, within the"
                                        + " grace of 50s"));
    }

    @Test
    void anOldReportMovesThePastBack() {
        // given a blindness that ended 1 s before the report
        SightFeed feed = new SightFeed();
        OwnSight.Past past = new OwnSight.Past(Duration.ofSeconds(61), Duration.ofSeconds(1));
        feed.publish(new OwnSight.Sees(20, List.of(past)), 0);
        // when the report is 4 s old
        OwnSight sight = feed.at(Duration.ofSeconds(4).toNanos());
        // then it ended 5 s ago
        assertThat(sight.past()).containsExactly(new OwnSight.Past(Duration.ofSeconds(65), Duration.ofSeconds(5)));
    }

    @Test
    void whateverIsNotKnownLetsTheWritePass() {
        OwnSight unknown = new OwnSight.Unknown("nodes and leases are not listed yet");
        for (OwnSight sight : List.of(SEES, new OwnSight.Blind(20, Duration.ofSeconds(9), StalledHop.STORE), unknown)) {
            assertThat(enforced(new LiveLease.Unread("no answer within 300ms"), sight)
                            .label())
                    .isEqualTo("trouble");
            assertThat(enforced(LiveLease.of("n1", JsonObject.EMPTY), sight).label())
                    .isEqualTo("allowed");
        }
        assertThat(enforced(renewed(Duration.ofSeconds(3)), unknown).label()).isEqualTo("trouble");
        assertThat(enforced(renewed(Duration.ofSeconds(3)), new OwnSight.Sees(0))
                        .label())
                .isEqualTo("over_budget");
    }

    /** A renewTime is input: times thousands of years away must not break the arithmetic. */
    @ParameterizedTest
    @CsvSource({
        "-999999999-01-01T00:00:00Z",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "+999999999-12-31T23:59:59Z"
    })
    void absurdTimesPass(Instant renewTime) {
        assertThat(enforced(new LiveLease.Renewed(renewTime), SEES)).isInstanceOf(GuardVerdict.Allow.class);
    }

    @Provide
    static Arbitrary<OwnSight> sights() {
        return Arbitraries.oneOf(
                Combinators.combine(Arbitraries.integers().between(0, 5_000), pasts())
                        .as(OwnSight.Sees::new),
                Combinators.combine(
                                Arbitraries.integers().between(0, 5_000),
                                Arbitraries.longs().between(0, 600_000),
                                Arbitraries.of(StalledHop.class),
                                pasts())
                        .as((nodes, millis, hop, past) ->
                                new OwnSight.Blind(nodes, Duration.ofMillis(millis), hop, past)),
                Arbitraries.just(new OwnSight.Unknown("starting")));
    }

    /** Without a blindness, or with one of at most 100 s. */
    private static Arbitrary<List<OwnSight.Past>> pasts() {
        return Combinators.combine(
                        Arbitraries.longs().between(0, 300_000),
                        Arbitraries.longs().between(0, 100_000))
                .as((until, lasted) -> new OwnSight.Past(Duration.ofMillis(until + lasted), Duration.ofMillis(until)))
                .list()
                .ofMaxSize(1);
    }

    /** The whole rule, stated the other way round: whatever is refused satisfies all of this. */
    @Property(tries = 5_000)
    void aRefusalAlwaysHasItsProof(
            @ForAll("renewals") LiveLease lease, @ForAll("sights") OwnSight sight, @ForAll boolean enforce) {
        GuardVerdict verdict = new Guard(GRACE, enforce).decide(BLAME, lease, sight, NOW, budget, 0);
        if (verdict instanceof GuardVerdict.Allow) {
            return;
        }
        assertThat(verdict).isInstanceOf(enforce ? GuardVerdict.Refuse.class : GuardVerdict.AllowWithWarning.class);
        assertThat(lease).isInstanceOf(LiveLease.Renewed.class);
        assertThat(sight).isNotInstanceOf(OwnSight.Unknown.class);
        Instant renewTime = ((LiveLease.Renewed) lease).renewTime();
        Duration blind = sight instanceof OwnSight.Blind known && known.hop() != StalledHop.CONTROLLER
                ? known.since()
                : Duration.ZERO;
        Duration before = sight.past().stream()
                .map(past -> past.from().minus(past.until()))
                .reduce(Duration.ZERO, Duration::plus);
        assertThat(renewTime)
                .isAfter(NOW.minus(GRACE).minus(blind).minus(before))
                .isBeforeOrEqualTo(NOW.plusSeconds(10));
    }

    @Provide
    static Arbitrary<LiveLease> renewals() {
        return Arbitraries.oneOf(
                Arbitraries.longs().between(-120_000, 700_000).map(ago -> renewed(Duration.ofMillis(ago))),
                Arbitraries.just(new LiveLease.NoProof("the node has no lease")),
                Arbitraries.just(new LiveLease.Unread("timeout")));
    }
}
