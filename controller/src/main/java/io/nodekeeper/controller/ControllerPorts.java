package io.nodekeeper.controller;

import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.events.EventRecorder;
import io.nodekeeper.controller.history.History;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.time.Loop;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/**
 * The external dependencies of a controller.
 *
 * @param client completes its results on {@code loop}
 * @param loop runs the controller
 * @param recorders creates the event recorder of a component, such as {@code node-controller}
 * @param random for jitter
 * @param metrics records metrics
 * @param history stores decisions
 */
public record ControllerPorts(
        KubeClient client,
        Loop loop,
        Function<String, EventRecorder> recorders,
        RandomGenerator random,
        ControllerMetrics metrics,
        History history) {}
