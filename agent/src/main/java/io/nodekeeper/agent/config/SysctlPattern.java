package io.nodekeeper.agent.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The name of a sysctl that pods may set, or the beginning of several names ({@code *} at its end), with Kubernetes' rules: only
 * sysctls that the kernel keeps for each namespace are possible. Immutable.
 *
 * @param text with dots, as in {@code net.core.*}
 * @param namespace which namespace of the kernel it belongs to
 */
public record SysctlPattern(String text, Namespace namespace) {
    /** Kubernetes' longest name. */
    private static final int LONGEST = 253;
    /** Kubernetes' form. */
    private static final Pattern FORM =
            Pattern.compile("([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]");

    /** Names and the beginnings of {@code *} patterns: semaphores, shared memory, messages. */
    private static final Map<String, Namespace> NAMES = Map.of(
            "kernel.sem", Namespace.IPC,
            "kernel.shmall", Namespace.IPC,
            "kernel.shmmax", Namespace.IPC,
            "kernel.shmmni", Namespace.IPC,
            "kernel.shm_rmid_forced", Namespace.IPC,
            "kernel.shm", Namespace.IPC,
            "kernel.msgmax", Namespace.IPC,
            "kernel.msgmnb", Namespace.IPC,
            "kernel.msgmni", Namespace.IPC,
            "kernel.msg", Namespace.IPC);

    /** A namespace that a pod has of its own, unless it uses the host's. */
    public enum Namespace {
        /** The network. */
        NET("net"),
        /** Communication between processes. */
        IPC("ipc");

        private final String text;

        Namespace(String text) {
            this.text = text;
        }

        /** As messages name it. */
        public String text() {
            return text;
        }
    }

    /**
     * The pattern that {@code text} describes.
     *
     * @throws IllegalArgumentException with the kubelet's message if there is none
     */
    public static SysctlPattern of(String text) {
        if (text.length() > LONGEST || !FORM.matcher(text).matches()) {
            throw new IllegalArgumentException("sysctl \"" + text + "\" must have at most " + LONGEST
                    + " characters and match regex " + FORM.pattern());
        }
        String dotted = dotted(text);
        boolean several = dotted.endsWith("*");
        String name = several ? dotted.substring(0, dotted.length() - 1) : dotted;
        return namespace(name)
                .map(namespace -> new SysctlPattern(dotted, namespace))
                .orElseThrow(() -> new IllegalArgumentException(
                        "the sysctl" + (several ? "s" : "") + " \"" + dotted + "\" are not known to be namespaced"));
    }

    /** The patterns that {@code texts} describe; {@code faults} receives the kubelet's message for each other text. */
    public static List<SysctlPattern> parse(List<String> texts, Consumer<String> faults) {
        List<SysctlPattern> patterns = new ArrayList<>();
        for (String text : texts) {
            try {
                patterns.add(of(text));
            } catch (IllegalArgumentException e) {
                faults.accept(e.getMessage());
            }
        }
        return patterns;
    }

    private static Optional<Namespace> namespace(String name) {
        if (name.startsWith("net.")) {
            return Optional.of(Namespace.NET);
        }
        return name.startsWith("fs.mqueue.") ? Optional.of(Namespace.IPC) : Optional.ofNullable(NAMES.get(name));
    }

    /** Whether the sysctl of that name, with dots, is meant. */
    public boolean matches(String name) {
        return text.endsWith("*") ? name.startsWith(text.substring(0, text.length() - 1)) : name.equals(text);
    }

    /** The name with dots between its parts: with slashes, dots are part of a part, such as a VLAN's interface. */
    public static String dotted(String name) {
        int slash = name.indexOf('/');
        int dot = name.indexOf('.');
        if (slash < 0 || dot >= 0 && dot < slash) {
            return name;
        }
        return name.chars()
                .mapToObj(character -> switch (character) {
                    case '.' -> "/";
                    case '/' -> ".";
                    default -> Character.toString(character);
                })
                .collect(Collectors.joining());
    }
}
