package io.nodekeeper.agent.systemd;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SystemdUnitsTest {
    /** As {@code busctl tree org.freedesktop.systemd1} shows them. */
    @Test
    void theNameOfAUnitIsEscapedInItsPath() {
        assertThat(SystemdUnits.escaped("kubepods-burstable-pod1_a2.slice"))
                .isEqualTo("kubepods_2dburstable_2dpod1_5fa2_2eslice");
    }
}
