package io.nodekeeper.agent.pods.cpus;

import io.nodekeeper.agent.checkpoint.Checksum;
import io.nodekeeper.agent.facts.CpuSet;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What the kubelet's file {@code cpu_manager_state} contains. Immutable.
 *
 * @param policy {@code none} or {@code static}
 * @param shared the processors that no container has for itself; empty with the policy {@code none}
 * @param entries those of containers: by the pod's UID and the container's name
 */
record CpuState(String policy, CpuSet shared, Map<String, Map<String, CpuSet>> entries) {
    /** Keeps copies, sorted. */
    CpuState {
        Map<String, Map<String, CpuSet>> sorted = new TreeMap<>();
        entries.forEach((uid, containers) -> sorted.put(uid, new TreeMap<>(containers)));
        entries = sorted;
    }

    /** The file's content. */
    JsonObject json() {
        JsonObject.Builder pods = JsonObject.builder();
        entries.forEach((uid, containers) -> {
            JsonObject.Builder pod = JsonObject.builder();
            containers.forEach((name, cpus) -> pod.put(name, new JsonString(cpus.toString())));
            pods.put(uid, pod.build());
        });
        JsonObject.Builder json = JsonObject.builder()
                .put("policyName", new JsonString(policy))
                .put("defaultCpuSet", new JsonString(shared.toString()));
        if (!entries.isEmpty()) {
            json.put("entries", pods.build());
        }
        return json.put("checksum", JsonNumber.of(checksum())).build();
    }

    /**
     * Reads such a content, also that of a kubelet.
     *
     * @throws IllegalArgumentException if it is damaged
     */
    static CpuState read(JsonObject json) {
        Map<String, Map<String, CpuSet>> entries = new TreeMap<>();
        JsonObject pods = json.object("entries");
        for (String uid : pods.fields().keySet()) {
            Map<String, CpuSet> containers = new TreeMap<>();
            pods.object(uid).texts().forEach((name, cpus) -> containers.put(name, CpuSet.parse(cpus)));
            entries.put(uid, containers);
        }
        CpuState state = new CpuState(json.text("policyName"), CpuSet.parse(json.text("defaultCpuSet")), entries);
        if (json.number("checksum").orElse(-1L) != state.checksum()) {
            throw new IllegalArgumentException("checkpoint is corrupted: checksum is "
                    + json.get("checksum").map(JsonValue::toString).orElse("missing") + ", expected "
                    + state.checksum());
        }
        return state;
    }

    /** The names and types are those of the kubelet's source, over whose values it computes the checksum. */
    private long checksum() {
        String pods = entries.entrySet().stream()
                .map(pod -> pod.getKey() + ":"
                        + pod.getValue().entrySet().stream()
                                .map(container -> container.getKey() + ":" + container.getValue())
                                .collect(Collectors.joining(" ", "map[", "]")))
                .collect(Collectors.joining(" ", "map[", "]"));
        return Checksum.of("(*state.CPUManagerCheckpoint){PolicyName:(string)" + policy + " DefaultCPUSet:(string)"
                + shared + " Entries:(map[string]map[string]string)" + pods + " Checksum:(checksum.Checksum)0}");
    }
}
