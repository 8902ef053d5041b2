package io.nodekeeper.agent.devices;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonNumber;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.AlphaChars;
import net.jqwik.api.constraints.NotEmpty;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class DeviceCheckpointTest {
    /** As a kubelet wrote it. */
    private static final String OF_A_KUBELET = """
            {"Data":{"PodDeviceEntries":[{"PodUID":"bf52b2cd-b611-4e79-86b1-280b283185c3","ContainerName":"check",\
            "ResourceName":"nvidia.com/gpu","DeviceIDs":{"-1":["tegra"]},\
            "AllocResp":"Ch8KFk5WSURJQV9WSVNJQkxFX0RFVklDRVMSBXRlZ3Jh"}],\
            "RegisteredDevices":{"nvidia.com/gpu":["tegra"]}},"Checksum":3660592824}""";

    @Test
    void shouldReadWhatAKubeletWrote() {
        DeviceCheckpoint read = DeviceCheckpoint.read(Json.parseObject(OF_A_KUBELET));

        assertThat(read.registered()).isEqualTo(Map.of("nvidia.com/gpu", List.of("tegra")));
        assertThat(read.allocations()).hasSize(1);
        Allocation allocation = read.allocations().getFirst();
        assertThat(allocation.uid()).isEqualTo("bf52b2cd-b611-4e79-86b1-280b283185c3");
        assertThat(allocation.container()).isEqualTo("check");
        assertThat(allocation.resource()).isEqualTo("nvidia.com/gpu");
        assertThat(allocation.byNode()).isEqualTo(Map.of(-1L, List.of("tegra")));
        assertThat(allocation.grant().environment()).isEqualTo(Map.of("NVIDIA_VISIBLE_DEVICES", "tegra"));
    }

    @Test
    void shouldWriteWhatAKubeletWrites() {
        DeviceCheckpoint read = DeviceCheckpoint.read(Json.parseObject(OF_A_KUBELET));

        assertThat(Json.write(read.json())).isEqualTo(OF_A_KUBELET);
    }

    @Test
    void shouldRefuseADamagedFile() {
        assertThatThrownBy(() ->
                        DeviceCheckpoint.read(Json.parseObject(OF_A_KUBELET).with("Checksum", JsonNumber.of(7))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("checkpoint is corrupted: Checksum is 7, expected 3660592824");
        assertThatThrownBy(() -> DeviceCheckpoint.read(Json.parseObject("{}")))
                .hasMessageStartingWith("checkpoint is corrupted: Checksum is missing, expected ");
    }

    @Property(tries = 100)
    void shouldReadWhatItWrote(
            @ForAll @AlphaChars @NotEmpty String name,
            @ForAll @Size(max = 5) List<@AlphaChars @NotEmpty String> ids,
            @ForAll long node) {
        DeviceCheckpoint written = new DeviceCheckpoint(
                List.of(new Allocation("uid-" + name, name, "a.com/" + name, Map.of(node, ids), FakePlugin.grant(ids))),
                Map.of("a.com/" + name, ids, "b.com/empty", List.of()));

        DeviceCheckpoint read = DeviceCheckpoint.read(Json.parseObject(Json.write(written.json())));

        assertThat(Json.write(read.json())).isEqualTo(Json.write(written.json()));
        assertThat(read.registered()).isEqualTo(written.registered());
    }
}
