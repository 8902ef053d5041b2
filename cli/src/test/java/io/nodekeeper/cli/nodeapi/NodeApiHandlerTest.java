package io.nodekeeper.cli.nodeapi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** URLs of requests to a node. */
class NodeApiHandlerTest {
    @Test
    void commandOf1500WordsIsReadWhole() {
        String words =
                IntStream.rangeClosed(1, 1_500).mapToObj(i -> "command=f" + i).collect(Collectors.joining("&"));

        assertThat(NodeApiHandler.url("/exec/default/web/c?output=1&" + words)
                        .parameters()
                        .get("command"))
                .hasSize(1_500)
                .startsWith("f1", "f2")
                .endsWith("f1500");
    }

    @Test
    void semicolonIsPartOfAValue() {
        assertThat(NodeApiHandler.url("/exec/default/web/c?command=a;b")
                        .parameters()
                        .get("command"))
                .containsExactly("a;b");
    }
}
