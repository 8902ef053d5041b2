package io.nodekeeper.agent.plugins;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.cri.plugin.PluginCall;
import io.nodekeeper.time.BlockingCalls;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Plugins that come and go, with real sockets, in virtual time. */
class PluginManagerTest {
    @TempDir
    Path directory;

    private final VirtualTime time = new VirtualTime(Instant.parse("2026-01-01T00:00:00Z"));
    private final VirtualTime.VirtualLoop loop = time.loop("agent");
    private final FakePlugins plugins = new FakePlugins(loop);
    private final Map<String, PluginCall.Identity> infos = new HashMap<>();
    private final List<String> handled = new ArrayList<>();
    private final List<ServerSocketChannel> sockets = new ArrayList<>();
    private Optional<String> fault = Optional.empty();
    private CompletableFuture<Void> registration = CompletableFuture.completedFuture(null);
    private Path registry;
    private PluginManager manager;

    private final class Handler implements PluginHandler {
        @Override
        public Optional<String> fault(Plugin plugin) {
            return fault;
        }

        @Override
        public CompletableFuture<Void> register(Plugin plugin) {
            handled.add("register " + plugin.name() + " at " + plugin.endpoint().getFileName());
            return registration;
        }

        @Override
        public void deregister(Plugin plugin) {
            handled.add("deregister " + plugin.name());
        }
    }

    @BeforeEach
    void start() {
        registry = directory.resolve("plugins_registry");
        plugins.answer((socket, call) -> switch (call) {
            case PluginCall.GetInfo info ->
                Optional.ofNullable(infos.get(socket.getFileName().toString()));
            case PluginCall.NotifyRegistrationStatus status -> Optional.of(new PluginCall.Done());
            default -> throw new AssertionError("nobody should call " + call);
        });
        BlockingCalls atOnce = new BlockingCalls() {
            @Override
            public <T> CompletableFuture<T> call(String what, Duration deadline, Callable<T> work) {
                try {
                    return CompletableFuture.completedFuture(work.call());
                } catch (Exception e) {
                    return CompletableFuture.failedFuture(e);
                }
            }
        };
        manager = new PluginManager(
                registry, plugins, Map.of("CSIPlugin", new Handler()), atOnce, loop, Randoms.seeded(1));
        manager.start();
        advance(0);
    }

    @AfterEach
    void close() throws IOException {
        manager.stop();
        advance(0);
        for (ServerSocketChannel socket : sockets) {
            socket.close();
        }
    }

    @Test
    void aPluginIsRegisteredAndToldSo() throws Exception {
        plugin("a.sock", "CSIPlugin", "driver-a");

        advance(11);

        assertThat(handled).containsExactly("register driver-a at a.sock");
        assertThat(plugins.calls)
                .containsExactly("a.sock GetInfo[]", "a.sock NotifyRegistrationStatus[registered=true, error=]");
        assertThat(Files.getAttribute(registry, "unix:mode")).isEqualTo(0040750);
    }

    @Test
    @Tag("A105")
    void aPluginOfUnknownTypeIsToldSoAndTriedMoreAndMoreRarelyBesideOthers() throws Exception {
        plugin("a.sock", "GardenPlugin", "rake");
        plugin("b.sock", "CSIPlugin", "driver-b");

        advance(11);

        assertThat(handled).containsExactly("register driver-b at b.sock");
        assertThat(plugins.calls)
                .contains("a.sock NotifyRegistrationStatus[registered=false, error=RegisterPlugin error -- no handler"
                        + " registered for plugin type: GardenPlugin at socket " + registry.resolve("a.sock") + "]");
        // Pauses of 0.5, 1, 2, 4 s and so on: looks at 0, 1, 2, 4, 8 s.
        advance(20);
        assertThat(plugins.calls.stream().filter("a.sock GetInfo[]"::equals).count())
                .isBetween(4L, 6L);
    }

    @Test
    @Tag("A105")
    void aSocketThatIsMadeAgainIsForgottenAndRegistered() throws Exception {
        plugin("a.sock", "CSIPlugin", "driver-a");
        advance(11);

        Files.delete(registry.resolve("a.sock"));
        plugin("a.sock", "CSIPlugin", "driver-a");
        advance(11);

        assertThat(handled)
                .containsExactly("register driver-a at a.sock", "deregister driver-a", "register driver-a at a.sock");
    }

    @Test
    void aPluginWhoseSocketIsGoneIsForgotten() throws Exception {
        plugin("a.sock", "CSIPlugin", "driver-a");
        advance(11);

        Files.delete(registry.resolve("a.sock"));
        advance(11);

        assertThat(handled).containsExactly("register driver-a at a.sock", "deregister driver-a");
    }

    @Test
    void aPluginThatHangsDelaysNoOtherAndIsAskedAgain() throws Exception {
        socket("a.sock");
        plugin("b.sock", "CSIPlugin", "driver-b");

        advance(11);
        assertThat(handled).containsExactly("register driver-b at b.sock");

        infos.put("a.sock", new PluginCall.Identity("CSIPlugin", "driver-a", "", List.of("1.0.0")));
        advance(11);
        assertThat(handled).contains("register driver-a at a.sock");
    }

    @Test
    void aFailedRegistrationIsToldToThePluginAndRepeated() throws Exception {
        registration = CompletableFuture.failedFuture(new IllegalStateException("no room"));
        plugin("a.sock", "CSIPlugin", "driver-a");
        advance(11);

        assertThat(plugins.calls)
                .contains("a.sock NotifyRegistrationStatus[registered=false, error=RegisterPlugin error -- plugin"
                        + " registration failed with err: no room]");

        registration = CompletableFuture.completedFuture(null);
        advance(11);
        assertThat(plugins.calls).contains("a.sock NotifyRegistrationStatus[registered=true, error=]");
    }

    @Test
    void aPluginThatIsNotValidIsToldWhy() throws Exception {
        fault = Optional.of("it is too old");
        plugin("a.sock", "CSIPlugin", "driver-a");
        plugin("b.sock", "CSIPlugin", "x".repeat(254));

        advance(11);

        assertThat(handled).isEmpty();
        assertThat(plugins.calls)
                .contains("a.sock NotifyRegistrationStatus[registered=false, error=RegisterPlugin error -- plugin"
                        + " validation failed with err: it is too old]")
                .anyMatch(
                        call -> call.startsWith(
                                "b.sock NotifyRegistrationStatus[registered=false, error=RegisterPlugin"
                                        + " error -- plugin validation failed with err: the name must have 1 to 253 characters"));
    }

    @Test
    void hiddenNamesAndOtherFilesAreIgnoredAndSubdirectoriesAreNot() throws Exception {
        plugin(".hidden.sock", "CSIPlugin", "hidden");
        Files.writeString(registry.resolve("file"), "");
        Files.createDirectory(registry.resolve("deep"));
        ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        sockets.add(channel);
        channel.bind(UnixDomainSocketAddress.of(registry.resolve("deep/c.sock")));
        infos.put("c.sock", new PluginCall.Identity("CSIPlugin", "driver-c", "/run/other.sock", List.of("1.0.0")));

        advance(11);

        assertThat(handled).containsExactly("register driver-c at other.sock");
    }

    private void plugin(String socket, String type, String name) throws IOException {
        infos.put(socket, new PluginCall.Identity(type, name, "", List.of("1.0.0")));
        socket(socket);
    }

    private void socket(String name) throws IOException {
        ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        sockets.add(channel);
        channel.bind(UnixDomainSocketAddress.of(registry.resolve(name)));
    }

    private void advance(int seconds) {
        time.advance(Duration.ofSeconds(seconds).plusMillis(1));
    }
}
