package io.nodekeeper.agent.config;

import io.nodekeeper.agent.config.file.ConfigParser;
import io.nodekeeper.agent.config.file.ConfigTree;
import io.nodekeeper.agent.config.file.DropIns;
import io.nodekeeper.agent.config.file.FieldCheck;
import io.nodekeeper.api.Quantity;
import io.nodekeeper.api.Taint;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonString;
import io.nodekeeper.client.files.SmallFiles;
import io.nodekeeper.time.GoDuration;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a {@code KubeletConfiguration} in YAML or JSON, with its drop-in files. Fields of Kubernetes that have no meaning
 * for this agent are accepted and named in the log; fields that Kubernetes does not know either are faults.
 */
public final class ConfigFile {
    private static final Logger log = LoggerFactory.getLogger(ConfigFile.class);

    private final Map<String, Object> fields;
    private final List<String> faults = new ArrayList<>();

    private ConfigFile(Map<String, Object> fields) {
        this.fields = fields;
    }

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
        ConfigFile file = new ConfigFile(check.fields());
        file.faults.addAll(check.faults());
        file.apply(builder);
        if (!check.idle().isEmpty()) {
            log.info("config fields that have no effect in this agent: {}", String.join(", ", check.idle()));
        }
        List<String> combined = new ArrayList<>(file.faults);
        builder.unsupported(check.unsupported()).build(combined);
        // Flags may turn on the gate that makes them faults.
        builder.unsupported(tree.located(check.unsupported()));
        List<String> faults = new ArrayList<>(before);
        faults.addAll(tree.located(combined));
        if (!faults.isEmpty()) {
            throw new ConfigException(faults);
        }
    }

    private void apply(AgentConfigBuilder builder) {
        Optional<Duration> update = take("nodeStatusUpdateFrequency", "a duration like 10s", this::duration);
        Optional<Duration> report = take("nodeStatusReportFrequency", "a duration like 5m", this::duration);
        update.ifPresent(builder::nodeStatusUpdateFrequency);
        // As in Kubernetes, the report frequency follows the update frequency if only that is set.
        report.or(() -> update).ifPresent(builder::nodeStatusReportFrequency);
        whole("nodeLeaseDurationSeconds", builder::nodeLeaseDurationSeconds);
        whole("maxPods", builder::maxPods);
        whole("podsPerCore", builder::podsPerCore);
        bool("registerNode", builder::registerNode);
        bool("rotateCertificates", builder::rotatesCertificates);
        bool("enableControllerAttachDetach", builder::enableControllerAttachDetach);
        bool("localStorageCapacityIsolation", builder::localStorageCapacityIsolation);
        bool("mergeDefaultEvictionSettings", builder::mergeDefaultEvictionSettings);
        texts("kubeReserved", builder::kubeReserved);
        texts("systemReserved", builder::systemReserved);
        texts("evictionHard", builder::evictionHard);
        texts("evictionSoft", builder::evictionSoft);
        texts("evictionSoftGracePeriod", builder::evictionSoftGracePeriod);
        texts("evictionMinimumReclaim", builder::evictionMinimumReclaim);
        take("evictionPressureTransitionPeriod", "a duration like 5m", this::duration)
                .ifPresent(builder::evictionPressureTransitionPeriod);
        take("registerWithTaints", "a list of taints with key, value, effect", ConfigFile::taints)
                .ifPresent(builder::registerWithTaints);
        take("containerRuntimeEndpoint", "a string", ConfigFile::text).ifPresent(builder::containerRuntimeEndpoint);
        take("runtimeRequestTimeout", "a duration like 2m", this::duration).ifPresent(builder::runtimeRequestTimeout);
        whole("nodeStatusMaxImages", builder::nodeStatusMaxImages);
        whole("healthzPort", builder::healthzPort);
        whole("port", builder::kubeletPort);
        take("healthzBindAddress", "a string", ConfigFile::text).ifPresent(builder::healthzBindAddress);
        pods(builder);
        nodeApi(builder);
        builder.shutdown(shutdown());
        take("featureGates", "a map of true and false", ConfigFile::gates).ifPresent(builder::featureGates);
        take("providerID", "a string", ConfigFile::text).ifPresent(builder::providerId);
    }

    private void pods(AgentConfigBuilder builder) {
        PodConfig usual = PodConfig.DEFAULT;
        builder.pods(new PodConfig(
                logs().orElse(usual.logsDirectory()),
                take("clusterDNS", "a list of IP addresses", ConfigFile::addresses)
                        .orElse(usual.clusterDns()),
                take("clusterDomain", "a string", ConfigFile::text).orElse(usual.clusterDomain()),
                path("resolvConf").orElse(usual.resolvConf()),
                staticPods(usual.staticPods()),
                take("evictionMaxPodGracePeriod", "a number of seconds", ConfigFile::seconds)
                        .orElse(usual.evictionMaxGrace()),
                new CgroupFields(fields, faults).read(),
                imageGc(usual.imageGc()),
                CpuConfig.read(
                        fields, take("cpuManagerReconcilePeriod", "a duration like 10s", this::duration), faults),
                containerLogs(usual.containerLogs()),
                PodSecurityConfig.read(
                        take("allowedUnsafeSysctls", "a list of names of sysctls", ConfigFile::list),
                        take("seccompDefault", "true or false", ConfigFile::bool),
                        faults)));
    }

    /** Metrics name it, so Kubernetes wants plain characters. */
    private Optional<Path> logs() {
        return take(
                "podLogsDir",
                "an absolute and normalized path of ASCII characters",
                value -> text(value)
                        .filter(path -> path.matches("/\\p{ASCII}+") || path.equals("/"))
                        .map(Path::of)
                        .filter(path -> path.normalize().toString().equals(value)));
    }

    private ContainerLogConfig containerLogs(ContainerLogConfig usual) {
        return new ContainerLogConfig(
                take(
                                "containerLogMaxSize",
                                "a quantity of bytes of more than 0, like 10Mi",
                                value -> Quantity.from(new JsonString(String.valueOf(value)))
                                        .map(Quantity::toLong)
                                        .filter(bytes -> bytes > 0))
                        .orElse(usual.maxSize()),
                take(
                                "containerLogMaxFiles",
                                "a number of at least 2",
                                value -> value instanceof Integer files && files > 1
                                        ? Optional.of(files)
                                        : Optional.empty())
                        .orElse(usual.maxFiles()),
                take(
                                "containerLogMonitorInterval",
                                "a duration of 3s or more",
                                value -> duration(value).filter(set -> set.compareTo(Duration.ofSeconds(3)) >= 0))
                        .orElse(usual.monitorInterval()));
    }

    private ImageGcConfig imageGc(ImageGcConfig usual) {
        int high = percent("imageGCHighThresholdPercent", usual.highThresholdPercent());
        int low = percent("imageGCLowThresholdPercent", usual.lowThresholdPercent());
        Duration least = age("imageMinimumGCAge").orElse(usual.minimumAge());
        Duration most = age("imageMaximumGCAge").orElse(usual.maximumAge());
        if (low >= high) {
            faults.add("imageGCLowThresholdPercent must be less than imageGCHighThresholdPercent, which is " + high
                    + ", got " + low);
        }
        if (!most.isZero() && most.compareTo(least) <= 0) {
            faults.add("imageMaximumGCAge must be 0, or greater than imageMinimumGCAge, which is "
                    + GoDuration.format(least) + ", got " + GoDuration.format(most));
        }
        return new ImageGcConfig(high, low, least, most);
    }

    private int percent(String field, int usual) {
        return take(
                        field,
                        "a percentage from 0 to 100",
                        value -> value instanceof Integer percent && percent >= 0 && percent <= 100
                                ? Optional.of(percent)
                                : Optional.empty())
                .orElse(usual);
    }

    private Optional<Duration> age(String field) {
        return take(field, "a duration of 0s or more", value -> duration(value).filter(set -> !set.isNegative()));
    }

    private ShutdownConfig shutdown() {
        Optional<Duration> total = grace("shutdownGracePeriod");
        Optional<Duration> critical = grace("shutdownGracePeriodCriticalPods");
        Optional<List<ShutdownConfig.Group>> groups = take(
                "shutdownGracePeriodByPodPriority",
                "a list of priority and shutdownGracePeriodSeconds",
                ConfigFile::groups);
        Duration longer = total.orElse(Duration.ZERO);
        Duration shorter = critical.orElse(Duration.ZERO);
        if (shorter.compareTo(longer) > 0) {
            faults.add("shutdownGracePeriodCriticalPods must be at most shutdownGracePeriod, which is "
                    + GoDuration.format(longer) + ", got " + GoDuration.format(shorter));
            return ShutdownConfig.NONE;
        }
        if (groups.filter(list -> !list.isEmpty()).isEmpty()) {
            return ShutdownConfig.of(longer, shorter);
        }
        if (!longer.isZero() || !shorter.isZero()) {
            faults.add("shutdownGracePeriodByPodPriority excludes shutdownGracePeriod and"
                    + " shutdownGracePeriodCriticalPods");
        }
        return new ShutdownConfig(groups.get());
    }

    private Optional<Duration> grace(String field) {
        return take(
                field,
                "0s, or a duration of 1s or more",
                value -> duration(value).filter(set -> set.isZero() || set.compareTo(Duration.ofSeconds(1)) >= 0));
    }

    private static Optional<List<ShutdownConfig.Group>> groups(Object value) {
        if (!(value instanceof List<?> list)) {
            return Optional.empty();
        }
        List<ShutdownConfig.Group> groups = new ArrayList<>();
        for (Object item : list) {
            if (!(item instanceof Map<?, ?> map)
                    || !map.keySet().equals(Set.of("priority", "shutdownGracePeriodSeconds"))
                    || !(map.get("priority") instanceof Integer priority)) {
                return Optional.empty();
            }
            Optional<Duration> period = seconds(String.valueOf(map.get("shutdownGracePeriodSeconds")));
            boolean twice = groups.stream().anyMatch(group -> group.priority() == priority);
            if (period.isEmpty() || twice) {
                return Optional.empty();
            }
            groups.add(new ShutdownConfig.Group(priority, period.get()));
        }
        return Optional.of(groups);
    }

    private static Optional<Duration> seconds(String text) {
        return text.matches("\\d{1,9}") ? Optional.of(Duration.ofSeconds(Long.parseLong(text))) : Optional.empty();
    }

    private static Optional<Duration> seconds(Object value) {
        return value instanceof Integer seconds && seconds >= 0
                ? Optional.of(Duration.ofSeconds(seconds))
                : Optional.empty();
    }

    private StaticPodConfig staticPods(StaticPodConfig usual) {
        return new StaticPodConfig(
                path("staticPodPath"),
                period("fileCheckFrequency", usual.fileCheckFrequency()),
                take("staticPodURL", "a URL with http or https", ConfigFile::url),
                take("staticPodURLHeader", "a map of lists of strings", ConfigFile::headers)
                        .orElse(usual.urlHeaders()),
                period("httpCheckFrequency", usual.httpCheckFrequency()));
    }

    /** A duration; 0 means the default, as in Kubernetes. */
    private Duration period(String field, Duration usual) {
        return take(
                        field,
                        "a duration of 1s or more, like 20s",
                        value -> duration(value)
                                .filter(set -> set.isZero() || set.compareTo(Duration.ofSeconds(1)) >= 0))
                .filter(set -> !set.isZero())
                .orElse(usual);
    }

    private static Optional<URI> url(Object value) {
        try {
            return text(value)
                    .map(URI::create)
                    .filter(url ->
                            url.getHost() != null && Set.of("http", "https").contains(url.getScheme()));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private static Optional<Map<String, List<String>>> headers(Object value) {
        if (!(value instanceof Map<?, ?> map)) {
            return Optional.empty();
        }
        Map<String, List<String>> headers = new LinkedHashMap<>();
        for (var entry : map.entrySet()) {
            if (!(entry.getKey() instanceof String name)
                    || !(entry.getValue() instanceof List<?> list)
                    || !list.stream().allMatch(String.class::isInstance)) {
                return Optional.empty();
            }
            headers.put(name, list.stream().map(String.class::cast).toList());
        }
        return Optional.of(headers);
    }

    private void nodeApi(AgentConfigBuilder builder) {
        NodeApiConfig usual = NodeApiConfig.DEFAULT;
        NodeApiFields access = new NodeApiFields(
                take("authentication", "an object", ConfigFile::map),
                take("authorization", "an object", ConfigFile::map),
                faults);
        builder.nodeApi(new NodeApiConfig(
                take("address", "an IP address", ConfigFile::address).orElse(usual.address()),
                path("tlsCertFile"),
                path("tlsPrivateKeyFile"),
                access.file("authentication.x509.clientCAFile"),
                take("serverTLSBootstrap", "true or false", ConfigFile::bool).orElse(usual.issued()),
                access.bool("authentication.anonymous.enabled", usual.anonymous()),
                access.bool("authentication.webhook.enabled", usual.reviewTokens()),
                access.authorizes(),
                access.duration("authentication.webhook.cacheTTL", usual.tokenTtl()),
                access.duration("authorization.webhook.cacheAuthorizedTTL", usual.allowedTtl()),
                access.duration("authorization.webhook.cacheUnauthorizedTTL", usual.deniedTtl())));
    }

    private static Optional<Map<?, ?>> map(Object value) {
        return value instanceof Map<?, ?> map ? Optional.of(map) : Optional.empty();
    }

    private static Optional<InetAddress> address(Object value) {
        try {
            return Optional.of(InetAddress.ofLiteral(String.valueOf(value)));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private Optional<Path> path(String field) {
        return take(
                field,
                "an absolute path",
                value -> text(value).filter(path -> path.startsWith("/")).map(Path::of));
    }

    private void whole(String field, Consumer<Long> set) {
        take(
                        field,
                        "a whole number",
                        value -> value instanceof Integer || value instanceof Long
                                ? Optional.of(((Number) value).longValue())
                                : Optional.empty())
                .ifPresent(set);
    }

    private void bool(String field, Consumer<Boolean> set) {
        take(field, "true or false", ConfigFile::bool).ifPresent(set);
    }

    private void texts(String field, Consumer<Map<String, String>> set) {
        take(field, "a map of strings", ConfigFile::textMap).ifPresent(set);
    }

    private <T> Optional<T> take(String field, String expected, Function<Object, Optional<T>> read) {
        Object value = fields.remove(field);
        if (value == null) {
            return Optional.empty();
        }
        Optional<T> result = read.apply(value);
        if (result.isEmpty()) {
            faults.add(field + " must be " + expected + ", got " + value);
        }
        return result;
    }

    private Optional<Duration> duration(Object value) {
        try {
            return value instanceof String text ? Optional.of(GoDuration.parse(text)) : Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private static Optional<Boolean> bool(Object value) {
        return value instanceof Boolean bool ? Optional.of(bool) : Optional.empty();
    }

    private static Optional<List<String>> list(Object value) {
        return value instanceof List<?> list
                ? Optional.of(list.stream().map(String::valueOf).toList())
                : Optional.empty();
    }

    private static Optional<String> text(Object value) {
        return value instanceof String text ? Optional.of(text) : Optional.empty();
    }

    private static Optional<List<String>> addresses(Object value) {
        if (!(value instanceof List<?> list)) {
            return Optional.empty();
        }
        List<String> addresses = new ArrayList<>();
        for (Object item : list) {
            try {
                addresses.add(InetAddress.ofLiteral(String.valueOf(item)).getHostAddress());
            } catch (IllegalArgumentException e) {
                return Optional.empty();
            }
        }
        return Optional.of(addresses);
    }

    private static Optional<Map<String, String>> textMap(Object value) {
        if (!(value instanceof Map<?, ?> map)) {
            return Optional.empty();
        }
        Map<String, String> texts = new LinkedHashMap<>();
        for (var entry : map.entrySet()) {
            if (!(entry.getKey() instanceof String key) || !(entry.getValue() instanceof String text)) {
                return Optional.empty();
            }
            texts.put(key, text);
        }
        return Optional.of(texts);
    }

    /** A file may set any gate of Kubernetes; unknown ones are logged. */
    private static Optional<Map<String, Boolean>> gates(Object value) {
        if (!(value instanceof Map<?, ?> map)) {
            return Optional.empty();
        }
        Map<String, Boolean> gates = new LinkedHashMap<>();
        for (var entry : map.entrySet()) {
            if (!(entry.getKey() instanceof String name) || !(entry.getValue() instanceof Boolean open)) {
                return Optional.empty();
            }
            gates.put(name, open);
        }
        List<String> others = gates.keySet().stream()
                .filter(name -> !AgentFeature.names().contains(name))
                .sorted()
                .toList();
        if (!others.isEmpty()) {
            log.info("feature gates that have no effect in this agent: {}", String.join(", ", others));
        }
        return Optional.of(gates);
    }

    private static Optional<List<Taint>> taints(Object value) {
        if (!(value instanceof List<?> list)) {
            return Optional.empty();
        }
        List<Taint> taints = new ArrayList<>();
        for (Object item : list) {
            Optional<Map<String, String>> map = textMap(item);
            if (map.isEmpty()
                    || !Set.of("key", "value", "effect").containsAll(map.get().keySet())) {
                return Optional.empty();
            }
            taints.add(new Taint(JsonObject.ofStrings(map.get())));
        }
        return Optional.of(taints);
    }
}
