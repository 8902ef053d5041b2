package io.nodekeeper.agent.csi;

import io.nodekeeper.agent.plugins.Plugin;
import io.nodekeeper.agent.plugins.PluginHandler;
import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.plugin.PluginCall;
import io.nodekeeper.cri.plugin.PluginCalls;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Registers CSI drivers: asks each about the node, and writes the answer to the API. Confined to the loop of its calls. */
public final class CsiHandler implements PluginHandler {
    /** The type of such plugins. */
    public static final String TYPE = "CSIPlugin";
    /** The kubelet's deadline of calls to drivers. */
    public static final Duration CALL = Duration.ofMinutes(2);

    private static final Logger log = LoggerFactory.getLogger(CsiHandler.class);
    private static final Pattern VERSION = Pattern.compile("v?(\\d{1,5})\\.(\\d{1,5})(\\.\\d{1,5})?.*");
    private static final Set<String> SUPPORTED = Set.of("1");
    private static final String CALLER = "kubernetes.io/csi: plugin validation";

    private final PluginCalls calls;
    private final CsiNodes nodes;
    /** By name; as many as there are plugins. */
    private final Map<String, Registered> drivers = new HashMap<>();

    private record Registered(Plugin plugin, CsiDriver driver) {}

    /** No drivers yet. */
    public CsiHandler(PluginCalls calls, CsiNodes nodes) {
        this.calls = calls;
        this.nodes = nodes;
    }

    /** The registered driver of that name. */
    public Optional<CsiDriver> driver(String name) {
        return Optional.ofNullable(drivers.get(name)).map(Registered::driver);
    }

    @Override
    public Optional<String> fault(Plugin plugin) {
        String about = CALLER + " for CSI driver \"" + plugin.name() + "\" failed. ";
        if (plugin.versions().isEmpty()) {
            return Optional.of(about + "Plugin returned an empty list for supported versions");
        }
        return isSupported(plugin.versions())
                ? Optional.empty()
                : Optional.of(about + "None of the versions specified "
                        + plugin.versions().stream()
                                .map(version -> "\"" + version + "\"")
                                .toList()
                        + " are supported. err=could not find a supported version; expected 1.x.y");
    }

    private static boolean isSupported(List<String> versions) {
        return versions.stream()
                .map(VERSION::matcher)
                .filter(Matcher::matches)
                .anyMatch(version -> SUPPORTED.contains(version.group(1)));
    }

    @Override
    public CompletableFuture<Void> register(Plugin plugin) {
        return calls.call(plugin.endpoint(), new PluginCall.NodeGetInfo(), CALL)
                .thenCompose(info -> calls.call(plugin.endpoint(), new PluginCall.NodeGetCapabilities(), CALL)
                        .thenCompose(capabilities -> nodes.add(plugin.name(), info)
                                .thenAccept(done -> drivers.put(
                                        plugin.name(),
                                        new Registered(
                                                plugin,
                                                new CsiDriver(plugin.name(), plugin.endpoint(), capabilities))))));
    }

    @Override
    public void deregister(Plugin plugin) {
        Registered known = drivers.get(plugin.name());
        if (known == null || !known.plugin().socket().equals(plugin.socket())) {
            // Another socket has taken its place.
            return;
        }
        drivers.remove(plugin.name());
        nodes.remove(plugin.name()).whenComplete((done, error) -> {
            if (error != null) {
                log.error("CSI driver {} is gone, but the API still shows it: {}", plugin.name(), Failures.text(error));
            }
        });
    }
}
