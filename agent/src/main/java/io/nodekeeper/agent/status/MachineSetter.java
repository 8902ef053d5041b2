package io.nodekeeper.agent.status;

import io.nodekeeper.agent.config.AgentConfig;
import io.nodekeeper.agent.eviction.EvictionSignal;
import io.nodekeeper.agent.eviction.Threshold;
import io.nodekeeper.agent.facts.DeviceCapacity;
import io.nodekeeper.agent.facts.Filesystem;
import io.nodekeeper.agent.facts.MachineInfo;
import io.nodekeeper.api.Node;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/** Sets capacity, allocatable and the ids of the machine. Stateless. */
final class MachineSetter {
    private MachineSetter() {}

    /** {@code node} with the values from the facts; resources that others added to its capacity stay. */
    static Node set(Node node, StatusInputs inputs) {
        JsonObject capacity =
                devices(capacity(node.status().object("capacity"), inputs), inputs, DeviceCapacity.Amount::capacity);
        JsonObject allocatable = devices(
                allocatable(node.status().object("allocatable"), capacity, inputs.config()),
                inputs,
                DeviceCapacity.Amount::allocatable);
        return new Node(node.json()
                .update(
                        "status",
                        status -> ids(status, inputs).with("capacity", capacity).with("allocatable", allocatable)));
    }

    /** {@code resources} with the devices of plugins; a resource whose plugin is gone stays, with 0. */
    private static JsonObject devices(
            JsonObject resources, StatusInputs inputs, ToLongFunction<DeviceCapacity.Amount> amount) {
        JsonObject all = resources;
        for (var device : inputs.devices().amounts().entrySet()) {
            all = ResourceList.with(all, device.getKey(), Quantity.of(amount.applyAsLong(device.getValue())));
        }
        return all;
    }

    private static JsonObject capacity(JsonObject stored, StatusInputs inputs) {
        AgentConfig config = inputs.config();
        Optional<MachineInfo> machine = inputs.facts().machine().value();
        if (machine.isEmpty()) {
            // What an earlier start measured is better than none: with none, pods are refused for good.
            JsonObject capacity = stored;
            for (String resource : List.of("cpu", "memory")) {
                capacity = capacity.has(resource) ? capacity : ResourceList.with(capacity, resource, Quantity.ZERO);
            }
            return ResourceList.with(capacity, "pods", Quantity.of(config.maxPods()));
        }
        MachineInfo info = machine.get();
        JsonObject capacity = ResourceList.with(stored, "cpu", Quantity.of(info.cores()));
        capacity = ResourceList.with(capacity, "memory", Quantity.ofBytes(info.memoryBytes()));
        for (var pages : new TreeMap<>(info.hugePages()).entrySet()) {
            capacity = ResourceList.with(
                    capacity,
                    ResourceList.hugePages(pages.getKey()),
                    Quantity.ofBytes(pages.getKey() * pages.getValue()));
        }
        capacity = ResourceList.with(capacity, "pods", Quantity.of(pods(info.cores(), config)));
        Optional<Filesystem> root = inputs.facts().rootFilesystem().value();
        return root.isEmpty()
                ? capacity
                : ResourceList.with(
                        capacity,
                        "ephemeral-storage",
                        Quantity.ofBytes(root.get().bytes().capacity()));
    }

    private static long pods(int cores, AgentConfig config) {
        return config.podsPerCore() > 0
                ? Math.min((long) cores * config.podsPerCore(), config.maxPods())
                : config.maxPods();
    }

    private static JsonObject allocatable(JsonObject stored, JsonObject capacity, AgentConfig config) {
        JsonObject allocatable = stored;
        for (String resource : stored.fields().keySet()) {
            if (ResourceList.extended(resource) && !capacity.has(resource)) {
                allocatable = allocatable.without(resource);
            }
        }
        Map<String, Quantity> left = new TreeMap<>();
        for (String resource : capacity.fields().keySet()) {
            ResourceList.get(capacity, resource)
                    .ifPresent(all -> left.put(
                            resource, all.minus(reserved(resource, all, config)).atLeastZero()));
        }
        // Huge pages are reserved at boot and not available for other uses.
        Quantity memory = left.getOrDefault("memory", Quantity.ZERO);
        for (var entry : left.entrySet()) {
            if (ResourceList.hugePages(entry.getKey())) {
                Quantity pages = ResourceList.get(capacity, entry.getKey()).orElse(Quantity.ZERO);
                memory = memory.minus(pages).atLeastZero();
            }
        }
        left.replace("memory", memory);
        for (String resource : capacity.fields().keySet()) {
            Quantity quantity = left.get(resource);
            if (quantity != null) {
                allocatable = ResourceList.with(allocatable, resource, quantity);
            }
        }
        return allocatable;
    }

    private static Quantity reserved(String resource, Quantity capacity, AgentConfig config) {
        // Kubernetes reserves nothing of resources that it does not manage itself, such as pods and extended resources.
        if (resource.equals("pods") || ResourceList.extended(resource)) {
            return Quantity.ZERO;
        }
        Quantity reserved = config.systemReserved()
                .getOrDefault(resource, Quantity.ZERO)
                .plus(config.kubeReserved().getOrDefault(resource, Quantity.ZERO));
        Optional<EvictionSignal> signal = switch (resource) {
            case "memory" -> Optional.of(EvictionSignal.MEMORY_AVAILABLE);
            case "ephemeral-storage" -> Optional.of(EvictionSignal.NODEFS_AVAILABLE);
            default -> Optional.empty();
        };
        for (Threshold threshold : config.thresholds()) {
            if (threshold.hard() && signal.filter(threshold.signal()::equals).isPresent()) {
                reserved = reserved.plus(Quantity.ofBytes(threshold.limit().of(capacity.toLong())));
            }
        }
        return reserved;
    }

    private static JsonObject ids(JsonObject status, StatusInputs inputs) {
        return inputs.facts()
                .machine()
                .value()
                .map(info -> status.update("nodeInfo", nodeInfo -> ids(nodeInfo, info)))
                .orElse(status);
    }

    private static JsonObject ids(JsonObject nodeInfo, MachineInfo info) {
        JsonObject.Builder ids = nodeInfo.toBuilder()
                .put("machineID", info.machineId())
                .put("systemUUID", info.systemUuid())
                .put("bootID", info.bootId())
                .remove("swap");
        if (info.swapBytes() > 0) {
            ids.put(
                    "swap",
                    JsonObject.builder().put("capacity", info.swapBytes()).build());
        }
        return ids.build();
    }
}
