package io.nodekeeper.cli.doctor.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.culprit.Findings;
import io.nodekeeper.agent.culprit.diagnosis.ContainerIndex;
import io.nodekeeper.agent.culprit.diagnosis.Culprit;
import io.nodekeeper.agent.culprit.diagnosis.Layer;
import io.nodekeeper.agent.culprit.diagnosis.Remedy;
import io.nodekeeper.agent.culprit.evidence.Confidence;
import io.nodekeeper.agent.culprit.scan.ProcessRef;
import io.nodekeeper.agent.problems.kernel.KmsgRecord;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What single files of a bundle contain. */
class NodeEvidenceTest {
    private static final ProcessRef MOUNT = new ProcessRef(4_711, 99, "mount.cifs");
    private static final Culprit HUNG = new Culprit(
            Layer.DISK,
            "DiskStalled",
            "mount.cifs does not end",
            Instant.EPOCH,
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.of(MOUNT),
            Optional.empty(),
            List.of(),
            List.of(new Remedy.Advice("repair the server")),
            Confidence.CERTAIN);

    @TempDir
    Path root;

    @Test
    void argumentsOfAProcessHaveNoSecretsWhereverTheseContainBlanks() throws Exception {
        // given a process that hangs and has a password with a blank among its arguments
        Path file = root.resolve("proc/4711/cmdline");
        Files.createDirectories(file.getParent());
        Files.writeString(file, "mount.cifs\0--password\0a b&c\0//server/share\0");
        Findings findings = new Findings(
                "/run/c.sock",
                Optional.empty(),
                Optional.empty(),
                ContainerIndex.NONE,
                List.of(),
                List.of(),
                "",
                List.of(HUNG),
                List.of());

        // when its evidence is read
        String arguments = new NodeEvidence(root)
                .of("", "", findings, Optional.empty(), 1).stream()
                        .filter(evidence -> evidence.name().equals("proc/4711/cmdline"))
                        .findFirst()
                        .orElseThrow()
                        .read()
                        .call();

        // then nothing of it is left
        assertThat(arguments).isEqualTo("mount.cifs --password [redacted] //server/share");
    }

    @Test
    void linesOfTheKernelHaveMilliseconds() {
        assertThat(NodeEvidence.line(new KmsgRecord(7, 12_005_999, "oops"))).isEqualTo("[12.005] oops");
    }
}
