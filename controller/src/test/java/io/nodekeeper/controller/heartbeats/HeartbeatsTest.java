package io.nodekeeper.controller.heartbeats;

import static io.nodekeeper.controller.heartbeats.Heartbeats.Source.LATE;
import static io.nodekeeper.controller.heartbeats.Heartbeats.Source.LIVE;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Condition;
import io.nodekeeper.api.KubeTime;
import io.nodekeeper.api.Lease;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.scan.LeaseLine;
import io.nodekeeper.controller.config.ControllerConfig;
import io.nodekeeper.controller.config.ControllerFeature;
import io.nodekeeper.controller.config.DetectorConfig;
import io.nodekeeper.controller.config.FeatureGates;
import io.nodekeeper.controller.observer.Ages;
import io.nodekeeper.controller.observer.ObserverGuard;
import io.nodekeeper.controller.observer.ProofKind;
import io.nodekeeper.time.DeadlineWheel;
import io.nodekeeper.time.Randoms;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What counts as a heartbeat, and when each node's grace period ends: 50 s after a heartbeat, 60 s for a node that
 * never reported. The controller sees all the time, so that the nodes' clock shows the time since its start.
 */
class HeartbeatsTest {
    private static final Instant START = Instant.parse("2020-01-01T00:00:00Z");
    private static final ControllerConfig CONFIG =
            new ControllerConfig(Duration.ofSeconds(5), Duration.ofSeconds(50), Duration.ofSeconds(60));

    private final List<String> signs = new ArrayList<>();
    private final ObserverGuard guard = ObserverGuard.off();
    private final DeadlineWheel<NodeHealth> wheel = new DeadlineWheel<>();
    private Heartbeats heartbeats = heartbeats(CONFIG);

    private Heartbeats heartbeats(ControllerConfig config) {
        return new Heartbeats(config, guard, wheel);
    }

    private void saw(Lease lease, Heartbeats.Source source, long now) {
        record(lease.name(), heartbeats.saw(lease, source, now));
    }

    private void saw(NodeHealth health, LeaseLine line, long now) {
        record(health.name(), heartbeats.saw(health, line, now));
    }

    /** False if the state was outdated. */
    private boolean saw(NodeHealth health, Node node, Heartbeats.Source source, long now) {
        Sign sign = heartbeats.saw(health, node, source, now);
        record(health.name(), sign);
        return sign != Sign.Plain.OUTDATED;
    }

    private void record(String name, Sign sign) {
        if (sign.isLife()) {
            signs.add(name
                    + (sign instanceof Sign.Returned(long silence, boolean renewed)
                            ? " returned after " + silence / s(1) + " s"
                            : " heard")
                    + (sign.isRenewal() ? ", renewed" : ""));
        }
    }

    private void listed(Lease lease) {
        heartbeats.leasesListed(Set.of(lease.name()));
        saw(lease, LIVE, s(20));
    }

    // Nodes.

    @Test
    void newNodeHasItsGraceFromItsFirstSight() {
        NodeHealth reported = heartbeats.add(node("a", "True", 1), s(10), Duration.ZERO);
        NodeHealth silent = heartbeats.add(node("b", "", 1), s(10), Duration.ZERO);

        assertThat(heartbeats.deadline(reported)).isEqualTo(s(60));
        assertThat(heartbeats.deadline(silent)).isEqualTo(s(70));
        assertThat(heartbeats.find("a")).contains(reported);
        assertThat(heartbeats.find("c")).isEmpty();
        assertThat(heartbeats.nodes()).containsExactlyInAnyOrder(reported, silent);
        assertThat(heartbeats.sizes()).isEqualTo(Map.of("nodes and leases", 2, "heirs", 0));
        assertThat(signs).isEmpty();
    }

    @Test
    @Tag("L1")
    void silenceBeforeTheFirstSightCountsUpToTheGraceAndATickOfTheWheel() {
        NodeHealth young = heartbeats.add(node("young", "", 1), s(100), Duration.ofSeconds(20));
        NodeHealth old = heartbeats.add(node("old", "", 1), s(100), Duration.ofDays(3_000));

        assertThat(heartbeats.deadline(young)).isEqualTo(s(140));
        assertThat(heartbeats.deadline(old)).isEqualTo(s(100) - DeadlineWheel.TICK_NANOS);
    }

    @Test
    @Tag("L10")
    void nodeWhoseLeaseIsThereHasItsWholeGraceHoweverOldItIs() {
        saw(lease("a", 1, 0), LIVE, s(99));

        NodeHealth health = heartbeats.add(node("a", "", 1), s(100), Duration.ofDays(1));

        assertThat(heartbeats.deadline(health)).isEqualTo(s(160));
    }

    @ParameterizedTest
    @CsvSource({
        "'', 2019-12-31T23:59:50Z, 10",
        "'', 2020-01-01T00:00:10Z, 0",
        "'', '', 0",
        "True, 2019-12-31T23:59:50Z, 0"
    })
    void silenceOfANodeThatNeverReportedCountsFromItsCreation(String ready, String created, long seconds) {
        Node node = new Node(node("a", ready, 1)
                .json()
                .update(
                        "metadata",
                        metadata -> created.isEmpty() ? metadata : metadata.with("creationTimestamp", created)));

        assertThat(Heartbeats.silence(node, START)).isEqualTo(Duration.ofSeconds(seconds));
    }

    @Test
    void forgivenSilenceCountsFromThatMoment() {
        NodeHealth before = heartbeats.add(node("a", "True", 1), s(10), Duration.ZERO);
        heartbeats.forgive(s(30));
        NodeHealth after = heartbeats.add(node("b", "True", 1), s(40), Duration.ZERO);

        assertThat(heartbeats.deadline(before)).isEqualTo(s(80));
        assertThat(heartbeats.deadline(after)).isEqualTo(s(90));
    }

    @Test
    void deadlineIsOnTheWheelUntilTheNodeIsUnknownOrGone() {
        NodeHealth health = heartbeats.add(node("a", "True", 1), s(10), Duration.ZERO);
        assertThat(expired(s(60))).isEmpty();
        assertThat(expired(s(62))).containsExactly(health);

        saw(health, node("a", "True", 2, 1), LIVE, s(70));
        saw(health, node("a", "Unknown", 3, 1), LIVE, s(71));
        assertThat(expired(s(300))).as("Unknown").isEmpty();

        saw(health, node("a", "True", 4, 2), LIVE, s(300));
        heartbeats.remove(health);
        assertThat(expired(s(600))).as("gone").isEmpty();
        assertThat(heartbeats.find("a")).isEmpty();
        assertThat(heartbeats.sizes()).containsEntry("nodes and leases", 0);
    }

    @Test
    void nodeThatIsUnknownWhenItIsFirstSeenHasNoDeadline() {
        heartbeats.add(node("a", "Unknown", 1), s(10), Duration.ZERO);

        assertThat(expired(s(600))).isEmpty();
    }

    @Test
    void removedNodeLeavesItsLeaseBehind() {
        saw(lease("a", 7, 5), LIVE, s(1));
        NodeHealth removed = heartbeats.add(node("a", "True", 1), s(10), Duration.ZERO);

        heartbeats.remove(removed);

        assertThat(heartbeats.isCurrent(removed)).isFalse();
        assertThat(heartbeats.find("a")).isEmpty();
        assertThat(heartbeats.leasesWithoutNode()).containsExactly("a");
        assertThat(heartbeats.leaseVersion("a")).isEqualTo(7);
        // The same state of it is no heartbeat of a node that has the name later, and neither is its old time.
        NodeHealth next = heartbeats.add(
                new Node(node("a", "True", 1).json().update("metadata", m -> m.with("uid", "other"))),
                s(20),
                Duration.ZERO);
        saw(lease("a", 7, 5), LATE, s(30));
        saw(lease("a", 8, 5), LATE, s(30));
        assertThat(heartbeats.deadline(next)).isEqualTo(s(70));
        saw(lease("a", 9, 6), LATE, s(31));
        assertThat(heartbeats.deadline(next)).isEqualTo(s(81));
        assertThat(heartbeats.isCurrent(next)).isTrue();
        assertThat(heartbeats.isCurrent(removed)).isFalse();
    }

    @Test
    void timeOfARestoredLeaseIsNoHeartbeatAfterTheNodeWasReplaced() {
        saw(lease("a", 7, 5), LIVE, s(1));
        NodeHealth first = heartbeats.add(node("a", "True", 1), s(1), Duration.ZERO);
        saw(lease("a", 8, 6), LATE, s(2));
        heartbeats.remove(first);
        NodeHealth second = heartbeats.add(node("a", "True", 1), s(3), Duration.ZERO);
        heartbeats.leaseGone("a");

        saw(lease("a", 9, 6), LATE, s(20));

        assertThat(heartbeats.deadline(second)).isEqualTo(s(53));
    }

    @Test
    @Tag("L25")
    void recreatedNodeOfTheReferenceInheritsTheSilenceOfItsName() {
        heartbeats = heartbeats(CONFIG.with(FeatureGates.ALL.without(ControllerFeature.STATE_BY_UID)));
        NodeHealth first = heartbeats.add(node("a", "True", 1), s(10), Duration.ZERO);
        heartbeats.remove(first);
        assertThat(heartbeats.sizes()).containsEntry("heirs", 1);

        NodeHealth silent = heartbeats.add(node("a", "", 1), s(30), Duration.ZERO);
        assertThat(heartbeats.deadline(silent)).as("60 s from 10 s on").isEqualTo(s(70));
        heartbeats.remove(silent);
        NodeHealth reported = heartbeats.add(node("a", "True", 1), s(30), Duration.ZERO);
        assertThat(heartbeats.deadline(reported))
                .as("what it reports is its own")
                .isEqualTo(s(80));
    }

    @Test
    void noMoreThan10000NamesAreInherited() {
        heartbeats = heartbeats(CONFIG.with(FeatureGates.ALL.without(ControllerFeature.STATE_BY_UID)));
        for (int i = 0; i < 10_001; i++) {
            heartbeats.remove(heartbeats.add(node("n" + i, "True", 1), s(10), Duration.ZERO));
        }

        assertThat(heartbeats.sizes()).containsEntry("heirs", 10_000);
        assertThat(heartbeats.deadline(heartbeats.add(node("n0", "", 1), s(30), Duration.ZERO)))
                .as("the oldest one is forgotten")
                .isEqualTo(s(90));
        assertThat(heartbeats.deadline(heartbeats.add(node("n1", "", 1), s(30), Duration.ZERO)))
                .isEqualTo(s(70));
    }

    // Status.

    @ParameterizedTest
    @CsvSource({
        // ready and heartbeat before, ready and heartbeat after, whether it is a heartbeat
        "True, 1, True, 1, false",
        "True, 1, True, 2, true",
        "True, 2, True, 1, true",
        "True, 1, False, 1, true",
        "True, 1, Unknown, 1, false",
        "True, 1, Unknown, 2, true",
        "Unknown, 1, True, 1, true",
        "Unknown, 1, Unknown, 1, false",
        "True, 1, '', 1, false",
        "'', 1, True, 1, true",
        "'', 1, Unknown, 1, false",
        "'', 1, '', 1, false",
    })
    void statusShowsASignOfLifeIfTheAgentMustHaveWrittenIt(
            String before, int heartbeatBefore, String after, int heartbeatAfter, boolean sign) {
        NodeHealth health = heartbeats.add(node("a", before, 1, heartbeatBefore), s(10), Duration.ZERO);

        saw(health, node("a", after, 2, heartbeatAfter), LIVE, s(30));

        assertThat(signs).isEqualTo(sign ? List.of("a heard") : List.of());
    }

    @Test
    void lateStateOfANodeIsIgnoredUnlessItIsNewer() {
        NodeHealth health = heartbeats.add(node("a", "True", 5, 1), s(10), Duration.ZERO);

        saw(health, node("a", "True", 5, 2), LATE, s(11));
        saw(health, node("a", "True", 4, 3), LATE, s(12));
        assertThat(signs).isEmpty();
        saw(health, node("a", "True", 6, 4), LATE, s(13));
        assertThat(signs).hasSize(1);
        saw(health, node("a", "True", 4, 5), LIVE, s(14));
        assertThat(signs).as("a read shows the truth of its moment").hasSize(2);
        saw(health, node("a", "True", 5, 6), LATE, s(15));
        assertThat(signs).as("and from there on newer ones count").hasSize(3);
    }

    @Test
    @Tag("L23")
    void nodeWhoseReadyConditionVanishesHasItsStartupGraceFromItsLastSign() {
        NodeHealth health = heartbeats.add(node("a", "True", 1), s(10), Duration.ZERO);

        saw(health, node("a", "", 2), LIVE, s(20));

        assertThat(heartbeats.deadline(health)).isEqualTo(s(70));
        assertThat(expired(s(69))).isEmpty();
        assertThat(expired(s(72))).containsExactly(health);
    }

    // Leases.

    @ParameterizedTest
    @CsvSource({
        // version and time of the next state, its holder, whether it is a heartbeat
        "6, 2, a, true",
        "6, 2, '', true",
        "6, 2, b, false",
        "6, 0, a, true",
        "6, 1, a, false",
        "6, -1, a, false",
        "4, 2, a, false",
        "5, 2, a, false",
    })
    @Tag("L14")
    void leaseIsAHeartbeatIfItsHolderWroteAnotherTime(int version, int renewed, String holder, boolean sign) {
        saw(lease("a", 5, 1), LIVE, s(1));
        NodeHealth health = heartbeats.add(node("a", "True", 1), s(10), Duration.ZERO);

        saw(lease("a", version, renewed, holder), LIVE, s(30));

        assertThat(heartbeats.deadline(health)).isEqualTo(sign ? s(80) : s(60));
        assertThat(signs).isEqualTo(sign ? List.of("a heard") : List.of());
    }

    @Test
    void renewalFromTheWatchIsARenewal() {
        saw(lease("a", 5, 1), LIVE, s(1));
        heartbeats.add(node("a", "True", 1), s(10), Duration.ZERO);

        saw(lease("a", 6, 2), LATE, s(30));
        assertThat(signs).containsExactly("a heard, renewed");
        signs.clear();
        saw(lease("a", 7, 3), LIVE, s(35));
        assertThat(signs)
                .as("when a lease that was read was renewed is not known")
                .containsExactly("a heard");
    }

    @Test
    void leaseThatAppearsIsAHeartbeatAndNoRenewal() {
        heartbeats.add(node("a", "True", 1), s(10), Duration.ZERO);

        saw(lease("a", 5, 1), LATE, s(30));

        assertThat(signs).containsExactly("a heard");
    }

    @Test
    void leaseWithoutANodeIsKeptAndCausesNoHeartbeat() {
        saw(lease("a", 5, 1), LATE, s(1));
        saw(lease("a", 6, 2), LATE, s(2));

        assertThat(signs).isEmpty();
        assertThat(heartbeats.find("a")).isEmpty();
        assertThat(heartbeats.nodes()).isEmpty();
        assertThat(heartbeats.leasesWithoutNode()).containsExactly("a");
        assertThat(heartbeats.leaseVersion("a")).isEqualTo(6);
        assertThat(heartbeats.leaseVersion("b")).isZero();
    }

    @Test
    void timeOfAnOldRenewalIsNoHeartbeatWhenAClientRestoresIt() {
        saw(lease("a", 5, 1), LIVE, s(1));
        NodeHealth health = heartbeats.add(node("a", "True", 1), s(10), Duration.ZERO);
        saw(lease("a", 6, 2), LATE, s(20));
        // Given another client that takes the lease and then gives it back as it was.
        saw(lease("a", 7, 9, "b"), LATE, s(30));

        saw(lease("a", 8, 2), LATE, s(40));

        assertThat(heartbeats.deadline(health)).isEqualTo(s(70));
    }

    @Test
    void timeOfAnotherClientIsNoHeartbeatWhenTheNodeHoldsTheLeaseAgain() {
        saw(lease("a", 5, 1), LIVE, s(1));
        NodeHealth health = heartbeats.add(node("a", "True", 1), s(10), Duration.ZERO);
        saw(lease("a", 6, 9, "b"), LATE, s(20));

        saw(lease("a", 7, 9), LATE, s(30));
        assertThat(heartbeats.deadline(health)).isEqualTo(s(60));

        saw(lease("a", 8, 3), LATE, s(40));
        assertThat(heartbeats.deadline(health)).isEqualTo(s(90));
    }

    @Test
    void deletedLeaseIsNoHeartbeatAndNeitherIsItsOldTimeWhenItIsRestored() {
        saw(lease("a", 5, 1), LIVE, s(1));
        NodeHealth health = heartbeats.add(node("a", "True", 1), s(10), Duration.ZERO);

        heartbeats.leaseGone("a");
        assertThat(heartbeats.leaseVersion("a")).isZero();
        assertThat(heartbeats.find("a")).contains(health);
        saw(lease("a", 4, 1), LATE, s(20));
        assertThat(signs).isEmpty();
        assertThat(heartbeats.leaseVersion("a"))
                .as("a new lease begins with any version")
                .isEqualTo(4);
        saw(lease("a", 6, 2), LATE, s(30));

        assertThat(heartbeats.deadline(health)).isEqualTo(s(80));
    }

    @Test
    void leaseOfNoNodeThatIsGoneIsForgotten() {
        saw(lease("a", 5, 1), LIVE, s(1));

        heartbeats.leaseGone("a");
        heartbeats.leaseGone("never there");

        assertThat(heartbeats.sizes()).containsEntry("nodes and leases", 0);
    }

    @Test
    @Tag("L14")
    void referenceCountsAnyLaterTimeOfAnyWriterAsARenewal() {
        heartbeats = heartbeats(CONFIG.with(FeatureGates.ALL.without(ControllerFeature.CLOCK_IMMUNITY)));
        saw(lease("a", 5, 5), LIVE, s(1));
        NodeHealth health = heartbeats.add(node("a", "True", 1), s(10), Duration.ZERO);

        saw(lease("a", 6, 5), LATE, s(20));
        saw(lease("a", 7, 4), LATE, s(20));
        assertThat(heartbeats.deadline(health)).isEqualTo(s(60));
        saw(lease("a", 8, 6, "b"), LATE, s(30));
        assertThat(heartbeats.deadline(health)).isEqualTo(s(80));

        heartbeats.leaseGone("a");
        saw(lease("a", 9, -1), LATE, s(40));
        assertThat(heartbeats.deadline(health)).as("a lease that appears").isEqualTo(s(90));
    }

    @Test
    void listOfAllLeasesShowsWhichAreGone() {
        saw(lease("a", 5, 1), LIVE, s(1));
        saw(lease("b", 5, 1), LIVE, s(1));
        NodeHealth node = heartbeats.add(node("a", "True", 1), s(10), Duration.ZERO);
        heartbeats.add(node("c", "True", 1), s(10), Duration.ZERO);

        listed(lease("c", 9, 3));

        assertThat(heartbeats.leaseVersion("a")).isZero();
        assertThat(heartbeats.leaseVersion("c")).isEqualTo(9);
        assertThat(heartbeats.find("a")).contains(node);
        assertThat(heartbeats.sizes()).as("b had no node").containsEntry("nodes and leases", 2);
        assertThat(signs).containsExactly("c heard");
    }

    @Test
    void anyLeaseAndASampleAreDrawnFromTheLeasesThatWereSeen() {
        assertThat(heartbeats.anyLease(Randoms.seeded(1))).isEmpty();
        assertThat(heartbeats.sample(Randoms.seeded(1), 3)).isEmpty();
        heartbeats.add(node("no lease", "True", 1), s(10), Duration.ZERO);
        for (int i = 0; i < 5; i++) {
            saw(lease("n" + i, 1, 1), LIVE, s(1));
        }
        List<String> all = List.of("n0", "n1", "n2", "n3", "n4");

        Set<String> any = new HashSet<>();
        Set<List<String>> samples = new HashSet<>();
        for (int seed = 0; seed < 100; seed++) {
            any.add(heartbeats.anyLease(Randoms.seeded(seed)).orElse("none"));
            List<String> sample = heartbeats.sample(Randoms.seeded(seed), 3);
            assertThat(sample).hasSize(3).doesNotHaveDuplicates().isSubsetOf(all);
            samples.add(sample);
        }
        assertThat(any).containsExactlyInAnyOrderElementsOf(all);
        assertThat(samples).as("60 orders of 3 of 5").hasSizeGreaterThan(40);
        assertThat(samples).extracting(List::getFirst).contains("n0", "n1", "n2", "n3", "n4");
        assertThat(heartbeats.sample(Randoms.seeded(1), 9)).containsExactlyInAnyOrderElementsOf(all);
    }

    @Test
    void nodesThatAreMissingFromAListAreFoundByTheirUid() {
        NodeHealth gone = heartbeats.add(node("gone", "True", 1), s(10), Duration.ZERO);
        NodeHealth replaced = heartbeats.add(node("replaced", "True", 1), s(10), Duration.ZERO);
        heartbeats.add(node("there", "True", 1), s(10), Duration.ZERO);
        saw(lease("a lease", 1, 1), LIVE, s(10));
        Node other = new Node(node("replaced", "True", 2).json().update("metadata", m -> m.with("uid", "other")));

        assertThat(heartbeats.missingFrom(List.of(node("there", "True", 1), other)))
                .containsExactlyInAnyOrder(gone, replaced);
    }

    @Test
    void lateStateOfALeaseIsIgnoredUnlessItIsNewer() {
        saw(lease("a", 5, 1), LATE, s(1));
        NodeHealth health = heartbeats.add(node("a", "True", 1), s(10), Duration.ZERO);

        saw(lease("a", 4, 2), LATE, s(20));
        saw(lease("a", 5, 3), LATE, s(20));
        assertThat(heartbeats.leaseVersion("a")).isEqualTo(5);
        // Its time was not taken over either, so the same time in a newer version is a renewal.
        saw(lease("a", 6, 3), LATE, s(30));
        assertThat(heartbeats.deadline(health)).isEqualTo(s(80));

        saw(lease("a", 2, 4), LIVE, s(40));
        assertThat(heartbeats.leaseVersion("a"))
                .as("a read shows the truth of its moment")
                .isEqualTo(2);
        assertThat(heartbeats.deadline(health))
                .as("and an older version shows no renewal")
                .isEqualTo(s(80));
    }

    @Test
    void stateOfANodeThatIsIgnoredSaysSo() {
        NodeHealth health = heartbeats.add(node("a", "True", 5, 1), s(10), Duration.ZERO);

        assertThat(saw(health, node("a", "True", 5, 2), LATE, s(11))).isFalse();
        assertThat(saw(health, node("a", "True", 6, 1), LATE, s(12))).isTrue();
        assertThat(saw(health, node("a", "True", 7, 2), LATE, s(13))).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        // version and time of the event, its holder, whether it is a heartbeat
        "6, 2, a, true",
        "6, 2, '', true",
        "6, 2, b, false",
        "5, 2, a, false",
        "6, 1, a, false",
        "6, -1, a, false",
    })
    void bytesOfAnEventTellTheSameAsTheLeaseInIt(int version, int renewed, String holder, boolean sign) {
        saw(lease("a", 5, 1), LIVE, s(1));
        NodeHealth health = heartbeats.add(node("a", "True", 1), s(10), Duration.ZERO);
        LeaseLine line = line(lease("a", version, renewed, holder));
        assertThat(heartbeats.find(line)).isSameAs(health);

        saw(health, line, s(30));

        assertThat(signs).isEqualTo(sign ? List.of("a heard, renewed") : List.of());
        assertThat(heartbeats.deadline(health)).isEqualTo(sign ? s(80) : s(60));
    }

    @Test
    void nodeIsFoundByTheBytesOfAnEventIfItAndItsLeaseAreKnown() {
        LeaseLine line = line(lease("a", 6, 2));
        assertThat(heartbeats.find(line)).as("neither is known").isNull();
        saw(lease("a", 5, 1), LIVE, s(1));
        assertThat(heartbeats.find(line)).as("a lease alone").isNull();
        NodeHealth health = heartbeats.add(node("a", "True", 1), s(10), Duration.ZERO);
        assertThat(heartbeats.find(line)).isSameAs(health);
        heartbeats.leaseGone("a");
        assertThat(heartbeats.find(line)).as("a node alone").isNull();
    }

    // Silence and return.

    @Test
    void nodeThatWasDeclaredUnknownReturnsWithItsNextSign() {
        NodeHealth health = heartbeats.add(node("a", "True", 1), s(10), Duration.ZERO);
        heartbeats.silenced(health);

        saw(lease("a", 5, 1), LATE, s(110));
        saw(lease("a", 6, 2), LATE, s(120));
        heartbeats.silenced(health);
        saw(lease("a", 7, 3), LATE, s(220));

        assertThat(signs)
                .containsExactly("a returned after 100 s", "a heard, renewed", "a returned after 100 s, renewed");
    }

    @Test
    void absenceOfANodeIsNoPartOfItsRhythm() {
        NodeHealth health = heartbeats.add(node("a", "True", 1), 0, Duration.ZERO);
        for (int i = 1; i <= 20; i++) {
            saw(lease("a", i, i), LATE, s(10 * i));
        }
        heartbeats.silenced(health);

        saw(lease("a", 21, 21), LATE, s(800));
        saw(lease("a", 22, 22), LATE, s(810));

        assertThat(heartbeats.patience(health)).isEqualTo(s(35) / 2);
    }

    @Test
    void signOfLifeMovesTheDeadlineUnlessTheNodeIsBeingJudged() {
        NodeHealth health = heartbeats.add(node("a", "True", 1), s(10), Duration.ZERO);
        saw(lease("a", 5, 1), LATE, s(40));
        assertThat(expired(s(89))).isEmpty();
        assertThat(expired(s(92))).containsExactly(health);

        heartbeats.judging(health);
        saw(lease("a", 6, 2), LATE, s(100));
        assertThat(expired(s(300)))
                .as("the judgement arms it when it has ended")
                .isEmpty();
        heartbeats.rearm(health);
        assertThat(expired(s(301))).containsExactly(health);
    }

    // What is usual for a node.

    @Test
    void outageThatAnotherControllerDeclaredIsNoPartOfTheRhythm() {
        NodeHealth health = heartbeats.add(node("a", "True", 1), 0, Duration.ZERO);
        for (int i = 1; i <= 30; i++) {
            saw(lease("a", i, 10 * i), LATE, s(10 * i));
        }
        assertThat(heartbeats.patience(health)).isEqualTo(17_500_000_000L);
        saw(health, node("a", "Unknown", 2), LATE, s(350));

        // when it returns after three hours
        saw(lease("a", 31, 11_100), LATE, s(11_100));

        assertThat(heartbeats.patience(health)).isEqualTo(17_500_000_000L);
    }

    @Test
    void adaptiveGraceOfARegularNodeFollowsItsRhythmAndNotItsStatus() {
        heartbeats = heartbeats(CONFIG.with(
                new DetectorConfig(DetectorConfig.Kind.ADAPTIVE, Duration.ofSeconds(5), Duration.ofSeconds(100))));
        NodeHealth health = heartbeats.add(node("a", "True", 1), 0, Duration.ZERO);
        assertThat(heartbeats.grace(health)).isEqualTo(s(100));
        // Given renewals each 10 s, and statuses 3 s after each.
        for (int i = 1; i <= 20; i++) {
            saw(lease("a", i, i), LATE, s(10 * i));
            saw(health, node("a", "True", 1 + i, i), LATE, s(10 * i + 3));
        }

        assertThat(heartbeats.grace(health)).as("twice 10 s and three quarters").isEqualTo(s(35));
        assertThat(heartbeats.patience(health)).isEqualTo(s(35) / 2);
        assertThat(heartbeats.grace(heartbeats.add(node("b", "", 1), 0, Duration.ZERO)))
                .as("a node that never reported")
                .isEqualTo(s(60));
    }

    @Test
    void nodeWithoutALeaseHasTheRhythmOfItsStatus() {
        NodeHealth health = heartbeats.add(node("a", "True", 1), 0, Duration.ZERO);
        assertThat(heartbeats.patience(health)).isEqualTo(s(50));

        for (int i = 1; i <= 20; i++) {
            saw(health, node("a", "True", 1 + i, i), LATE, s(10 * i));
        }

        assertThat(heartbeats.patience(health)).isEqualTo(s(35) / 2);
    }

    @Test
    void agesAreShownToTheMillisecond() {
        assertThat(Ages.text(s(71) + 2_999_999)).isEqualTo("1m11.002s");
    }

    // What is known of a node.

    @Test
    void nodeKnowsTimeAndKindOfItsLastHeartbeat() {
        NodeHealth health = heartbeats.add(node("a", "True", 1, 5), s(10), Duration.ZERO);
        saw(lease("a", 2, 30), LIVE, s(30));
        saw(lease("a", 7, 42), LATE, s(42));

        assertThat(health.signal()).hasToString("lease");
        assertThat(health.arrivedAt()).isEqualTo(s(42));
        assertThat(health.heardAt()).isEqualTo(s(42));
        assertThat(health.gap()).isEqualTo(s(12));
        assertThat(health.deadlineAt()).isEqualTo(s(92));
        assertThat(health.grace()).isEqualTo(GraceState.ARMED);
        assertThat(health.renewMicros()).isEqualTo(START.getEpochSecond() * 1_000_000 + 42_000_000);
        assertThat(health.leaseVersion()).isEqualTo(7);
        assertThat(health.readyHeartbeat()).isEqualTo("2020-01-01T00:00:05Z");
        assertThat(health).hasToString("a");
    }

    @Test
    void signKnowsWhatHadBeenTakenOutOfTheNodesClock() {
        // Given a controller that was blind from 1 s to 21 s: the gap between two proofs is taken out of the nodes'
        // clock
        ObserverGuard seeing = ObserverGuard.watching(Duration.ofSeconds(1), Duration.ofSeconds(3));
        seeing.start(0);
        seeing.begin(0);
        seeing.seen(s(1), true, ProofKind.WATCH, s(1));
        seeing.seen(s(21), true, ProofKind.WATCH, s(21));
        Heartbeats guarded = new Heartbeats(CONFIG, seeing, wheel);
        NodeHealth health = guarded.add(node("a", "True", 1), s(21), Duration.ZERO);

        guarded.saw(lease("a", 2, 22), LIVE, s(22));

        assertThat(health.lostBefore()).isEqualTo(s(20));
        assertThat(health.heardAt()).isEqualTo(s(2));
        assertThat(health.arrivedAt()).isEqualTo(s(22));
    }

    @Test
    void nodeIsSilencedFromItsVerdictToItsNextHeartbeat() {
        NodeHealth health = heartbeats.add(node("a", "True", 1), 0, Duration.ZERO);
        assertThat(health.silenced()).isFalse();

        heartbeats.silenced(health);
        assertThat(health.silenced()).isTrue();

        saw(lease("a", 2, 60), LIVE, s(60));
        assertThat(health.silenced()).isFalse();
    }

    @Test
    void judgementOfANodeThatIsNotFollowedAnyMoreEndsAtRest() {
        NodeHealth health = heartbeats.add(node("a", "True", 1), 0, Duration.ZERO);
        heartbeats.judging(health);
        assertThat(health.isJudged()).isTrue();

        heartbeats.rest(health);

        assertThat(health.grace()).isEqualTo(GraceState.RESTING);
    }

    @Test
    void nodeThatIsUnknownHasNoDeadlineWhenItsJudgementEnds() {
        NodeHealth health = heartbeats.add(node("a", "True", 1), 0, Duration.ZERO);
        heartbeats.judging(health);
        saw(health, node("a", "Unknown", 2), LATE, s(51));

        heartbeats.rearm(health);

        assertThat(health.grace()).isEqualTo(GraceState.RESTING);
        assertThat(health.deadlineAt()).isEqualTo(DeadlineWheel.NEVER);
        assertThat(expired(s(200))).isEmpty();
    }

    // Helpers.

    private List<NodeHealth> expired(long now) {
        List<NodeHealth> expired = new ArrayList<>();
        wheel.poll(now, expired::add);
        return expired;
    }

    private static long s(long seconds) {
        return seconds * 1_000_000_000L;
    }

    private static Node node(String name, String ready, int version) {
        return node(name, ready, version, 0);
    }

    /** Without a Ready condition if {@code ready} is empty; {@code heartbeat} is seconds. */
    private static Node node(String name, String ready, int version, int heartbeat) {
        JsonObject node = JsonObject.EMPTY
                .with(
                        "metadata",
                        JsonObject.EMPTY
                                .with("name", name)
                                .with("uid", name + "-uid")
                                .with("resourceVersion", Integer.toString(version)))
                .with("status", JsonObject.EMPTY.with("conditions", JsonArray.EMPTY));
        return ready.isEmpty()
                ? new Node(node)
                : new Node(node)
                        .withConditions(
                                List.of(Condition.of("Ready", ready, "", "", START.plusSeconds(heartbeat), START)));
    }

    private static LeaseLine line(Lease lease) {
        byte[] event = Json.writeBytes(JsonObject.EMPTY
                .with("type", "MODIFIED")
                .with(
                        "object",
                        lease.json().update("metadata", metadata -> metadata.with("namespace", "kube-node-lease"))));
        LeaseLine line = new LeaseLine();
        assertThat(line.scan(event, 0, event.length)).isTrue();
        return line;
    }

    private static Lease lease(String name, int version, int renewed) {
        return lease(name, version, renewed, name);
    }

    /** Without a time if {@code renewed}, seconds, is negative. */
    private static Lease lease(String name, int version, int renewed, String holder) {
        return new Lease(JsonObject.EMPTY
                .with(
                        "metadata",
                        JsonObject.EMPTY.with("name", name).with("resourceVersion", Integer.toString(version)))
                .with(
                        "spec",
                        JsonObject.builder()
                                .putUnlessEmpty("holderIdentity", holder)
                                .putUnlessEmpty(
                                        "renewTime",
                                        renewed < 0 ? "" : KubeTime.formatMicro(START.plusSeconds(renewed)))
                                .build()));
    }
}
