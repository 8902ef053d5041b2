package io.nodekeeper.agent.culprit.repair;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.diagnosis.Remedy;
import io.nodekeeper.agent.culprit.scan.ProcessRef;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What counts as the effect of each kind of remedy. */
class EffectTest {
    private static final ProcessRef ONE = new ProcessRef(10, 1, "gate");
    private static final ProcessRef TWO = new ProcessRef(11, 1, "child");

    @Test
    void killedProcessesAreGoneOrZombies() {
        Remedy kill = new Remedy.KillProcesses(List.of(ONE, TWO));

        assertThat(processes(kill, Map.of())).isEmpty();
        assertThat(processes(kill, Map.of(ONE, 'Z'))).isEmpty();
        assertThat(processes(kill, Map.of(ONE, 'S', TWO, 'D')))
                .contains("pid 10 still runs (state S), pid 11 still runs (state D)");
        assertThat(processes(new Remedy.EndProcess(TWO, false, "x"), Map.of(ONE, 'S', TWO, 'S')))
                .contains("pid 11 still runs (state S)");
    }

    @Test
    void continuedProcessIsNotStoppedOrIsGone() {
        Remedy remedy = new Remedy.ContinueProcess(ONE);

        assertThat(processes(remedy, Map.of(ONE, 'S'))).isEmpty();
        assertThat(processes(remedy, Map.of())).isEmpty();
        assertThat(processes(remedy, Map.of(ONE, 'T'))).contains("pid 10 is still stopped (state T)");
    }

    @Test
    void thawedCgroupIsReadFromTheFileThatAlsoShowsTheCgroupsAbove() {
        String second = "/sys/fs/cgroup/kubepods/p/cgroup.freeze";
        String first = "/sys/fs/cgroup/freezer/p/freezer.state";

        assertThat(Effect.stateFile(second)).isEqualTo("/sys/fs/cgroup/kubepods/p/cgroup.events");
        assertThat(Effect.stateFile(first)).isEqualTo(first);
        assertThat(freezer(second, "populated 1\nfrozen 0\n")).isEmpty();
        assertThat(freezer(second, "populated 1\nfrozen 1\n"))
                .contains("/sys/fs/cgroup/kubepods/p/cgroup.events still says populated 1 frozen 1");
        assertThat(freezer(first, "THAWED\n")).isEmpty();
        assertThat(freezer(first, "FREEZING\n")).contains(first + " still says FREEZING");
    }

    @Test
    void removedSandboxIsNotListed() {
        Remedy remedy = new Remedy.RemoveSandbox("s1");

        assertThat(Effect.missing(remedy, new Effect.After(Map.of(), Optional.empty(), Set.of("s2"))))
                .isEmpty();
        assertThat(Effect.missing(remedy, new Effect.After(Map.of(), Optional.empty(), Set.of("s1"))))
                .contains("the container runtime still lists the sandbox");
    }

    private static Optional<String> processes(Remedy remedy, Map<ProcessRef, Character> alive) {
        return Effect.missing(remedy, new Effect.After(alive, Optional.empty(), Set.of()));
    }

    private static Optional<String> freezer(String file, String text) {
        return Effect.missing(
                new Remedy.ThawCgroup(file, "0"), new Effect.After(Map.of(), Optional.of(text), Set.of()));
    }
}
