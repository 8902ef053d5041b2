package io.nodekeeper.agent.nodeapi;

import io.nodekeeper.agent.logs.LogPump;
import io.nodekeeper.client.pages.Feed;
import io.nodekeeper.client.pages.Page;
import java.net.URI;
import java.util.function.Function;

/** The answer of the node's API. */
public sealed interface Answer {
    /** All of it. */
    record Whole(Page page) implements Answer {
        /** A text with a line feed, as errors of a kubelet are. */
        static Whole text(int status, String text) {
            return new Whole(Page.text(status, text));
        }
    }

    /** A text of the pod with the UID {@code pod}, in parts: {@code open} makes the pump for the client, which is not started. */
    record Log(String pod, Function<Feed.Reader, LogPump> open) implements Answer {}

    /** The runtime's streaming server answers for the pod with the UID {@code pod}, at {@code place}, which is good for one request. */
    record Stream(String pod, URI place) implements Answer {}
}
