package io.nodekeeper.controller.duplicates;

import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a Node's status says about the machine that wrote it.
 *
 * @param bootId the kernel makes a new one at each boot
 * @param hardware machine id and system UUID, which differ between machines that were not cloned
 * @param address the addresses of type InternalIP, in their order, with commas
 */
record Machine(String bootId, String hardware, String address) {
    /** A boot id has 36 characters, a machine id 32 or 36. An agent may send anything. */
    private static final int LONGEST_ID = 40;
    /** Two addresses of IPv6 with a comma. */
    private static final int LONGEST_ADDRESS = 79;

    /** The machine in the status of {@code node}; empty if the status has neither a boot id nor an address. */
    static Optional<Machine> of(Node node) {
        JsonObject info = node.status().object("nodeInfo");
        String address = node.status()
                .array("addresses")
                .objects()
                .filter(entry -> entry.text("type").equals("InternalIP"))
                .map(entry -> entry.text("address"))
                .limit(2)
                .collect(Collectors.joining(","));
        String hardware = Stream.of("machineID", "systemUUID")
                .map(name -> shortened(info.text(name), LONGEST_ID))
                .collect(Collectors.joining("/"));
        Machine machine =
                new Machine(shortened(info.text("bootID"), LONGEST_ID), hardware, shortened(address, LONGEST_ADDRESS));
        return machine.bootId.isEmpty() && machine.address.isEmpty() ? Optional.empty() : Optional.of(machine);
    }

    /** Whether the other one has the same kernel and hardware. */
    boolean isSameBoot(Machine other) {
        return bootId.equals(other.bootId) && hardware.equals(other.hardware);
    }

    /** 64 bits that differ for different machines; equal ones are the same machine but for 1 of 2^64 pairs. */
    long fingerprint() {
        return mix(mix(mix(0, bootId), hardware), address);
    }

    private static long mix(long seed, String text) {
        long hash = seed ^ 0xcbf29ce484222325L;
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ text.charAt(i)) * 0x100000001b3L; // FNV-1a, 64 bits
        }
        return hash;
    }

    /** For people. */
    String text() {
        return (bootId.isEmpty() ? "no boot id" : "boot id " + bootId) + (address.isEmpty() ? "" : " at " + address);
    }

    private static String shortened(String text, int longest) {
        return text.length() <= longest ? text : text.substring(0, longest);
    }
}
