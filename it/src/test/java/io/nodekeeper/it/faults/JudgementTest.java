package io.nodekeeper.it.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class JudgementTest {
    private static final Truth SHIM =
            Truth.process("shim", () -> Set.of(7L), "ShimStopped").of("web");
    private static final Truth LOCK = Truth.process("holder", () -> Set.of(8L), "lock");

    @Test
    void theCauseAtTheFirstPlaceIsRight() {
        Judgement judgement = new Judgement(List.of(SHIM));
        judgement.look(List.of(), 1);
        judgement.look(List.of(named("ShimStopped", "certain", 7, "shop/web")), 2);
        judgement.look(List.of(named("ShimStopped", "certain", 7, "shop/web")), 3);
        assertThat(judgement.verdict()).isEqualTo(Judgement.Verdict.RIGHT);
        assertThat(judgement.rightSince()).contains(2.0);
        assertThat(judgement.falselyCertain()).isEmpty();
    }

    @Test
    void anotherProcessOrPodOrMechanismIsWrong() {
        for (Named other : List.of(
                named("ShimStopped", "likely", 9, "shop/web"),
                named("ShimStopped", "likely", 7, "shop/cart"),
                named("ShimTraced", "likely", 7, "shop/web"))) {
            Judgement judgement = new Judgement(List.of(SHIM));
            judgement.look(List.of(other), 1);
            assertThat(judgement.verdict()).as("%s", other).isEqualTo(Judgement.Verdict.WRONG);
        }
    }

    @Test
    void aCommandWhoseArgumentsNameTheMountDoesNotNameItsServer() {
        Truth server = Truth.process("server", () -> Set.of(8L), "fuse").or("/mnt/fuse");
        Judgement judgement = new Judgement(List.of(server));
        judgement.look(List.of(hung("pid 9: ls /mnt/fuse/missing")), 1);
        assertThat(judgement.verdict()).isEqualTo(Judgement.Verdict.WRONG);
        judgement.look(List.of(hung("the FUSE file system at /mnt/fuse does not answer")), 2);
        assertThat(judgement.verdict()).isEqualTo(Judgement.Verdict.RIGHT);
    }

    @Test
    void whatIsFalseAndCertainIsKeptEvenIfItIsCorrectedLater() {
        Judgement judgement = new Judgement(List.of(SHIM));
        judgement.look(List.of(named("DiskStalled", "certain", 9, "shop/web")), 1);
        judgement.look(List.of(named("ShimStopped", "certain", 7, "shop/web")), 2);
        assertThat(judgement.verdict()).isEqualTo(Judgement.Verdict.RIGHT);
        assertThat(judgement.falselyCertain()).hasSize(1);
    }

    @Test
    void oneOfTwoCausesIsPartlyRight() {
        Judgement judgement = new Judgement(List.of(SHIM, LOCK));
        judgement.look(List.of(named("LockHeld", "likely", 8, "shop/web")), 1);
        assertThat(judgement.verdict()).isEqualTo(Judgement.Verdict.PARTLY);
        judgement.look(
                List.of(named("LockHeld", "likely", 8, "shop/web"), named("ShimStopped", "likely", 7, "shop/web")), 2);
        assertThat(judgement.verdict()).isEqualTo(Judgement.Verdict.RIGHT);
    }

    @Test
    void silenceIsRightOnlyWhereNothingWaits() {
        Judgement fault = new Judgement(List.of(SHIM));
        fault.look(List.of(), 1);
        assertThat(fault.verdict()).isEqualTo(Judgement.Verdict.SILENT);
        Judgement none = new Judgement(List.of(SHIM.orSilence()));
        none.look(List.of(), 1);
        assertThat(none.verdict()).isEqualTo(Judgement.Verdict.RIGHT);
        none.look(List.of(named("DiskStalled", "certain", 9, "shop/web")), 2);
        assertThat(none.verdict()).isEqualTo(Judgement.Verdict.WRONG);
    }

    @Test
    void sayingThatNothingExplainsItIsUnknown() {
        Judgement judgement = new Judgement(List.of(SHIM));
        judgement.look(List.of(named("ContainerCallHung", "unknown", 0, "shop/web")), 1);
        assertThat(judgement.verdict()).isEqualTo(Judgement.Verdict.UNKNOWN);
    }

    private static Named hung(String evidence) {
        return new Named(
                "CNIPluginHung",
                "ls (pid 9) has not ended",
                "likely",
                Optional.of(9L),
                Optional.empty(),
                List.of(evidence),
                "none");
    }

    private static Named named(String reason, String confidence, long pid, String pod) {
        return new Named(
                reason, reason + " of " + pod, confidence, Optional.of(pid), Optional.of(pod), List.of(), "none");
    }
}
