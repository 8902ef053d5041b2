package io.nodekeeper.agent.status;

import io.nodekeeper.api.Node;
import java.util.List;

/**
 * A status as it should be.
 *
 * @param node the node with it
 * @param events what there is to tell once it is stored
 * @param errors what could not be set, and so stayed as it was
 */
public record StatusResult(Node node, List<NodeEvent> events, List<String> errors) {}
