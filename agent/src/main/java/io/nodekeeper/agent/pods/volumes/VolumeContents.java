package io.nodekeeper.agent.pods.volumes;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.nodekeeper.agent.pods.containers.ContainerConfigException;
import io.nodekeeper.agent.pods.containers.DownwardFields;
import io.nodekeeper.agent.pods.model.ContainerSpec;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.model.VolumeKind;
import io.nodekeeper.api.json.JsonObject;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;

/** Decides the files of a pod's configMap, secret, downwardAPI and projected volumes, as a kubelet 1.32 does. Pure. */
public final class VolumeContents {
    /** The most bytes of the values of one ConfigMap or Secret: the limit of the API. */
    static final int MOST_OBJECT_BYTES = 1 << 20;
    /** The most bytes of one volume, in pages. The API bounds objects only; fifteen full objects are more than pods use. */
    static final int MOST_VOLUME_BYTES = 16 << 20;
    /**
     * The most bytes of all such volumes of one pod, in pages: four full volumes. Most are in memory that counts as the agent's, and a
     * pod may map one object thousands of times.
     */
    private static final int MOST_POD_BYTES = 64 << 20;
    /** What a file or directory takes at least, in memory and on most disks. */
    private static final int PAGE = 4 << 10;
    /** The mode of files in the API's defaults. */
    private static final int DEFAULT_MODE = 0644;
    /** The mode of tokens that one user or group reads; the group gets its right later. */
    private static final int TOKEN_MODE = 0600;

    private final Pod pod;
    private final VolumeObjects objects;
    private final DownwardFields fields;
    private final Shared shared;
    private final String volume;
    private final SortedMap<String, FileContent> files = new TreeMap<>();
    private long bytes;

    private VolumeContents(Pod pod, VolumeObjects objects, DownwardFields fields, Shared shared, String volume) {
        this.pod = pod;
        this.objects = objects;
        this.fields = fields;
        this.shared = shared;
        this.volume = volume;
    }

    /**
     * The bytes of what several files and volumes have in common, once: a pod may name a field or an object thousands of times.
     *
     * @param values those of objects, by their keys
     * @param fields those of the pod's fields, by their paths
     * @param written how many bytes the volumes so far will take
     */
    private record Shared(
            Map<VolumeNeed, SortedMap<String, byte[]>> values, Map<String, byte[]> fields, AtomicLong written) {}

    /**
     * The files of the volumes that could be read, and why others could not. Immutable.
     *
     * @param files by the name of the volume and their paths
     */
    public record Result(Map<String, SortedMap<String, FileContent>> files, List<VolumeException> errors) {
        /** Keeps copies. */
        public Result {
            files = Map.copyOf(files);
            errors = List.copyOf(errors);
        }
    }

    /** The files of each such volume. An error of one volume does not concern the others. */
    public static Result of(Pod pod, VolumeObjects objects, DownwardFields fields) {
        Map<String, SortedMap<String, FileContent>> files = new LinkedHashMap<>();
        List<VolumeException> errors = new ArrayList<>();
        Shared shared = new Shared(new HashMap<>(), new HashMap<>(), new AtomicLong());
        pod.spec()
                .array("volumes")
                .objects()
                .forEach(volume -> VolumeKind.of(volume)
                        .filter(VolumeKind::isFromApi)
                        .ifPresent(kind -> {
                            String name = volume.text("name");
                            VolumeContents content = new VolumeContents(pod, objects, fields, shared, name);
                            try {
                                content.add(kind, volume.object(kind.field()));
                                shared.written.addAndGet(content.bytes);
                                files.put(name, content.files);
                            } catch (VolumeException e) {
                                errors.add(e);
                            } catch (ContainerConfigException | IllegalArgumentException e) {
                                errors.add(new VolumeException(name, String.valueOf(e.getMessage()), e));
                            }
                        }));
        return new Result(files, errors);
    }

    private void add(VolumeKind kind, JsonObject source) {
        int mode = mode(source, "defaultMode", DEFAULT_MODE);
        switch (kind) {
            case CONFIG_MAP -> configMap(source, mode);
            case SECRET -> secret(source.text("secretName"), source, mode);
            case DOWNWARD_API -> source.array("items").objects().forEach(item -> field(item, mode));
            case PROJECTED -> source.array("sources").objects().forEach(part -> projected(part, mode));
            default -> throw new IllegalArgumentException("kind " + kind + " has no files");
        }
    }

    private void projected(JsonObject part, int mode) {
        if (part.has("configMap")) {
            configMap(part.object("configMap"), mode);
        }
        if (part.has("secret")) {
            secret(part.object("secret").text("name"), part.object("secret"), mode);
        }
        if (part.has("downwardAPI")) {
            part.object("downwardAPI").array("items").objects().forEach(item -> field(item, mode));
        }
        if (part.has("serviceAccountToken")) {
            token(part.object("serviceAccountToken"), mode);
        }
    }

    private void configMap(JsonObject source, int mode) {
        String name = source.text("name");
        VolumeNeed need = new VolumeNeed.ConfigMap(name);
        object("configmap", name, need, source).ifPresent(map -> {
            SortedMap<String, byte[]> values = shared.values.computeIfAbsent(need, same -> {
                SortedMap<String, byte[]> read = decoded(map.object("binaryData"));
                map.object("data").texts().forEach((key, text) -> read.putIfAbsent(key, text.getBytes(UTF_8)));
                return read;
            });
            values("configmap", name, values, source, mode, "configmap references non-existent config key: ");
        });
    }

    private void secret(String name, JsonObject source, int mode) {
        VolumeNeed need = new VolumeNeed.Secret(name);
        object("secret", name, need, source).ifPresent(secret -> {
            SortedMap<String, byte[]> values =
                    shared.values.computeIfAbsent(need, same -> decoded(secret.object("data")));
            values("secret", name, values, source, mode, "references non-existent secret key: ");
        });
    }

    private Optional<JsonObject> object(String kind, String name, VolumeNeed need, JsonObject source) {
        Optional<JsonObject> object = objects.get(volume, need);
        if (object.isEmpty() && !source.bool("optional")) {
            throw new VolumeException(volume, kind + " \"" + name + "\" not found");
        }
        return object;
    }

    private void values(
            String kind, String name, Map<String, byte[]> values, JsonObject source, int mode, String missing) {
        long size = values.values().stream().mapToLong(value -> value.length).sum();
        if (size > MOST_OBJECT_BYTES) {
            throw new VolumeException(
                    volume, kind + " \"" + name + "\" has " + size + " bytes; expected at most " + MOST_OBJECT_BYTES);
        }
        if (source.array("items").isEmpty()) {
            values.forEach((key, value) -> put(key, value, mode, OptionalLong.empty()));
            return;
        }
        source.array("items").objects().forEach(item -> {
            String key = item.text("key");
            byte[] value = values.get(key);
            if (value != null) {
                put(item.text("path"), value, mode(item, "mode", mode), OptionalLong.empty());
            } else if (!source.bool("optional")) {
                throw new VolumeException(volume, missing + key);
            }
        });
    }

    private void field(JsonObject item, int mode) {
        byte[] value;
        if (item.has("resourceFieldRef")) {
            JsonObject reference = item.object("resourceFieldRef");
            String name = reference.text("containerName");
            ContainerSpec container = pod.container(name)
                    .orElseThrow(() -> new VolumeException(volume, "container \"" + name + "\" not found"));
            value = fields.resource(container, reference).getBytes(UTF_8);
        } else {
            value = shared.fields.computeIfAbsent(
                    item.object("fieldRef").text("fieldPath"),
                    path -> fields.field(path).getBytes(UTF_8));
        }
        put(item.text("path"), value, mode(item, "mode", mode), OptionalLong.empty());
    }

    private void token(JsonObject source, int mode) {
        String token = objects.get(volume, VolumeNeed.token(source))
                .map(request -> request.object("status").text("token"))
                .filter(text -> !text.isEmpty())
                .orElseThrow(() -> new VolumeException(volume, "failed to fetch token: the server sent none"));
        OptionalLong user = commonUser();
        boolean group = pod.spec().object("securityContext").has("fsGroup");
        put(source.text("path"), token.getBytes(UTF_8), user.isPresent() || group ? TOKEN_MODE : mode, user);
    }

    /** The user of all containers, init containers included, if the pod gives all of them the same one. */
    private OptionalLong commonUser() {
        Optional<Long> shared = pod.spec().object("securityContext").number("runAsUser");
        long[] users = pod.allContainers().stream()
                .mapToLong(container -> container
                        .json()
                        .object("securityContext")
                        .number("runAsUser")
                        .or(() -> shared)
                        .orElse(-1L))
                .distinct()
                .toArray();
        return users.length == 1 && users[0] >= 0 ? OptionalLong.of(users[0]) : OptionalLong.empty();
    }

    private void put(String path, byte[] content, int mode, OptionalLong user) {
        String checked = FilePaths.checked(volume, path);
        long directories = checked.chars().filter(letter -> letter == '/').count();
        // One page more than the file fills, for its end or for what the kernel keeps of it.
        bytes += PAGE * (content.length / PAGE + 1 + directories);
        if (bytes > MOST_VOLUME_BYTES) {
            throw new VolumeException(volume, "it takes more than " + MOST_VOLUME_BYTES + " bytes, which is the limit");
        }
        if (shared.written.get() + bytes > MOST_POD_BYTES) {
            throw new VolumeException(
                    volume,
                    "the pod's volumes with objects and fields of the API take more than " + MOST_POD_BYTES
                            + " bytes, which is the limit");
        }
        files.put(checked, new FileContent(content, mode, user));
        FilePaths.checkNoFileIsADirectory(volume, checked, files);
    }

    private static int mode(JsonObject source, String field, int otherwise) {
        return source.number(field).map(Long::intValue).orElse(otherwise) & 0777;
    }

    private static SortedMap<String, byte[]> decoded(JsonObject values) {
        SortedMap<String, byte[]> decoded = new TreeMap<>();
        values.texts().forEach((key, value) -> decoded.put(key, decoded(key, value)));
        return decoded;
    }

    private static byte[] decoded(String key, String base64) {
        try {
            return Base64.getDecoder().decode(base64);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("the value of key " + key + " is not in base64", e);
        }
    }
}
