package io.nodekeeper.agent;

import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.config.AgentConfigBuilder;
import io.nodekeeper.agent.eviction.Pressure;
import io.nodekeeper.agent.facts.DeviceCapacity;
import io.nodekeeper.agent.facts.Fact;
import io.nodekeeper.agent.facts.Filesystem;
import io.nodekeeper.agent.facts.HostAddresses;
import io.nodekeeper.agent.facts.HostFacts;
import io.nodekeeper.agent.facts.Level;
import io.nodekeeper.agent.facts.MachineInfo;
import io.nodekeeper.agent.facts.ReadyErrors;
import io.nodekeeper.agent.facts.RuntimeFacts;
import io.nodekeeper.agent.status.StatusInputs;
import io.nodekeeper.api.Condition;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import java.net.InetAddress;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The machine and the nodes of the scenarios. */
public final class Fixtures {
    public static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
    public static final MachineInfo MACHINE = new MachineInfo(
            4, 17_179_869_184L, 0, Map.of(), "machine", "system", "boot-a", "6.1.0", "Test Linux 1", "amd64");
    public static final Filesystem DISK =
            new Filesystem(new Level(90_000_000_000L, 107_374_182_400L), new Level(50_000_000, 52_428_800));
    public static final InetAddress IP = InetAddress.ofLiteral("10.0.0.1");

    private Fixtures() {}

    public static AgentConfig config() {
        return new AgentConfigBuilder("n1").build();
    }

    public static HostFacts facts() {
        return facts(MACHINE);
    }

    public static HostFacts facts(MachineInfo machine) {
        return HostFacts.unknown()
                .withMachine(Fact.of(machine, 0))
                .withRootFilesystem(Fact.of(DISK, 0))
                .withWorkingSet(Fact.of(8_589_934_592L, 0))
                .withPids(Fact.of(new Level(29_250, 32_768), 0))
                .withAddresses(Fact.of(new HostAddresses(List.of(IP), List.of(IP), List.of(IP)), 0));
    }

    public static StatusInputs inputs() {
        return inputs(config(), facts());
    }

    public static StatusInputs inputs(AgentConfig config, HostFacts facts) {
        return inputs(config, facts, false);
    }

    public static StatusInputs inputs(AgentConfig config, HostFacts facts, boolean knownUnschedulable) {
        return new StatusInputs(
                config,
                "v1",
                facts,
                Set.of(),
                RuntimeFacts.NONE,
                ReadyErrors.NONE,
                List.of(),
                false,
                NOW,
                knownUnschedulable,
                DeviceCapacity.NONE);
    }

    /** The inputs of a node with devices of plugins. */
    public static StatusInputs inputs(DeviceCapacity devices) {
        return new StatusInputs(
                config(),
                "v1",
                facts(),
                Set.of(),
                RuntimeFacts.NONE,
                ReadyErrors.NONE,
                List.of(),
                false,
                NOW,
                false,
                devices);
    }

    public static StatusInputs inputs(Set<Pressure> pressures, ReadyErrors errors, Instant now) {
        return new StatusInputs(
                config(),
                "v1",
                facts(),
                pressures,
                RuntimeFacts.NONE,
                errors,
                List.of(),
                false,
                now,
                false,
                DeviceCapacity.NONE);
    }

    public static StatusInputs inputs(RuntimeFacts runtime) {
        return new StatusInputs(
                config(),
                "v1",
                facts(),
                Set.of(),
                runtime,
                ReadyErrors.NONE,
                List.of(),
                false,
                NOW,
                false,
                DeviceCapacity.NONE);
    }

    public static Node bare() {
        return new Node(JsonObject.builder()
                .put("metadata", JsonObject.EMPTY.with("name", "n1"))
                .build());
    }

    public static Node status(Node node, String name, JsonObject value) {
        return new Node(node.json().update("status", status -> status.with(name, value)));
    }

    public static Node addresses(Node node, String... typesAndAddresses) {
        JsonArray addresses = JsonArray.EMPTY;
        for (int i = 0; i < typesAndAddresses.length; i += 2) {
            addresses = addresses.plus(JsonObject.builder()
                    .put("type", typesAndAddresses[i])
                    .put("address", typesAndAddresses[i + 1])
                    .build());
        }
        JsonArray all = addresses;
        return new Node(node.json().update("status", status -> status.with("addresses", all)));
    }

    public static JsonObject resources(String... namesAndQuantities) {
        JsonObject.Builder resources = JsonObject.builder();
        for (int i = 0; i < namesAndQuantities.length; i += 2) {
            resources.put(namesAndQuantities[i], namesAndQuantities[i + 1]);
        }
        return resources.build();
    }

    public static Condition condition(Node node, String type) {
        return node.condition(type).orElseThrow(() -> new AssertionError(type + " is missing in " + node.json()));
    }
}
