package io.nodekeeper.agent.culprit.scan;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.scan.CommandLines.Program;
import io.nodekeeper.agent.culprit.scan.proc.ProcFiles;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is remembered of the command line of each process of a node. */
class ProgramTest {
    private static final ProcFiles.Stat STAT = new ProcFiles.Stat(7, "app", 'S', 1, 100);

    private static List<String> kept(List<String> arguments) {
        return Program.of(STAT, arguments, Map.of()).arguments();
    }

    @Test
    void littleIsKeptOfAnOrdinaryProgramWhateverItsArguments() {
        assertThat(kept(List.of("app", "--serve"))).containsExactly("app", "--serve");
        assertThat(kept(Collections.nCopies(1_000, "a"))).isEqualTo(Collections.nCopies(32, "a"));
        assertThat(kept(List.of("app", "x".repeat(999)))).containsExactly("app");
        assertThat(kept(List.of("x".repeat(30_000)))).containsExactly("x".repeat(1_000));
        assertThat(kept(List.of())).isEmpty();
        assertThat(Program.of(STAT, List.of("app"), Map.of("CNI_ARGS", "x".repeat(30_000)))
                        .cni())
                .isEmpty();
    }

    @Test
    void allIsKeptOfAPartOfTheRuntime() {
        List<String> runc = new ArrayList<>(List.of("runc", "--root", "/run", "--log", "/b/log.json", "create"));
        runc.addAll(Collections.nCopies(50, "--x"));
        runc.add("0123456789abcdef".repeat(4));

        assertThat(kept(runc)).isEqualTo(runc);
        assertThat(Program.of(STAT, List.of("calico"), Map.of("CNI_COMMAND", "ADD", "CNI_ARGS", "a=b"))
                        .cni())
                .containsKeys("CNI_COMMAND", "CNI_ARGS");
    }

    /** They become parts of events, conditions and reports on terminals. */
    @Test
    void aLineHasNoCharactersThatCannotBePrinted() {
        List<String> hostile = List.of("app\u001b[2J", "--a=\r\nE0101", "\u009b1A\u007f", "\u2028\u202ex", "caf\u00e9");

        assertThat(Program.of(STAT, hostile, Map.of()).line()).isEqualTo("app [2J --a=  E0101  1A    x caf\u00e9");
        ProcFiles.Stat named = new ProcFiles.Stat(7, "a\u001bc\n", 'S', 1, 100);
        assertThat(Program.of(named, List.of(), Map.of()).line()).isEqualTo("[a c ]");
    }
}
