package io.nodekeeper.it;

import io.nodekeeper.api.ApiObject;
import io.nodekeeper.api.KubeObject;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.HttpTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reflector;
import io.nodekeeper.client.Selection;
import io.nodekeeper.client.config.Kubeconfig;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.ThreadLoop;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/** A connection of a test to the API, with a loop of its own. */
public final class Observer implements AutoCloseable {
    private final ThreadLoop loop = new ThreadLoop("observer");
    private final HttpTransport transport;
    private final KubeClient client;

    Observer(Path kubeconfig) {
        transport = new HttpTransport(Kubeconfig.load(kubeconfig));
        client = new KubeClient(transport, loop, Duration.ofSeconds(30));
    }

    KubeClient client() {
        return client;
    }

    /** Reports, on the loop, each new or changed object, and each deleted one. */
    void follow(Selection selection, Consumer<ApiObject> changed, Consumer<ApiObject> gone) {
        new Reflector(client, selection, Randoms.secure(), new Reflector.Handler() {
                    @Override
                    public void onReplace(List<JsonObject> objects) {
                        objects.forEach(this::onChange);
                    }

                    @Override
                    public void onChange(JsonObject object) {
                        changed.accept(new KubeObject(object));
                    }

                    @Override
                    public void onDelete(JsonObject object) {
                        gone.accept(new KubeObject(object));
                    }
                })
                .start();
    }

    @Override
    public void close() {
        transport.close();
        loop.close();
    }
}
