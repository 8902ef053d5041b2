package io.nodekeeper.agent.stats;

import io.nodekeeper.agent.stats.cgroups.KernelNumbers;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Parses files of {@code /proc}. What a file does not have in its usual form is empty. Pure. */
final class ProcText {
    /** The unit of {@code /proc/stat}: USER_HZ is 100 on every architecture that a Java virtual machine supports. */
    private static final long NANOS_IN_TICK = 10_000_000;
    /** user, nice, system, irq, softirq and steal count; idle and iowait do not, guest is part of user. */
    private static final int[] BUSY = {1, 2, 3, 6, 7, 8};

    /** A pod has one interface, or a few with several networks. */
    private static final int MOST_INTERFACES = 32;

    private ProcText() {}

    /** Processor time of all processes since the boot in ns, by {@code /proc/stat}. */
    static OptionalLong processorNanos(String stat) {
        return line(stat, "cpu ")
                .map(line -> {
                    String[] words = line.split(" +");
                    long ticks = 0;
                    for (int column : BUSY) {
                        OptionalLong value =
                                column < words.length ? KernelNumbers.number(words[column]) : OptionalLong.empty();
                        if (value.isEmpty()) {
                            return OptionalLong.empty();
                        }
                        ticks += value.getAsLong();
                    }
                    return OptionalLong.of(ticks * NANOS_IN_TICK);
                })
                .orElse(OptionalLong.empty());
    }

    /** The time of the boot in seconds since 1970, by {@code /proc/stat}. */
    static OptionalLong bootSeconds(String stat) {
        return line(stat, "btime ")
                .map(line -> KernelNumbers.number(line.substring("btime ".length())))
                .orElse(OptionalLong.empty());
    }

    /** The counters of all interfaces in {@code /proc/net/dev} but the loopback, the first {@value #MOST_INTERFACES} of them. */
    static List<NodeUsage.Network> networks(String dev) {
        return dev.lines()
                .map(String::strip)
                .filter(line -> line.indexOf(':') > 0)
                .map(line -> line.substring(0, line.indexOf(':')))
                .filter(name -> !name.equals("lo"))
                .limit(MOST_INTERFACES)
                .flatMap(name -> network(dev, name).stream())
                .toList();
    }

    /** The counters of {@code name} in {@code /proc/net/dev}. */
    static Optional<NodeUsage.Network> network(String dev, String name) {
        return dev.lines()
                .map(String::strip)
                .filter(line -> line.startsWith(name + ":"))
                .findFirst()
                .flatMap(line -> {
                    String[] words = line.substring(name.length() + 1).strip().split(" +");
                    return words.length < 16
                            ? Optional.empty()
                            : network(name, words[0], words[2], words[8], words[10]);
                });
    }

    private static Optional<NodeUsage.Network> network(
            String name, String received, String receiveErrors, String sent, String sendErrors) {
        OptionalLong in = KernelNumbers.number(received);
        OptionalLong inErrors = KernelNumbers.number(receiveErrors);
        OptionalLong out = KernelNumbers.number(sent);
        OptionalLong outErrors = KernelNumbers.number(sendErrors);
        return in.isPresent() && inErrors.isPresent() && out.isPresent() && outErrors.isPresent()
                ? Optional.of(new NodeUsage.Network(
                        name, in.getAsLong(), inErrors.getAsLong(), out.getAsLong(), outErrors.getAsLong()))
                : Optional.empty();
    }

    private static Optional<String> line(String text, String start) {
        return text.lines().filter(line -> line.startsWith(start)).findFirst();
    }
}
