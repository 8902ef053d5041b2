package io.nodekeeper.cli.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.client.access.PageRight;
import org.junit.jupiter.api.Test;

class AgentPageRightsTest {
    @Test
    void statisticsNeedTheRightsOfAKubeletAndOtherPagesTheirPath() {
        assertThat(AgentProcess.right("n1", "/stats/summary")).isEqualTo(new PageRight.NodePart("n1", "stats"));
        assertThat(AgentProcess.right("n1", "/metrics/resource")).isEqualTo(new PageRight.NodePart("n1", "metrics"));
        assertThat(AgentProcess.right("n1", "/metrics")).isEqualTo(new PageRight.Path("/metrics"));
        assertThat(AgentProcess.right("n1", "/debug/runtime")).isEqualTo(new PageRight.Path("/debug/runtime"));
    }
}
