package io.nodekeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WholeBodyTest {
    private static final int LIMIT = 1000;

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 7, 499, 500, 999, LIMIT})
    void joinsTheParts(int length) throws Exception {
        for (int part : new int[] {1, 3, 400, LIMIT}) {
            String text = "0123456789".repeat(LIMIT / 10).substring(0, length);
            WholeBody body = new WholeBody(LIMIT);
            body.begin(201);

            for (int at = 0; at < length; at += part) {
                take(body, text.substring(at, Math.min(length, at + part)));
            }

            Reply reply = body.end();
            assertThat(reply.status()).isEqualTo(201);
            assertThat(new String(reply.body(), StandardCharsets.UTF_8)).isEqualTo(text);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 400, LIMIT, LIMIT + 1})
    void refusesMoreThanItsLimit(int part) {
        WholeBody body = new WholeBody(LIMIT);

        assertThatThrownBy(() -> {
                    for (int sent = 0; sent <= LIMIT; sent += part) {
                        take(body, "x".repeat(part));
                    }
                })
                .isInstanceOf(IOException.class)
                .hasMessage("the response is longer than 1000 bytes");
    }

    private static void take(WholeBody body, String text) throws IOException {
        body.take(Unpooled.copiedBuffer(text, StandardCharsets.UTF_8));
    }
}
