package io.nodekeeper.simulator;

import io.nodekeeper.apiserver.ApiServer;
import io.nodekeeper.time.Loop;

/**
 * An API server as the network sees it.
 *
 * @param loop runs what arrives, so that a frozen process answers nobody
 * @param core answers
 */
record ServerCore(Loop loop, ApiServer core) {}
