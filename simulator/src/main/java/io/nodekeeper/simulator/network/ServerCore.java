package io.nodekeeper.simulator.network;

import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.time.Loop;

/**
 * An API server as the network uses it.
 *
 * @param loop processes requests, so that a frozen process does not answer
 * @param core handles them
 */
public record ServerCore(Loop loop, ApiServer core) {}
