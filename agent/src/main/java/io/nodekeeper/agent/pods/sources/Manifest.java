package io.nodekeeper.agent.pods.sources;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.Names;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.yaml.Yaml;
import io.nodekeeper.api.yaml.YamlException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Reads manifests of static pods, in YAML or JSON, and gives the pods what a kubelet gives them: a UID that is the MD5 of the
 * pod, the node and the place of the manifest; the node's name at the end of the name; and a toleration of all taints that
 * evict. Names that become parts of paths are checked. Pure.
 *
 * @param node the node's name
 * @param source {@code file} or {@code http}, for the annotation {@code kubernetes.io/config.source}
 * @param place the file or URL
 */
record Manifest(String node, String source, String place) {
    /** The annotation with the hash of a static pod. */
    static final String HASH = "kubernetes.io/config.hash";

    private static final String SOURCE = "kubernetes.io/config.source";
    /** A UID becomes the name of a directory. */
    private static final Pattern UID = Pattern.compile("[A-Za-z0-9][-A-Za-z0-9]{0,62}");

    private static final Set<String> PROTOCOLS = Set.of("TCP", "UDP", "SCTP");

    private static final JsonObject TOLERATION = JsonObject.builder()
            .put("operator", "Exists")
            .put("effect", "NoExecute")
            .build();

    /** A text that is no manifest, or a pod that cannot run; the message has the reason. */
    static final class Fault extends Exception {
        Fault(String message) {
            super(message);
        }
    }

    /**
     * The only pod of a text.
     *
     * @throws Fault if it is not a pod, or has faults, which the message lists all
     */
    Pod pod(byte[] text) throws Fault {
        return finish(parse(text));
    }

    /** The pod of a text, or all pods of a {@code PodList}; errors are as in {@link #pod}. */
    List<Pod> pods(byte[] text) throws Fault {
        JsonObject object = parse(text);
        if (!object.text("kind").equals("PodList")) {
            return List.of(finish(object));
        }
        List<Pod> pods = new ArrayList<>();
        for (JsonObject item : object.array("items").objects().toList()) {
            // The items of a list need no kind.
            pods.add(finish(item.with("apiVersion", "v1").with("kind", "Pod")));
        }
        return pods;
    }

    private static JsonObject parse(byte[] text) throws Fault {
        List<String> repeated = new ArrayList<>();
        JsonObject object;
        try {
            object = Yaml.object(text, repeated::add);
        } catch (YamlException e) {
            throw new Fault("expected a pod in YAML or JSON: " + e.getMessage());
        }
        if (!repeated.isEmpty()) {
            throw new Fault(String.join("; ", repeated));
        }
        return object;
    }

    private Pod finish(JsonObject object) throws Fault {
        List<String> faults = faults(object);
        if (!faults.isEmpty()) {
            throw new Fault(String.join("; ", faults));
        }
        JsonObject metadata = object.object("metadata");
        String uid = metadata.text("uid").isEmpty() ? hash(object) : metadata.text("uid");
        JsonObject finished = object.without("status")
                .with(
                        "metadata",
                        metadata.with("name", metadata.text("name") + "-" + node.toLowerCase(Locale.ROOT))
                                .with("namespace", namespace(metadata))
                                .with("uid", uid)
                                .update(
                                        "annotations",
                                        annotations ->
                                                annotations.with(HASH, uid).with(SOURCE, source)))
                .update(
                        "spec",
                        spec -> spec.with("nodeName", node)
                                .with("tolerations", spec.array("tolerations").plus(TOLERATION)));
        return new Pod(finished);
    }

    private static String namespace(JsonObject metadata) {
        String namespace = metadata.text("namespace");
        return namespace.isEmpty() ? "default" : namespace;
    }

    private String hash(JsonObject object) {
        try {
            MessageDigest digest = MessageDigest.getInstance("MD5");
            digest.update(Json.writeBytes(object));
            digest.update(("host:" + node).getBytes(StandardCharsets.UTF_8));
            digest.update(((source.equals("file") ? "file:" : "url:") + place).getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Java always has MD5", e);
        }
    }

    private List<String> faults(JsonObject object) {
        List<String> faults = new ArrayList<>();
        if (!object.text("apiVersion").equals("v1") || !object.text("kind").equals("Pod")) {
            faults.add("expected apiVersion v1 and kind Pod, got \"" + object.text("apiVersion") + "\" and \""
                    + object.text("kind") + "\"");
            return faults;
        }
        JsonObject metadata = object.object("metadata");
        String name = metadata.text("name");
        (name.isEmpty() ? Optional.of("is missing") : Names.subdomainFault(name + "-" + node.toLowerCase(Locale.ROOT)))
                .ifPresent(fault -> faults.add("metadata.name: " + fault));
        Names.labelFault(namespace(metadata)).ifPresent(fault -> faults.add("metadata.namespace: " + fault));
        String uid = metadata.text("uid");
        if (!uid.isEmpty() && !UID.matcher(uid).matches()) {
            faults.add("metadata.uid: expected letters, digits and '-', got \"" + uid + "\"");
        }
        JsonObject spec = object.object("spec");
        if (spec.array("containers").isEmpty()) {
            faults.add("spec.containers: a pod needs a container");
        }
        Set<String> names = new HashSet<>();
        named(spec, "initContainers", names, faults);
        named(spec, "containers", names, faults);
        Stream.of("initContainers", "containers")
                .flatMap(field -> spec.array(field).objects())
                .filter(container -> container.text("image").isEmpty())
                .forEach(container -> faults.add("container \"" + container.text("name") + "\": image is missing"));
        Stream.of("initContainers", "containers")
                .flatMap(field -> spec.array(field).objects())
                .forEach(container -> ports(container, faults));
        named(spec, "volumes", new HashSet<>(), faults);
        return faults;
    }

    /** The protocols are those of the runtime's interface; without one it is TCP. */
    private static void ports(JsonObject container, List<String> faults) {
        container
                .array("ports")
                .objects()
                .map(port -> port.text("protocol"))
                .filter(protocol -> !protocol.isEmpty() && !PROTOCOLS.contains(protocol))
                .forEach(protocol -> faults.add("container \"" + container.text("name")
                        + "\": ports: protocol: expected TCP, UDP or SCTP, got \"" + protocol + "\""));
    }

    /** Each entry must have a name of its own, which is a DNS label. */
    private static void named(JsonObject spec, String field, Set<String> names, List<String> faults) {
        spec.array(field).objects().map(entry -> entry.text("name")).forEach(name -> {
            Names.labelFault(name).ifPresent(fault -> faults.add("spec." + field + "[" + name + "].name: " + fault));
            if (!names.add(name)) {
                faults.add("spec." + field + ": the name \"" + name + "\" occurs twice");
            }
        });
    }
}
