package io.nodekeeper.agent.pods.garbage;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.cri.Image;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which names mean an image. */
class ImageNamesTest {
    private static final Image IMAGE = new Image(
            "sha256:abc",
            List.of("docker.io/library/web@sha256:def", "host:5000/shop/web@sha256:def"),
            List.of("docker.io/library/web:latest", "host:5000/shop/web:1"),
            1);

    @ParameterizedTest
    @CsvSource(textBlock = """
            web, true
            web:latest, true
            library/web, true
            docker.io/library/web, true
            web@sha256:def, true
            web:2@sha256:def, true
            host:5000/shop/web:1, true
            host:5000/shop/web:1@sha256:def, true
            sha256:abc, true
            abc, true
            web:1, false
            host:5000/shop/web, false
            shop/web:1, false
            web@sha256:abc, false
            """)
    void shouldKnowShortAndFullNames(String name, boolean means) {
        assertThat(ImageNames.isOneOf(IMAGE, Set.of(name))).isEqualTo(means);
    }

    @Test
    void shouldKnowNoImageByANameThatIsNone() {
        assertThat(ImageNames.isOneOf(
                        IMAGE, Set.of("a" + ":b".repeat(100_000) + "@x", "a" + ":b".repeat(2_000) + "@x")))
                .isFalse();
    }
}
