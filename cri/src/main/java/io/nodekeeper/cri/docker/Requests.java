package io.nodekeeper.cri.docker;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.cri.Container;
import io.nodekeeper.cri.Image;
import io.nodekeeper.cri.RuntimeCall;
import io.nodekeeper.cri.RuntimeCallException;
import io.nodekeeper.cri.RuntimeVersion;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The requests that answer a call: queries of the port, translated to Docker's API. Commands that change pods are refused, as the
 * agent only watches pods of Docker Engine; except for the removal of a sandbox, a remedy that an operator asks for. Blocks; one
 * instance serves one call.
 */
final class Requests {
    /** The daemon names itself in each answer, so that its version costs it nothing: /version starts runc and docker-init. */
    private static final Pattern SERVER = Pattern.compile("Docker/(\\S{1,100})(?: .*)?");

    private final String method;
    private final Exchange exchange;
    private final ApiVersion version;

    Requests(String method, Exchange exchange, ApiVersion version) {
        this.method = method;
        this.exchange = exchange;
        this.version = version;
    }

    /** The answer to a call other than a list of sandboxes or containers. */
    Object answer(RuntimeCall<?> call) throws IOException {
        return switch (call) {
            case RuntimeCall.GetVersion asked -> version();
            case RuntimeCall.GetStatus asked -> DockerAnswers.status(object("/info"));
            case RuntimeCall.GetSandbox(String id) -> DockerAnswers.sandbox(id, inspect(id));
            case RuntimeCall.GetContainer(String id) -> DockerAnswers.container(id, inspect(id));
            // dockerd collects statistics of one container after the other: one that hangs would delay those of all.
            case RuntimeCall.GetContainerStats(String id) -> DockerAnswers.usage(id, inspect(id));
            case RuntimeCall.ListImages asked -> DockerAnswers.images(value("/images/json"));
            case RuntimeCall.GetImage(String image) -> image(image);
            case RuntimeCall.GetImageFilesystems asked ->
                DockerAnswers.filesystems(object("/info"), DockerAnswers.images(value("/images/json")));
            // dockershim passed it to its kubenet plugin only; plugins of CNI have their own configuration.
            case RuntimeCall.SetPodCidr asked -> RuntimeCall.Done.DONE;
            case RuntimeCall.GetSandboxImage asked -> Optional.<String>empty();
            // A remedy that an operator confirms.
            case RuntimeCall.RemoveSandbox(String id) -> removeSandbox(id);
            default ->
                throw new RuntimeCallException(
                        method,
                        RuntimeCallException.Code.UNIMPLEMENTED,
                        "not supported on Docker Engine: the agent only watches its pods; to run pods, use a runtime"
                                + " with CRI, such as containerd");
        };
    }

    /** The containers of all pods, or of one; a single request for sandboxes and containers. */
    DockerAnswers.Listing list(Optional<String> podUid) throws IOException {
        return DockerAnswers.list(
                value("/containers/json?all=1&filters=" + encoded(Json.write(Labels.filter(podUid)))));
    }

    private RuntimeVersion version() throws IOException {
        HttpReply ping = exchange.request("GET", "/_ping");
        DockerError.check(method, ping);
        String api = "1." + version.agree(ping);
        String server = ping.header("server").orElse("");
        Matcher named = SERVER.matcher(server);
        String daemon = named.matches() ? named.group(1) : object("/version").text("Version");
        if (daemon.isEmpty()) {
            throw new UnreadableException("the version of a Docker daemon was expected, got none");
        }
        return new RuntimeVersion("docker", daemon, api + ".0");
    }

    private JsonObject inspect(String id) throws IOException {
        return object("/containers/" + encoded(id) + "/json");
    }

    private Optional<Image> image(String name) throws IOException {
        // The slashes of a name belong to the path.
        String path = "/images/" + encoded(name).replace("%2F", "/") + "/json";
        HttpReply reply = exchange.request("GET", version.path(exchange, path));
        return reply.status() == 404
                ? Optional.empty()
                : Optional.of(DockerAnswers.image(DockerError.object(method, reply)));
    }

    /** Removes the containers of a sandbox by force, then the sandbox. What is gone already is no error. */
    private RuntimeCall.Done removeSandbox(String id) throws IOException {
        String filter = encoded(Json.write(Labels.sandboxFilter(id)));
        for (Container container : DockerAnswers.list(value("/containers/json?all=1&filters=" + filter))
                .containers()) {
            remove(container.id());
        }
        remove(id);
        return RuntimeCall.Done.DONE;
    }

    private void remove(String id) throws IOException {
        String path = version.path(exchange, "/containers/" + encoded(id) + "?force=1&v=1");
        HttpReply reply = exchange.request("DELETE", path);
        if (reply.status() != 404) {
            DockerError.check(method, reply);
        }
    }

    private JsonObject object(String resource) throws IOException {
        return DockerError.object(method, exchange.request("GET", version.path(exchange, resource)));
    }

    private JsonValue value(String resource) throws IOException {
        return DockerError.value(method, exchange.request("GET", version.path(exchange, resource)));
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
