package io.nodekeeper.cli.controller;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.controller.Controller;
import io.nodekeeper.controller.ControllerView;
import io.nodekeeper.time.Loop;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The state of a controller's process for its pages, whether its controller works or another one leads. Thread-safe.
 */
final class ProcessView implements ControllerView {
    private final Loop loop;
    private final Supplier<Optional<Controller>> controller;
    private final Optional<Election> election;

    /** {@code loop} is the controller's, and completes the results; {@code controller} is called on any thread. */
    ProcessView(Loop loop, Supplier<Optional<Controller>> controller, Optional<Election> election) {
        this.loop = loop;
        this.controller = controller;
        this.election = election;
    }

    @Override
    public CompletableFuture<Optional<JsonObject>> node(String name) {
        return ask(view -> view.node(name), Optional.of(JsonObject.EMPTY.with("notWorking", idle())));
    }

    @Override
    public CompletableFuture<JsonObject> nodes() {
        return ask(ControllerView::nodes, JsonObject.EMPTY.with("notWorking", idle()));
    }

    @Override
    public CompletableFuture<JsonObject> status() {
        return ask(ControllerView::status, JsonObject.EMPTY.with("notWorking", idle()));
    }

    @Override
    public CompletableFuture<JsonObject> fleet() {
        return ask(ControllerView::fleet, JsonObject.EMPTY.with("notWorking", idle()));
    }

    @Override
    public CompletableFuture<JsonObject> sight() {
        return ask(ControllerView::sight, JsonObject.EMPTY.with("notWorking", idle()));
    }

    @Override
    public CompletableFuture<JsonObject> lag() {
        return ask(ControllerView::lag, JsonObject.EMPTY.with("notWorking", idle()));
    }

    @Override
    public CompletableFuture<Optional<String>> unready() {
        return ask(ControllerView::unready, Optional.of(idle()));
    }

    @Override
    public Optional<String> standby() {
        return election.flatMap(Election::standby);
    }

    @Override
    public Optional<String> unhealthy() {
        return election.flatMap(Election::unhealthy);
    }

    private String idle() {
        return standby()
                .or(() -> election.map(waiting -> "waiting for the lease " + waiting.lock()))
                .orElse("not started yet");
    }

    private <T> CompletableFuture<T> ask(Function<ControllerView, CompletableFuture<T>> question, T otherwise) {
        return controller
                .get()
                .map(working -> question.apply(working.view()))
                .orElseGet(() -> CompletableFuture.supplyAsync(() -> otherwise, loop));
    }
}
