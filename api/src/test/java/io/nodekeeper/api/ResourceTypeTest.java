package io.nodekeeper.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The paths of objects. */
class ResourceTypeTest {
    @Test
    void aPathHasTheNamesOfItsObject() {
        assertThat(ResourceType.NODES.path("", "n1")).isEqualTo("/api/v1/nodes/n1");
        assertThat(ResourceType.LEASES.path("kube-node-lease", "n1.example.com"))
                .isEqualTo("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1.example.com");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".", "..", "../pods/p1", "n1/status", "n1#1", "n1?dryRun=All", "n1%2Fstatus"})
    void noNameLeavesItsPath(String name) {
        assertThatThrownBy(() -> ResourceType.NODES.path("", name))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("nodes: no path can have the name \"" + name + "\"");
        assertThatThrownBy(() -> ResourceType.LEASES.path(name, "n1"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("leases.coordination.k8s.io: no path can have the namespace \"" + name + "\"");
    }
}
