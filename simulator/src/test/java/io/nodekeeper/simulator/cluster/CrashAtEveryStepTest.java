package io.nodekeeper.simulator.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Kills a process at each step of a verdict and its consequences. */
class CrashAtEveryStepTest {
    private static final Logger log = LoggerFactory.getLogger(CrashAtEveryStepTest.class);

    @Test
    @Tag("L22")
    @Tag("L38")
    @Tag("L71")
    void whereverTheControllerIsKilledItsSuccessorFinishesAndTouchesNoOtherNode() {
        assertThat(complaintsOfKilling("controller", 1)).isEmpty();
    }

    @Test
    @Tag("L38")
    @Tag("L77")
    @Tag("long")
    void whereverOneOfTwoControllersIsKilledTheVerdictStands() {
        assertThat(complaintsOfKilling("controller", 2)).isEmpty();
    }

    @Test
    @Tag("long")
    void whereverTheApiServerIsKilledTheControllerFinishesOnTheNextOne() {
        assertThat(complaintsOfKilling("apiserver", 1)).isEmpty();
    }

    @Test
    void theUndisturbedRunMarksTheDeadNodeAloneAndTakesItBackOnItsReturn() {
        CrashRun run = CrashRun.undisturbed(1);

        assertThat(run.complaints(run)).isEmpty();
        assertThat(run.stateWhileDead())
                .contains("n0 DiskPressure=Unknown MemoryPressure=Unknown PIDPressure=Unknown Ready=Unknown")
                .contains("node.kubernetes.io/unreachable:NoSchedule")
                .contains("n1 DiskPressure=False MemoryPressure=False PIDPressure=False Ready=True taints []");
        assertThat(run.stateAtTheEnd())
                .contains("n0 DiskPressure=False MemoryPressure=False PIDPressure=False Ready=True taints []");
        assertThat(run.chronicle().pods).hasSize(3);
    }

    private static List<String> complaintsOfKilling(String struck, int controllers) {
        CrashRun undisturbed = CrashRun.undisturbed(controllers);
        List<Moments.Moment> moments = undisturbed.moments();
        // Without any run the assertions above would pass. Of two controllers either may be the first to write the
        // condition.
        assertThat(moments).contains(new Moments.Moment("call PATCH /api/v1/nodes/n0", true));
        List<String> complaints = new ArrayList<>();
        int runs = 0;
        for (int target = 0; target < moments.size(); target++) {
            Moments.Moment moment = moments.get(target);
            List<Moments.Side> sides = moment.isCall() ? List.of(Moments.Side.values()) : List.of(Moments.Side.BEFORE);
            for (Moments.Side side : sides) {
                CrashRun run = CrashRun.killing(struck, controllers, target, side);
                runs++;
                assertThat(run.moments().get(target)).isEqualTo(moment);
                String where = struck + " killed " + side + " moment " + target + ", " + moment.what() + ": ";
                run.complaints(undisturbed).forEach(complaint -> complaints.add(where + complaint));
            }
        }
        log.info("{}, {} controllers: {} moments, {} runs", struck, controllers, moments.size(), runs);
        return complaints;
    }
}
