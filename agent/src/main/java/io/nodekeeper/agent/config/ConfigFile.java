package io.nodekeeper.agent.config;

import io.nodekeeper.agent.config.file.ConfigFields;
import io.nodekeeper.agent.config.file.ConfigParser;
import io.nodekeeper.agent.config.file.ConfigTree;
import io.nodekeeper.agent.config.file.DropIns;
import io.nodekeeper.agent.config.file.FieldCheck;
import io.nodekeeper.api.Taint;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.files.SmallFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a {@code KubeletConfiguration} in YAML or JSON, with its drop-in files. Fields of Kubernetes that have no meaning
 * for this agent are accepted and named in the log; fields that Kubernetes does not know either are faults.
 */
public final class ConfigFile {
    private static final Logger log = LoggerFactory.getLogger(ConfigFile.class);

    private ConfigFile() {}

    /**
     * Reads {@code file} into {@code builder}; blocks on the disk.
     *
     * @throws ConfigException listing every fault, also those that are in {@code builder} already
     */
    public static void load(Path file, AgentConfigBuilder builder) {
        load(Optional.of(file), Optional.empty(), builder);
    }

    /**
     * Reads {@code file}, if there is one, and merges the drop-in files in {@code directory}, if there is one, in the order
     * of their names; blocks on the disk.
     *
     * @throws ConfigException listing every fault, also those that are in {@code builder} already
     */
    public static void load(Optional<Path> file, Optional<Path> directory, AgentConfigBuilder builder) {
        List<String> faults = new ArrayList<>();
        ConfigTree tree = ConfigTree.EMPTY;
        try {
            if (file.isPresent()) {
                String name = directory.isPresent() ? file.get().toString() : "";
                tree = ConfigParser.parse(name, 0, SmallFiles.text(file.get()), faults);
            }
        } catch (IOException e) {
            faults.add("cannot read config file " + file.get() + ": " + e);
        }
        try {
            int order = 1;
            for (var entry :
                    (directory.isPresent() ? DropIns.read(directory.get()) : Map.<Path, String>of()).entrySet()) {
                tree = tree.with(ConfigParser.parse(entry.getKey().toString(), order++, entry.getValue(), faults));
            }
        } catch (IOException e) {
            faults.add("cannot read config directory " + directory.get() + ": " + e.getMessage());
        }
        read(tree, faults, builder);
    }

    /**
     * Reads YAML into {@code builder}.
     *
     * @throws ConfigException listing every fault, also those that are in {@code builder} already
     */
    public static void parse(String yaml, AgentConfigBuilder builder) {
        List<String> faults = new ArrayList<>();
        read(ConfigParser.parse("", 0, yaml, faults), faults, builder);
    }

    private static void read(ConfigTree tree, List<String> before, AgentConfigBuilder builder) {
        FieldCheck.Result check = FieldCheck.of(tree);
        List<String> combined = new ArrayList<>(check.faults());
        apply(new ConfigFields(check.fields(), combined), builder);
        if (!check.idle().isEmpty()) {
            log.info("config fields that have no effect in this agent: {}", String.join(", ", check.idle()));
        }
        builder.unsupported(check.unsupported()).build(combined);
        // Flags may turn on the gate that makes them faults.
        builder.unsupported(tree.located(check.unsupported()));
        List<String> faults = new ArrayList<>(before);
        faults.addAll(tree.located(combined));
        if (!faults.isEmpty()) {
            throw new ConfigException(faults);
        }
    }

    private static void apply(ConfigFields fields, AgentConfigBuilder builder) {
        Optional<Duration> update = fields.duration("nodeStatusUpdateFrequency", "10s");
        Optional<Duration> report = fields.duration("nodeStatusReportFrequency", "5m");
        update.ifPresent(builder::nodeStatusUpdateFrequency);
        fields.duration("syncFrequency", "1m").ifPresent(builder::syncFrequency);
        // As in Kubernetes, the report frequency follows the update frequency if only that is set.
        report.or(() -> update).ifPresent(builder::nodeStatusReportFrequency);
        fields.whole("nodeLeaseDurationSeconds").ifPresent(builder::nodeLeaseDurationSeconds);
        fields.whole("maxPods").ifPresent(builder::maxPods);
        fields.whole("podsPerCore").ifPresent(builder::podsPerCore);
        fields.bool("registerNode").ifPresent(builder::registerNode);
        fields.bool("rotateCertificates").ifPresent(builder::rotatesCertificates);
        fields.bool("enableControllerAttachDetach").ifPresent(builder::enableControllerAttachDetach);
        fields.bool("localStorageCapacityIsolation").ifPresent(builder::localStorageCapacityIsolation);
        fields.bool("mergeDefaultEvictionSettings").ifPresent(builder::mergeDefaultEvictionSettings);
        fields.textMap("kubeReserved").ifPresent(builder::kubeReserved);
        fields.textMap("systemReserved").ifPresent(builder::systemReserved);
        fields.textMap("evictionHard").ifPresent(builder::evictionHard);
        fields.textMap("evictionSoft").ifPresent(builder::evictionSoft);
        fields.textMap("evictionSoftGracePeriod").ifPresent(builder::evictionSoftGracePeriod);
        fields.textMap("evictionMinimumReclaim").ifPresent(builder::evictionMinimumReclaim);
        fields.duration("evictionPressureTransitionPeriod", "5m").ifPresent(builder::evictionPressureTransitionPeriod);
        fields.take("registerWithTaints", "a list of taints with key, value, effect", ConfigFile::taints)
                .ifPresent(builder::registerWithTaints);
        fields.text("containerRuntimeEndpoint").ifPresent(builder::containerRuntimeEndpoint);
        fields.duration("runtimeRequestTimeout", "2m").ifPresent(builder::runtimeRequestTimeout);
        fields.whole("nodeStatusMaxImages").ifPresent(builder::nodeStatusMaxImages);
        fields.whole("healthzPort").ifPresent(builder::healthzPort);
        fields.whole("port").ifPresent(builder::kubeletPort);
        fields.text("healthzBindAddress").ifPresent(builder::healthzBindAddress);
        builder.pods(PodConfig.read(fields));
        builder.nodeApi(NodeApiConfig.read(fields));
        builder.shutdown(ShutdownConfig.read(fields));
        fields.take("featureGates", "a map of true and false", ConfigFile::gates)
                .ifPresent(builder::featureGates);
        fields.text("providerID").ifPresent(builder::providerId);
    }

    /** A file may set any gate of Kubernetes; unknown ones are logged. */
    private static Optional<Map<String, Boolean>> gates(Object value) {
        Optional<Map<String, Boolean>> gates =
                ConfigFields.map(value, open -> open instanceof Boolean bool ? Optional.of(bool) : Optional.empty());
        List<String> others = gates.map(Map::keySet).orElse(Set.of()).stream()
                .filter(name -> !AgentFeature.names().contains(name))
                .sorted()
                .toList();
        if (!others.isEmpty()) {
            log.info("feature gates that have no effect in this agent: {}", String.join(", ", others));
        }
        return gates;
    }

    private static Optional<List<Taint>> taints(Object value) {
        return ConfigFields.all(
                value,
                item -> ConfigFields.map(item, ConfigFields::text)
                        .filter(map -> Set.of("key", "value", "effect").containsAll(map.keySet()))
                        .map(map -> new Taint(JsonObject.ofStrings(map))));
    }
}
