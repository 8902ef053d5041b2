package io.nodekeeper.agent.devices;

import io.nodekeeper.agent.checkpoint.Checksum;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.cri.devices.DeviceGrant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What the kubelet's file {@code kubelet_internal_checkpoint} contains. Immutable.
 *
 * @param allocations the devices of containers
 * @param registered the ids of healthy devices, by resource
 */
record DeviceCheckpoint(List<Allocation> allocations, Map<String, List<String>> registered) {
    /** Nothing. */
    static final DeviceCheckpoint EMPTY = new DeviceCheckpoint(List.of(), Map.of());

    /** Keeps copies; resources are sorted. */
    DeviceCheckpoint {
        allocations = List.copyOf(allocations);
        registered = Collections.unmodifiableMap(new TreeMap<>(registered));
    }

    /** The file's content. */
    JsonObject json() {
        JsonObject.Builder devices = JsonObject.builder();
        registered.forEach((resource, ids) -> devices.put(resource, JsonArray.ofStrings(ids)));
        return JsonObject.builder()
                .put(
                        "Data",
                        JsonObject.builder()
                                .put(
                                        "PodDeviceEntries",
                                        new JsonArray(allocations.stream()
                                                .<JsonValue>map(DeviceCheckpoint::json)
                                                .toList()))
                                .put("RegisteredDevices", devices.build())
                                .build())
                .put("Checksum", JsonNumber.of(checksum()))
                .build();
    }

    private static JsonObject json(Allocation allocation) {
        JsonObject.Builder ids = JsonObject.builder();
        allocation.byNode().forEach((node, list) -> ids.put(Long.toString(node), JsonArray.ofStrings(list)));
        return JsonObject.builder()
                .put("PodUID", new JsonString(allocation.uid()))
                .put("ContainerName", new JsonString(allocation.container()))
                .put("ResourceName", new JsonString(allocation.resource()))
                .put("DeviceIDs", ids.build())
                .put(
                        "AllocResp",
                        new JsonString(Base64.getEncoder()
                                .encodeToString(allocation.grant().bytes())))
                .build();
    }

    /**
     * Reads such a content, also that of a kubelet.
     *
     * @throws IllegalArgumentException if it is damaged
     */
    static DeviceCheckpoint read(JsonObject json) {
        JsonObject data = json.object("Data");
        List<Allocation> allocations = new ArrayList<>();
        List<String> texts = new ArrayList<>();
        data.array("PodDeviceEntries").objects().forEach(entry -> {
            Map<Long, List<String>> ids = new TreeMap<>();
            entry.object("DeviceIDs")
                    .fields()
                    .keySet()
                    .forEach(node -> ids.put(
                            Long.parseLong(node),
                            entry.object("DeviceIDs").array(node).strings().toList()));
            byte[] grant = Base64.getDecoder().decode(entry.text("AllocResp"));
            Allocation allocation = new Allocation(
                    entry.text("PodUID"),
                    entry.text("ContainerName"),
                    entry.text("ResourceName"),
                    ids,
                    DeviceGrant.parse(grant));
            allocations.add(allocation);
            texts.add(text(allocation, grant));
        });
        Map<String, List<String>> registered = new TreeMap<>();
        data.object("RegisteredDevices")
                .fields()
                .keySet()
                .forEach(resource -> registered.put(
                        resource,
                        data.object("RegisteredDevices")
                                .array(resource)
                                .strings()
                                .toList()));
        DeviceCheckpoint read = new DeviceCheckpoint(allocations, registered);
        long expected = checksum(texts, read.registered);
        if (json.number("Checksum").orElse(-1L) != expected) {
            throw new IllegalArgumentException("checkpoint is corrupted: Checksum is "
                    + json.get("Checksum").map(JsonValue::toString).orElse("missing") + ", expected " + expected);
        }
        return read;
    }

    private long checksum() {
        return checksum(
                allocations.stream()
                        .map(allocation -> text(allocation, allocation.grant().bytes()))
                        .toList(),
                registered);
    }

    /** The names and types are those of the kubelet's source, over whose values it computes the checksum. */
    private static long checksum(List<String> allocations, Map<String, List<String>> registered) {
        return Checksum.of("(checkpoint.checkpointData){PodDeviceEntries:([]checkpoint.PodDevicesEntry)["
                + String.join(" ", allocations)
                + "] RegisteredDevices:(map[string][]string)"
                + map(registered)
                + "}");
    }

    private static String text(Allocation allocation, byte[] grant) {
        List<String> bytes = new ArrayList<>(grant.length);
        for (byte each : grant) {
            bytes.add(Integer.toString(each & 0xff));
        }
        return "{PodUID:(string)" + allocation.uid() + " ContainerName:(string)" + allocation.container()
                + " ResourceName:(string)" + allocation.resource() + " DeviceIDs:(checkpoint.DevicesPerNUMA)"
                + map(allocation.byNode()) + " AllocResp:([]uint8)[" + String.join(" ", bytes) + "]}";
    }

    /** Sorted by key, as Go prints it. */
    private static String map(Map<?, List<String>> values) {
        return values.entrySet().stream()
                .map(entry -> entry.getKey() + ":[" + String.join(" ", entry.getValue()) + "]")
                .collect(Collectors.joining(" ", "map[", "]"));
    }
}
