package io.nodekeeper.controller.duplicates;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.BeforeTry;
import org.junit.jupiter.api.Test;

/** Machines that take turns are found soon; reboots, new addresses and lagging servers are not taken for a second machine. */
class MachineTrailTest {
    private static final Machine A = new Machine("boot-a", "id-a", "10.0.0.1");
    private static final Machine B = new Machine("boot-b", "id-b", "10.0.0.2");

    private MachineTrail trail = new MachineTrail();
    private long version = 100;
    private long now;

    /** The tries of a property share this object. */
    @BeforeTry
    void begin() {
        trail = new MachineTrail();
        version = 100;
        now = 0;
    }

    private void sees(Machine machine) {
        trail.saw(machine, ++version, now);
    }

    private void after(Duration time) {
        now += time.toNanos();
    }

    private void takesTurns(int states, Machine... machines) {
        for (int i = 0; i < states; i++) {
            after(Duration.ofSeconds(5));
            sees(machines[i % machines.length]);
        }
    }

    @Test
    void thirdReturnProvesTwoMachinesAndNamesBoth() {
        takesTurns(4, A, B);
        assertThat(trail.found()).isEmpty();

        takesTurns(1, A);

        assertThat(trail.found().map(Alternation::text))
                .contains(
                        "two machines report under this node's name: boot id boot-a at 10.0.0.1, and boot id boot-b at"
                                + " 10.0.0.2");
    }

    @Test
    void textStaysTheSameWhicheverMachineReportedLast() {
        takesTurns(5, A, B);
        String text = trail.found().orElseThrow().text();

        takesTurns(1, B);

        assertThat(trail.found().orElseThrow().text()).isEqualTo(text);
    }

    /** Each of 2 to 12 machines reports once in each period, in any order. */
    @Property(tries = 300)
    void anyInterleavingOfMachinesIsFoundWithinFivePeriods(
            @ForAll @IntRange(min = 2, max = 12) int machines, @ForAll long seed) {
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
        for (int period = 0; period < 5; period++) {
            for (int machine : shuffled(machines, random)) {
                after(Duration.ofMillis(10_000 / machines));
                sees(new Machine("boot-" + machine, "id-" + machine, "10.0.0." + machine));
            }
        }

        assertThat(trail.found().map(Alternation::kind)).contains(Alternation.Kind.MACHINE);
    }

    /** Machines that report in any order, not in periods: every proof needs three returns, or ten changes. */
    @Property(tries = 300)
    void proofComesWithTheThirdReturnAndNotBefore(@ForAll List<Boolean> turns) {
        int returns = -1; // The first change brings a machine that was not there before.
        Optional<Boolean> last = Optional.empty();
        for (boolean turn : turns) {
            after(Duration.ofSeconds(1));
            sees(turn ? A : B);
            returns += last.isPresent() && last.get() != turn ? 1 : 0;
            last = Optional.of(turn);

            assertThat(trail.found().isPresent()).isEqualTo(returns >= 3);
        }
    }

    /** A machine that boots as often as its kubelet can report: never a boot id that was there before. */
    @Property(tries = 300)
    void rebootsAndNewAddressesAreNoSecondMachine(
            @ForAll @IntRange(min = 21, max = 600) int seconds, @ForAll long seed) {
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
        for (int boot = 0; boot < 60; boot++) {
            String address = "10.0.0." + random.nextInt(2);
            for (int report = 0; report < 3; report++) {
                sees(new Machine("boot-" + boot, "id-a", address));
            }
            after(Duration.ofSeconds(seconds));

            assertThat(trail.found()).isEmpty();
        }
    }

    @Test
    void serverThatLagsBringsBackOldStatesAndIsNotTakenForAMachine() {
        trail.saw(A, 10, now);
        for (int i = 0; i < 20; i++) {
            after(Duration.ofSeconds(5));
            trail.saw(B, 20, now);
            trail.saw(A, 10, now);
        }

        assertThat(trail.found()).isEmpty();
    }

    @Test
    void restoredStoreBringsBackAnOldBootIdOnceAndIsNotTakenForAMachine() {
        takesTurns(3, A, B);
        after(Duration.ofSeconds(10));
        sees(B);

        assertThat(trail.found()).isEmpty();
    }

    @Test
    void storeWithLowerVersionsIsFollowedAfterTenMinutes() {
        sees(A);
        version = 0;
        after(Duration.ofMinutes(11));

        takesTurns(6, A, B);

        assertThat(trail.found()).isPresent();
    }

    @Test
    void addressThatChangesBackAndForthOnOneMachineIsNotCalledTwoMachines() {
        Machine moved = new Machine("boot-a", "id-a", "10.0.0.9");
        takesTurns(7, A, moved);

        assertThat(trail.found().map(Alternation::text))
                .contains(
                        "its InternalIP changes between 10.0.0.1 and 10.0.0.9 with the same boot id: two machines cloned"
                                + " from one memory image, or two programs that write its addresses");
    }

    @Test
    void clonesWithOneBootIdAreToldApartByTheirHardware() {
        takesTurns(5, A, new Machine("boot-a", "id-b", "10.0.0.1"));

        assertThat(trail.found().map(Alternation::kind)).contains(Alternation.Kind.MACHINE);
    }

    @Test
    void proofEndsTenMinutesAfterTheLastReturn() {
        takesTurns(5, A, B);
        after(Duration.ofMinutes(10));
        trail.end(now);
        assertThat(trail.found()).isPresent();

        after(Duration.ofSeconds(1));
        trail.end(now);

        assertThat(trail.found()).isEmpty();
    }

    @Test
    void nodeThatIsQuietAgainNeedsTwoNumbersOnly() {
        sees(A);
        assertThat(trail.isLarge()).isFalse();
        takesTurns(50, A, B);
        assertThat(trail.isLarge()).isTrue();

        after(Duration.ofMinutes(21));
        trail.end(now);

        assertThat(trail.isLarge()).isFalse();
    }

    private static int[] shuffled(int size, RandomGenerator random) {
        int[] all = new int[size];
        for (int i = 0; i < size; i++) {
            int j = random.nextInt(i + 1);
            all[i] = all[j];
            all[j] = i;
        }
        return all;
    }
}
