package io.nodekeeper.agent.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.cri.ContainerState;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** What containers write about their ends, on a disk that does not always answer. */
class TerminationMessagesTest extends SimulatedNode {
    @Test
    void shouldReadAMessageAgainThatTheDiskDidNotGiveInTime() throws Exception {
        // given a pod whose container has written why it ends
        add("job", "\"terminationMessagePath\": \"/dev/termination-log\"", ", \"restartPolicy\": \"Never\"");
        start(110);
        advance(5);
        Path file = directory.resolve("root/pods/uid-job/containers/app/0.termination");
        Files.writeString(file, "all done");

        // when it ends while the disk hangs
        files.late = "termination messages";
        runtime.container("made-2", "uid-job", "app", ContainerState.EXITED);
        advance(15);

        // then the status says so, until the disk answers
        assertThat(phase("job")).isEqualTo("Succeeded");
        assertThat(terminationMessage("job")).startsWith("Error on reading termination messages: ");
        files.late = "";
        advance(11);
        assertThat(terminationMessage("job")).isEqualTo("all done");
    }
}
