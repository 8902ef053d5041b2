package io.nodekeeper.controller.pods;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.nodekeeper.api.Node;
import io.nodekeeper.api.Toleration;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How long tolerations let a pod stay, and from when taints count. */
class PatienceTest {
    private static final long SECOND = 1_000_000_000L;
    private static final ActiveTaint T1 = new ActiveTaint("t1", "", "", 10 * SECOND);
    private static final ActiveTaint T2 = new ActiveTaint("t2", "", "", 10 * SECOND);

    private static Toleration tolerates(String key, Long... seconds) {
        return new Toleration(
                key, "Exists", "", "NoExecute", List.of(seconds).stream().findFirst());
    }

    /** The patience of a pod that is older than all taints. */
    private static Patience patienceOf(List<Toleration> tolerations, List<ActiveTaint> taints) {
        return Patience.of(tolerations, taints, HostNode.NO_TIME);
    }

    @Test
    @Tag("L67")
    void theShortestTimeCountsAndNoTimeMeansForEver() {
        assertThat(patienceOf(List.of(), List.of(T1))).isEqualTo(new Patience.None(T1));
        assertThat(patienceOf(List.of(tolerates("t1")), List.of(T1))).isEqualTo(new Patience.Endless());
        assertThat(patienceOf(List.of(tolerates("t1", 1L), tolerates("t2", 2L)), List.of(T1, T2)))
                .isEqualTo(new Patience.Until(11 * SECOND, T1));
        assertThat(patienceOf(List.of(tolerates("t1", 1L), tolerates("t2")), List.of(T1, T2)))
                .isEqualTo(new Patience.Until(11 * SECOND, T1));
        assertThat(patienceOf(List.of(tolerates("t1"), tolerates("t2", 1L)), List.of(T1, T2)))
                .isEqualTo(new Patience.Until(11 * SECOND, T2));
        for (long none : new long[] {0, -1, Long.MIN_VALUE}) {
            assertThat(patienceOf(List.of(tolerates("t1", none), tolerates("t2", 5L)), List.of(T1, T2)))
                    .isEqualTo(new Patience.Until(9 * SECOND, T1));
        }
        assertThat(patienceOf(List.of(), List.of())).isEqualTo(new Patience.Endless());
    }

    @Test
    @Tag("L63")
    void theFirstTolerationThatMatchesIsTheOneUsed() {
        assertThat(patienceOf(List.of(tolerates("t1", 50L), tolerates("t1", 5L)), List.of(T1)))
                .isEqualTo(new Patience.Until(60 * SECOND, T1));
    }

    @Test
    @Tag("L69")
    void tolerationsCountFromTheTaintOrFromThePodWhicheverIsLater() {
        List<Toleration> tolerations = List.of(tolerates("t1", 5L));
        assertThat(Patience.of(tolerations, List.of(T1), 9 * SECOND)).isEqualTo(new Patience.Until(15 * SECOND, T1));
        assertThat(Patience.of(tolerations, List.of(T1), 40 * SECOND)).isEqualTo(new Patience.Until(45 * SECOND, T1));
        assertThat(Patience.of(List.of(tolerates("t1", 0L)), List.of(T1), 40 * SECOND))
                .isEqualTo(new Patience.Until(39 * SECOND, T1));
        assertThat(Patience.of(List.of(), List.of(T1), 40 * SECOND)).isEqualTo(new Patience.None(T1));
    }

    @Test
    @Tag("L66")
    void referenceKeepsTheDeadlineThatIsSet() {
        List<Toleration> tolerations = List.of(tolerates("t1", 5L));
        assertThat(Patience.asReference(tolerations, List.of(T1), 100 * SECOND, Optional.empty()))
                .isEqualTo(new Patience.Until(105 * SECOND, T1));
        assertThat(Patience.asReference(tolerations, List.of(T1), 100 * SECOND, Optional.of(7L)))
                .isEqualTo(new Patience.Until(7, T1));
    }

    @Test
    void endlessSecondsDoNotOverflow() {
        Patience patience = patienceOf(List.of(tolerates("t1", Long.MAX_VALUE)), List.of(T1));
        assertThat(patience)
                .isInstanceOfSatisfying(
                        Patience.Until.class, until -> assertThat(until.at()).isGreaterThan(3_000_000_000L * SECOND));
    }

    @Test
    void tensOfThousandsOfTolerationsAndTaintsAreMatchedInAMoment() {
        // given that each of 30,000 taints is tolerated, the last one for the shortest time
        List<ActiveTaint> taints = IntStream.range(0, 30_000)
                .mapToObj(i -> new ActiveTaint("k" + i, "", "", 10 * SECOND))
                .toList();
        List<Toleration> tolerations = IntStream.range(0, 30_000)
                .mapToObj(i -> tolerates("k" + i, 40_000L - i))
                .toList();

        // when 20 pods are asked, then no toleration is searched for among all of them, which would take minutes
        assertTimeoutPreemptively(Duration.ofSeconds(30), () -> {
            for (int i = 0; i < 20; i++) {
                assertThat(patienceOf(tolerations, taints))
                        .isEqualTo(new Patience.Until(10_011 * SECOND, taints.getLast()));
            }
        });
    }

    @Provide
    Arbitrary<List<Toleration>> tolerations() {
        return Combinators.combine(
                        Arbitraries.of("", "a", "b"),
                        Arbitraries.of("", "Equal", "Exists", "Near"),
                        Arbitraries.of("", "v"),
                        Arbitraries.of("", "NoExecute", "NoSchedule"),
                        Arbitraries.longs().between(-2, 9).optional())
                .as((key, operator, value, effect, seconds) -> new Toleration(key, operator, value, effect, seconds))
                .list()
                .ofMaxSize(4);
    }

    @Provide
    Arbitrary<List<ActiveTaint>> taints() {
        return Combinators.combine(
                        Arbitraries.of("a", "b", "c"),
                        Arbitraries.of("", "v"),
                        Arbitraries.longs().between(-5, 5))
                .as((key, value, since) -> new ActiveTaint(key, value, "", since * SECOND))
                .list()
                .ofMaxSize(3);
    }

    /** Second by second: a pod stays in a second if each taint has a first match that lasts that long. */
    @Property(tries = 3000)
    @net.jqwik.api.Tag("L63")
    void staysExactlyAsLongAsEachTaintIsTolerated(
            @ForAll("tolerations") List<Toleration> tolerations, @ForAll("taints") List<ActiveTaint> taints) {
        Patience patience = patienceOf(tolerations, taints);
        for (long second = -6; second < 20; second++) {
            boolean stays = true;
            for (ActiveTaint taint : taints) {
                stays &= lasts(tolerations, taint, second);
            }
            boolean matches = switch (patience) {
                case Patience.Endless() -> true;
                case Patience.None(ActiveTaint taint) -> false;
                case Patience.Until(long at, ActiveTaint taint) -> second * SECOND < at;
            };
            assertThat(matches)
                    .as("second %d of %s on %s", second, tolerations, taints)
                    .isEqualTo(stays);
        }
    }

    @Property(tries = 3000)
    void thePartsOfAPodThatMatterForTaintsDecideAsAllOfIt(
            @ForAll("tolerations") List<Toleration> tolerations, @ForAll("taints") List<ActiveTaint> taints) {
        JsonObject pod = JsonObject.EMPTY.update(
                "spec",
                spec -> spec.with(
                        "tolerations",
                        new JsonArray(tolerations.stream()
                                .<JsonValue>map(PatienceTest::json)
                                .toList())));
        Patience patience = patienceOf(tolerations, taints);

        assertThat(patienceOf(PodParts.allTolerations(PodParts.of(pod, taints)), taints))
                .isEqualTo(patience);
        assertThat(patienceOf(PodParts.tolerations(PodParts.of(pod)), taints)).isEqualTo(patience);
    }

    private static JsonObject json(Toleration toleration) {
        JsonObject json = JsonObject.EMPTY
                .with("key", toleration.key())
                .with("operator", toleration.operator())
                .with("value", toleration.value())
                .with("effect", toleration.effect());
        return toleration
                .seconds()
                .map(seconds -> json.with("tolerationSeconds", JsonNumber.of(seconds)))
                .orElse(json);
    }

    private static boolean lasts(List<Toleration> tolerations, ActiveTaint taint, long second) {
        for (Toleration toleration : tolerations) {
            boolean effect = List.of("", "NoExecute").contains(toleration.effect());
            boolean exists = toleration.operator().equals("Exists");
            boolean equal = List.of("", "Equal").contains(toleration.operator());
            boolean key = toleration.key().isEmpty() ? exists : toleration.key().equals(taint.key());
            boolean value = exists || (equal && toleration.value().equals(taint.value()));
            if (effect && key && value) {
                return toleration.seconds().isEmpty()
                        || second * SECOND < end(taint, toleration.seconds().get());
            }
        }
        return false;
    }

    /** A toleration of no time does not wait for the end of the second in which the taint was added. */
    private static long end(ActiveTaint taint, long seconds) {
        return taint.since() + (seconds <= 0 ? -1 : seconds) * SECOND;
    }

    private static final Instant NOON = Instant.parse("2015-01-01T12:00:00Z");

    /** Nodes created at 11:00, with NoExecute taints as {@code key@timeAdded}. */
    private static Node node(String... taints) {
        StringBuilder list = new StringBuilder();
        for (String taint : taints) {
            String[] parts = taint.split("@", -1);
            list.append(list.isEmpty() ? "" : ",")
                    .append("{\"effect\":\"NoExecute\",\"key\":\"" + parts[0] + "\",\"timeAdded\":\"" + parts[1]
                            + "\"}");
        }
        return new Node(
                Json.parseObject("{\"metadata\":{\"creationTimestamp\":\"2015-01-01T11:00:00Z\"},\"spec\":{\"taints\":["
                        + list + "]}}"));
    }

    private static List<Long> since(Node node, List<ActiveTaint> before, Instant wallTime, long now) {
        return ActiveTaint.of(node, new ActiveTaint.Before(before, Long.MIN_VALUE), wallTime, now * SECOND).stream()
                .map(taint -> taint.since() / SECOND)
                .toList();
    }

    @Test
    @Tag("L71")
    void taintsCountFromTheTimeTheyWereAddedIfThatCanBeRight() {
        assertThat(since(node("k@2015-01-01T11:59:00Z"), List.of(), NOON, 1000)).containsExactly(941L);
        assertThat(since(node("k@"), List.of(), NOON, 1000)).containsExactly(1000L);
        assertThat(since(node("k@yesterday"), List.of(), NOON, 1000)).containsExactly(1000L);
        assertThat(since(node("k@2015-01-01T12:00:01Z"), List.of(), NOON, 1000)).containsExactly(1000L);
        assertThat(since(node("k@1970-01-01T00:00:00Z"), List.of(), NOON, 1000)).containsExactly(1000L);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0001-01-01T00:00:00Z", "1915-01-01T11:59:59Z"})
    void taintOfAHundredYearsOrMoreCountsAsAHundredYearsOld(String time) {
        Node old = new Node(node("k@" + time)
                .json()
                .update("metadata", metadata -> metadata.with("creationTimestamp", "0001-01-01T00:00:00Z")));

        assertThat(since(old, List.of(), NOON, 1000)).containsExactly(1001L - 3_155_760_000L);
    }

    @Test
    void timesAtTheEndOfTheCalendarAreInTheFuture() {
        Node future = new Node(node("k@9999-12-31T23:59:59Z")
                .json()
                .update("metadata", metadata -> metadata.with("creationTimestamp", "9999-12-31T23:59:59Z")));

        assertThat(since(future, List.of(), NOON, 1000)).containsExactly(1000L);
    }

    @Test
    @Tag("L68")
    void failedNodeCountsFromItsFirstTaintUntilItRecovers() {
        String notReady = PodWorld.NOT_READY + "@2015-01-01T11:59:00Z";
        String unreachable = PodWorld.UNREACHABLE + "@2015-01-01T12:00:00Z";
        List<ActiveTaint> first = ActiveTaint.of(node(notReady), ActiveTaint.Before.NOTHING, NOON, 1000 * SECOND);
        // then both while they are swapped, and the second alone, count from the first
        assertThat(since(node(notReady, unreachable), first, NOON, 1000)).containsExactly(941L, 941L);
        assertThat(since(node(unreachable), first, NOON, 1000)).containsExactly(941L);
        assertThat(since(node(notReady, unreachable), List.of(), NOON, 1000)).containsExactly(941L, 941L);
        // but after a recovery from the second
        assertThat(since(node(unreachable), List.of(), NOON, 1000)).containsExactly(1001L);
        // and other taints go by themselves
        assertThat(since(node(notReady, "k@2015-01-01T11:50:00Z"), first, NOON, 1000))
                .containsExactly(941L, 401L);
    }

    @Test
    @Tag("W5")
    void knownTaintKeepsItsTimeIfTheWallClockJumps() {
        Node node = node("k@2015-01-01T11:59:00Z");
        List<ActiveTaint> first = ActiveTaint.of(node, ActiveTaint.Before.NOTHING, NOON, 1000 * SECOND);
        assertThat(since(node, first, NOON.plusSeconds(86_400), 1001)).containsExactly(941L);
    }

    @Test
    @Tag("L68")
    void taintThatWasRemovedAndSetAgainUnseenCountsFromItsNewTime() {
        String before = PodWorld.UNREACHABLE + "@2015-01-01T11:30:00Z";
        String again = PodWorld.UNREACHABLE + "@2015-01-01T11:59:00Z";
        List<ActiveTaint> first = ActiveTaint.of(node(before), ActiveTaint.Before.NOTHING, NOON, 1000 * SECOND);

        assertThat(since(node(again), first, NOON, 1000)).containsExactly(941L);
        // even if the other of the two came with it
        String both = PodWorld.NOT_READY + "@2015-01-01T11:59:30Z";
        assertThat(since(node(again, both), first, NOON, 1000)).containsExactly(941L, 941L);
        // and a taint of any other key, too
        List<ActiveTaint> other =
                ActiveTaint.of(node("k@2015-01-01T11:30:00Z"), ActiveTaint.Before.NOTHING, NOON, 1000 * SECOND);
        assertThat(since(node("k@2015-01-01T11:59:00Z"), other, NOON, 1000)).containsExactly(941L);
    }

    @Test
    @Tag("W5")
    void writerWithASlowClockCannotDateATaintBeforeTheNodeWasSeenWithoutIt() {
        ActiveTaint.Before without = new ActiveTaint.Before(List.of(), 990 * SECOND);
        assertThat(ActiveTaint.of(node("k@2015-01-01T11:30:00Z"), without, NOON, 1000 * SECOND))
                .extracting(ActiveTaint::since)
                .containsExactly(990 * SECOND);
    }

    @Test
    void taintIsShownWithItsValueIfItHasOne() {
        assertThat(new ActiveTaint("k", "v", "", 0)).hasToString("k=v");
        assertThat(new ActiveTaint("k", "", "", 0)).hasToString("k");
    }

    @Test
    void sentenceNamesFiveTaintsAndCountsTheOthers() {
        List<ActiveTaint> taints = IntStream.range(0, 30_000)
                .mapToObj(i -> new ActiveTaint("k" + i, i == 1 ? "v" : "", "", 0))
                .toList();

        assertThat(ActiveTaint.text(taints.subList(0, 1))).isEqualTo("k0");
        assertThat(ActiveTaint.text(taints.subList(0, 5))).isEqualTo("k0, k1=v, k2, k3, k4");
        assertThat(ActiveTaint.text(taints)).isEqualTo("k0, k1=v, k2, k3, k4 and 29995 more");
    }

    /** A taint that is added at any millisecond and seen at any later one never counts from before it was added. */
    @Property(tries = 5000)
    void taintNeverCountsFromBeforeItWasAdded(
            @ForAll @LongRange(min = 0, max = 3_600_000) long addedMillis,
            @ForAll @LongRange(min = 0, max = 700_000) long seenAfterMillis) {
        Instant added = NOON.minusSeconds(3600).plusMillis(addedMillis);
        Instant seen = added.plusMillis(seenAfterMillis);
        // given the monotonic clock that showed 0 at 11:00
        long now = (addedMillis + seenAfterMillis) * 1_000_000;
        Node node = node("k@" + added.truncatedTo(ChronoUnit.SECONDS));

        long since = ActiveTaint.of(node, ActiveTaint.Before.NOTHING, seen, now)
                .getFirst()
                .since();

        assertThat(since).isBetween(addedMillis * 1_000_000 + 1, addedMillis * 1_000_000 + SECOND);
    }
}
