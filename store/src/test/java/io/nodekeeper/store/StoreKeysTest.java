package io.nodekeeper.store;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class StoreKeysTest {
    @Test
    void resourceIsTheFirstTwoParts() {
        assertThat(StoreKeys.resource("/registry/a/x/y")).isEqualTo("/registry/a/");
        assertThat(StoreKeys.resource("/registry/a/")).isEqualTo("/registry/a/");
        assertThat(StoreKeys.resource("/registry/a")).isEqualTo("/registry/a");
        assertThat(StoreKeys.resource("/registry")).isEqualTo("/registry");
    }
}
