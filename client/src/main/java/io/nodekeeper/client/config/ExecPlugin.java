package io.nodekeeper.client.config;

import io.nodekeeper.api.json.JsonObject;
import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The program that provides the credentials of a kubeconfig's user, as on EKS, GKE and AKS: the section {@code exec} of
 * {@code client.authentication.k8s.io}. Immutable.
 *
 * @param apiVersion the version of the protocol, with its group
 * @param command the program, which is a path or a name in {@code PATH}, and its arguments
 * @param environment variables in addition to those of this process
 * @param interaction whether it may ask a person
 * @param installHint how to install it, for people; may be empty
 * @param cluster what the plugin is told about the cluster; empty if it does not ask for that
 */
public record ExecPlugin(
        String apiVersion,
        List<String> command,
        Map<String, String> environment,
        Interaction interaction,
        String installHint,
        JsonObject cluster) {
    /** The versions that differ only in whether {@code interactiveMode} may be missing. */
    private static final List<String> VERSIONS =
            List.of("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1");

    /** The values of {@code interactiveMode}, by their names in Kubernetes. */
    public enum Interaction {
        /** Never gets the terminal. */
        Never,
        /** Gets the terminal if there is one. */
        IfAvailable,
        /** Cannot run without a terminal. */
        Always
    }

    /** Copies list and map. */
    public ExecPlugin {
        command = List.copyOf(command);
        environment = Map.copyOf(environment);
    }

    /**
     * Reads the section {@code exec}.
     *
     * @param kubeconfig the file, beside which a relative path is
     * @param cluster what to tell the plugin about the cluster if it asks for that
     * @param where the user, for messages
     * @param faults receives what is wrong; the result is of use only if nothing is
     */
    static ExecPlugin parse(Map<?, ?> exec, Path kubeconfig, JsonObject cluster, String where, List<String> faults) {
        String version = Fields.text(exec, "apiVersion");
        if (!VERSIONS.contains(version)) {
            faults.add(where + ": exec.apiVersion is \"" + version + "\"; expected " + String.join(" or ", VERSIONS));
        }
        String program = Fields.text(exec, "command");
        if (program.isEmpty()) {
            faults.add(where + ": exec.command is missing; expected a program");
        }
        List<String> command = new ArrayList<>();
        boolean isPath = program.contains(File.separator);
        command.add(isPath ? kubeconfig.toAbsolutePath().resolveSibling(program).toString() : program);
        if (exec.get("args") instanceof List<?> arguments) {
            arguments.forEach(argument -> command.add(String.valueOf(argument)));
        }
        return new ExecPlugin(
                version,
                command,
                environment(exec, where, faults),
                interaction(exec, version, where, faults),
                Fields.text(exec, "installHint").strip(),
                Boolean.TRUE.equals(exec.get("provideClusterInfo")) ? cluster : JsonObject.EMPTY);
    }

    private static Map<String, String> environment(Map<?, ?> exec, String where, List<String> faults) {
        Map<String, String> environment = new LinkedHashMap<>();
        if (exec.get("env") instanceof List<?> entries) {
            for (Object entry : entries) {
                String name = entry instanceof Map<?, ?> map ? Fields.text(map, "name") : "";
                if (name.isEmpty() || name.contains("=")) {
                    faults.add(where + ": exec.env has the name \"" + name + "\"; expected a variable's name");
                } else if (entry instanceof Map<?, ?> map) {
                    environment.put(name, Fields.text(map, "value"));
                }
            }
        }
        return environment;
    }

    private static Interaction interaction(Map<?, ?> exec, String version, String where, List<String> faults) {
        String text = Fields.text(exec, "interactiveMode");
        if (text.isEmpty() && version.equals(VERSIONS.getLast())) {
            return Interaction.IfAvailable;
        }
        for (Interaction known : Interaction.values()) {
            if (known.name().equals(text)) {
                return known;
            }
        }
        faults.add(where + ": exec.interactiveMode is \"" + text + "\"; expected Never, IfAvailable or Always");
        return Interaction.Never;
    }

    /** The program's name; arguments and variables may be secret. */
    @Override
    public String toString() {
        return "the credential plugin \"" + command.getFirst() + "\"";
    }
}
