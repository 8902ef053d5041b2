package io.nodekeeper.apiserver.pods.validation;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.fields.FieldCheck;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Validates volume mounts and volume devices. */
final class MountRules {
    private static final List<String> PROPAGATION = List.of("Bidirectional", "HostToContainer", "None");
    private static final List<String> RECURSIVE = List.of("Disabled", "Enabled", "IfPossible");

    private MountRules() {}

    static void check(FieldCheck container, Map<String, JsonObject> volumes) {
        List<FieldCheck> mounts = container.items("volumeMounts");
        List<FieldCheck> devices = container.items("volumeDevices");
        Set<String> deviceNames = values(devices, "name");
        Set<String> devicePaths = values(devices, "devicePath");
        Set<String> mountNames = values(mounts, "name");
        Set<String> mountPaths = values(mounts, "mountPath");
        Set<String> seen = new HashSet<>();
        for (FieldCheck mount : mounts) {
            String name = mount.text("name");
            mount.require("name");
            if (!volumes.containsKey(name)) {
                mount.notFound("name", name);
            }
            mount.require("mountPath");
            if (!seen.add(mount.text("mountPath"))) {
                mount.invalid("mountPath", "must be unique");
            }
            if (deviceNames.contains(name)) {
                mount.invalid("name", "must not already exist in volumeDevices");
            }
            if (devicePaths.contains(mount.text("mountPath"))) {
                mount.invalid("mountPath", "must not already exist as a path in volumeDevices");
            }
            mount(mount, container);
        }
        Set<String> names = new HashSet<>();
        Set<String> paths = new HashSet<>();
        for (FieldCheck device : devices) {
            device(device, volumes, names, paths);
            if (mountNames.contains(device.text("name"))) {
                device.invalid("name", "must not already exist in volumeMounts");
            }
            if (mountPaths.contains(device.text("devicePath"))) {
                device.invalid("devicePath", "must not already exist as a path in volumeMounts");
            }
        }
    }

    private static Set<String> values(List<FieldCheck> items, String field) {
        Set<String> values = new HashSet<>();
        items.forEach(item -> values.add(item.text(field)));
        return values;
    }

    private static void mount(FieldCheck mount, FieldCheck container) {
        String below = mount.text("subPath");
        String expression = mount.text("subPathExpr");
        Paths.descending(mount, "subPath", below);
        if (!expression.isEmpty() && !below.isEmpty()) {
            mount.invalid("subPathExpr", "subPathExpr and subPath are mutually exclusive");
        }
        Paths.descending(mount, "subPathExpr", expression);
        mount.oneOfIfSet("mountPropagation", PROPAGATION);
        boolean privileged = container.object("securityContext").bool("privileged");
        if (mount.text("mountPropagation").equals("Bidirectional") && !privileged) {
            mount.forbidden(
                    "mountPropagation", "Bidirectional mount propagation is available only to privileged containers");
        }
        mount.oneOfIfSet("recursiveReadOnly", RECURSIVE);
        String recursive = mount.text("recursiveReadOnly");
        if (recursive.equals("Enabled") || recursive.equals("IfPossible")) {
            if (!mount.bool("readOnly")) {
                mount.forbidden("recursiveReadOnly", "may only be specified when readOnly is true");
            }
            if (!mount.text("mountPropagation").isEmpty()
                    && !mount.text("mountPropagation").equals("None")) {
                mount.forbidden(
                        "recursiveReadOnly", "may only be specified when mountPropagation is None or not specified");
            }
        }
    }

    private static void device(
            FieldCheck device, Map<String, JsonObject> volumes, Set<String> names, Set<String> paths) {
        String name = device.text("name");
        String path = device.text("devicePath");
        JsonObject volume = volumes.get(name);
        device.require("name");
        if (!name.isEmpty() && !names.add(name)) {
            device.invalid("name", "must be unique");
        }
        if (volume == null) {
            device.notFound("name", name);
        } else if (!volume.has("persistentVolumeClaim") && !volume.has("ephemeral")) {
            device.invalid(
                    "name", "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode");
        }
        if (device.require("devicePath")) {
            if (!paths.add(path)) {
                device.invalid("devicePath", "must be unique");
            }
            if (Arrays.asList(path.split("/", -1)).contains("..")) {
                device.invalid("devicePath", "can not contain backsteps ('..')");
            }
        }
    }
}
