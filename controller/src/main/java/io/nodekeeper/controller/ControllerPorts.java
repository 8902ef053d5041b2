package io.nodekeeper.controller;

import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.events.EventRecorder;
import io.nodekeeper.controller.history.History;
import io.nodekeeper.controller.metrics.ControllerMetrics;
import io.nodekeeper.time.Loop;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/**
 * What a controller has of the world around it.
 *
 * @param client its results come on {@code loop}
 * @param loop the controller lives on it
 * @param recorders makes the recorder of events of a component, such as {@code node-controller}
 * @param random for jitter
 * @param metrics counts
 * @param history keeps decisions
 */
public record ControllerPorts(
        KubeClient client,
        Loop loop,
        Function<String, EventRecorder> recorders,
        RandomGenerator random,
        ControllerMetrics metrics,
        History history) {}
