package io.nodekeeper.controller.pods;

import java.time.Duration;

/**
 * The pods of one node that are evicted when the time is over for which they tolerate its taints.
 *
 * @param node the node's name
 * @param pods their number, positive
 * @param next how long until the first of them is evicted
 */
public record PlannedEvictions(String node, int pods, Duration next) {}
