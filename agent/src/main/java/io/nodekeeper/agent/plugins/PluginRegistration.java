package io.nodekeeper.agent.plugins;

import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.plugin.PluginCall;
import io.nodekeeper.cri.plugin.PluginCallException;
import io.nodekeeper.cri.plugin.PluginCalls;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Registers what listens at a socket, with a kubelet's steps and messages. Confined to the loop of its calls. */
final class PluginRegistration {
    /** The kubelet's deadlines. */
    private static final Duration GET_INFO = Duration.ofSeconds(1);

    private static final Duration NOTIFY = Duration.ofSeconds(5);
    /** The longest name: that of a Kubernetes object. */
    private static final int LONGEST_NAME = 253;
    /** The most versions of one plugin; drivers have one or two. */
    private static final int MOST_VERSIONS = 32;

    private static final String ERROR = "RegisterPlugin error -- ";

    private final PluginCalls calls;
    private final Map<String, PluginHandler> handlers;

    PluginRegistration(PluginCalls calls, Map<String, PluginHandler> handlers) {
        this.calls = calls;
        this.handlers = Map.copyOf(handlers);
    }

    /** Registers the plugin; the message of a failure is a kubelet's. */
    CompletableFuture<Plugin> register(Path socket) {
        return calls.call(socket, new PluginCall.GetInfo(), GET_INFO)
                .exceptionallyCompose(error -> failed(
                        isDial(error)
                                ? "dial failed at socket " + socket + ", err: " + Failures.text(error)
                                : "failed to get plugin info using RPC GetInfo at socket " + socket + ", err: "
                                        + Failures.text(error)))
                .thenCompose(info -> take(socket, info));
    }

    private CompletableFuture<Plugin> take(Path socket, PluginCall.Identity info) {
        PluginHandler handler = handlers.get(info.type());
        if (handler == null) {
            String why = ERROR + "no handler registered for plugin type: " + cut(info.type()) + " at socket " + socket;
            return refuse(socket, why, why);
        }
        Optional<String> malformed = malformed(info);
        if (malformed.isPresent()) {
            return invalid(socket, malformed.get());
        }
        Plugin plugin = new Plugin(info.type(), info.name(), endpoint(socket, info), info.versions(), socket);
        Optional<String> fault = handler.fault(plugin);
        if (fault.isPresent()) {
            return invalid(socket, fault.get());
        }
        return handler.register(plugin)
                .handle((done, error) -> Optional.ofNullable(error))
                .thenCompose(error -> {
                    if (error.isPresent()) {
                        String why = ERROR + "plugin registration failed with err: " + Failures.text(error.get());
                        return refuse(socket, why, why);
                    }
                    return tell(socket, new PluginCall.NotifyRegistrationStatus(true, ""))
                            .thenApply(told -> plugin)
                            .exceptionallyCompose(untold -> {
                                // It is registered again with the next attempt, or its socket is gone.
                                handler.deregister(plugin);
                                return CompletableFuture.failedFuture(untold);
                            });
                });
    }

    private CompletableFuture<Plugin> invalid(Path socket, String fault) {
        return refuse(
                socket,
                ERROR + "plugin validation failed with err: " + fault,
                ERROR + "pluginHandler.ValidatePluginFunc failed: " + fault);
    }

    private CompletableFuture<Plugin> refuse(Path socket, String told, String why) {
        return tell(socket, new PluginCall.NotifyRegistrationStatus(false, told))
                .thenCompose(done -> CompletableFuture.failedFuture(new PluginException(why)));
    }

    private CompletableFuture<PluginCall.Done> tell(Path socket, PluginCall.NotifyRegistrationStatus status) {
        return calls.call(socket, status, NOTIFY)
                .exceptionallyCompose(error -> failed("failed to send "
                        + (status.registered() ? "registration status" : "error") + " at socket " + socket + ", err: "
                        + Failures.text(error)
                        + (status.registered() ? "" : "; the error: " + status.error())));
    }

    private static <T> CompletableFuture<T> failed(String why) {
        return CompletableFuture.failedFuture(new PluginException(ERROR + why));
    }

    private static boolean isDial(Throwable error) {
        return Failures.cause(error) instanceof PluginCallException call
                && call.code().equals("Unavailable");
    }

    private static Optional<String> malformed(PluginCall.Identity info) {
        if (info.name().isEmpty() || info.name().length() > LONGEST_NAME) {
            return Optional.of(
                    "the name must have 1 to " + LONGEST_NAME + " characters, got \"" + cut(info.name()) + "\"");
        }
        if (info.versions().size() > MOST_VERSIONS) {
            return Optional.of("it may have at most " + MOST_VERSIONS + " versions, got "
                    + info.versions().size());
        }
        try {
            return Path.of(info.endpoint()).isAbsolute() || info.endpoint().isEmpty()
                    ? Optional.empty()
                    : Optional.of("the endpoint must be an absolute path, got \"" + cut(info.endpoint()) + "\"");
        } catch (InvalidPathException e) {
            return Optional.of("the endpoint must be a path: " + e.getMessage());
        }
    }

    private static Path endpoint(Path socket, PluginCall.Identity info) {
        return info.endpoint().isEmpty() ? socket : Path.of(info.endpoint());
    }

    private static String cut(String text) {
        return text.length() <= LONGEST_NAME ? text : text.substring(0, LONGEST_NAME) + "…";
    }
}
