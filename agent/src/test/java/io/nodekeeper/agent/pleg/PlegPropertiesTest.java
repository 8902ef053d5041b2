package io.nodekeeper.agent.pleg;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.cri.ContainerState;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** The events add up to the final state, whatever happens to containers and whichever calls fail or hang. */
class PlegPropertiesTest {
    private static final List<String> WHERE =
            List.of("ContainerStatus:u1-a", "PodSandboxStatus:s-u2", "ContainerStatus", "ListContainers");

    enum Fault {
        FAIL,
        HANG,
        HEAL
    }

    sealed interface Step {
        record Put(String uid, String name, ContainerState state) implements Step {}

        record Sandbox(String uid, boolean ready) implements Step {}

        record Remove(String id) implements Step {}

        record RemovePod(String uid) implements Step {}

        record Break(String where, Fault fault) implements Step {}

        record Ask(String uid) implements Step {}

        record Events(boolean open) implements Step {}

        record Wait(int millis) implements Step {}
    }

    @Property(tries = 300)
    void eventsAddUpAlsoWhenStatesAreUnknownAtTimes(@ForAll("steps") List<Step> steps) {
        addUp(run(steps), false);
    }

    @Property(tries = 300)
    void eventsOfKnownStatesAlternate(@ForAll("steps") List<Step> steps) {
        List<Step> known = steps.stream()
                .filter(step -> !(step instanceof Step.Put put && PlegState.of(put.state) == PlegState.UNKNOWN))
                .toList();
        addUp(run(known), true);
    }

    @Provide
    Arbitrary<List<Step>> steps() {
        Arbitrary<String> uid = Arbitraries.of("u1", "u2", "u3");
        Arbitrary<String> name = Arbitraries.of("a", "b");
        Arbitrary<Step> put = uid.flatMap(u ->
                name.flatMap(n -> Arbitraries.of(ContainerState.class).map(state -> new Step.Put(u, n, state))));
        Arbitrary<Step> sandbox =
                uid.flatMap(u -> Arbitraries.of(true, false).map(ready -> new Step.Sandbox(u, ready)));
        Arbitrary<Step> remove = uid.flatMap(u -> name.map(n -> new Step.Remove(u + "-" + n)));
        Arbitrary<Step> removePod = uid.map(Step.RemovePod::new);
        Arbitrary<Step> fault = Arbitraries.of(WHERE)
                .flatMap(where -> Arbitraries.of(Fault.class).map(kind -> new Step.Break(where, kind)));
        Arbitrary<Step> ask = uid.map(Step.Ask::new);
        Arbitrary<Step> events = Arbitraries.of(true, false).map(Step.Events::new);
        Arbitrary<Step> wait = Arbitraries.of(1, 50, 300, 1_000, 1_700, 12_000).map(Step.Wait::new);
        return Arbitraries.oneOf(put, put, put, sandbox, remove, removePod, fault, ask, events, wait, wait, wait)
                .list()
                .ofMaxSize(60);
    }

    private static PlegFixture run(List<Step> steps) {
        PlegFixture fixture = PlegFixture.parallel();
        for (String where : WHERE) {
            fixture.runtime.delay(where, Duration.ofMillis(40));
        }
        fixture.pleg.start();
        for (Step step : steps) {
            switch (step) {
                case Step.Put(String uid, String name, ContainerState state) ->
                    fixture.runtime.container(uid + "-" + name, uid, name, state);
                case Step.Sandbox(String uid, boolean ready) -> fixture.runtime.sandbox("s-" + uid, uid, ready);
                case Step.Remove(String id) -> fixture.runtime.remove(id);
                case Step.RemovePod(String uid) -> fixture.runtime.removePod(uid);
                case Step.Break(String where, Fault fault) -> {
                    switch (fault) {
                        case FAIL -> fixture.runtime.fail(where, PlegFixture.BROKEN);
                        case HANG -> fixture.runtime.hang(where);
                        case HEAL -> fixture.runtime.heal(where);
                    }
                }
                case Step.Ask(String uid) -> fixture.pleg.relistPod(uid);
                case Step.Events(boolean open) -> {
                    if (open) {
                        fixture.pleg.eventsOpened();
                    } else {
                        fixture.pleg.eventsEnded();
                    }
                }
                case Step.Wait(int millis) -> fixture.advanceMillis(millis);
            }
        }
        WHERE.forEach(fixture.runtime::heal);
        fixture.advanceSeconds(140);
        return fixture;
    }

    private static void addUp(PlegFixture fixture, boolean alternating) {
        Map<String, PodEvent.Type> last = new HashMap<>();
        for (PodEvent event : fixture.events) {
            PodEvent.Type before = last.get(event.id());
            if (event.type() == PodEvent.Type.REMOVED) {
                assertThat(before).isEqualTo(PodEvent.Type.DIED);
                last.remove(event.id());
            } else if (event.type() != PodEvent.Type.POD_SYNC) {
                if (alternating) {
                    assertThat(event.type()).isNotEqualTo(before);
                }
                last.put(event.id(), event.type());
            }
        }
        Inventory inventory = fixture.pleg.inventory();
        inventory
                .listed()
                .values()
                .forEach(pod -> pod.states().forEach((id, state) -> {
                    if (state == PlegState.RUNNING) {
                        assertThat(last).containsEntry(id, PodEvent.Type.STARTED);
                    } else if (state == PlegState.EXITED) {
                        assertThat(last).containsEntry(id, PodEvent.Type.DIED);
                    }
                }));
        assertThat(last.keySet()).allMatch(id -> inventory.podOf(id).isPresent());
        assertThat(fixture.discarded).isZero();
        assertThat(fixture.pleg.stuck()).isEmpty();
        assertThat(inventory.pods())
                .allMatch(pod -> fixture.pleg.cache().get(pod.uid()).error().isEmpty());
    }
}
