package io.nodekeeper.agent.status;

import io.nodekeeper.api.Node;
import java.util.List;

/**
 * A computed status.
 *
 * @param node the node with the computed status
 * @param events events to send once the status is stored
 * @param errors why some fields could not be set and kept their values
 */
public record StatusResult(Node node, List<NodeEvent> events, List<String> errors) {}
