package io.nodekeeper.apiserver.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.apiserver.request.ResponseChunks;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Compression of a large list chunk by chunk. */
class GzipChunksTest {

    /** Chunks of several parts; every third part is empty. */
    private static final class Source implements ResponseChunks {
        private final ByteArrayOutputStream all = new ByteArrayOutputStream();
        private final Random random;
        private final boolean compressible;
        private int left;

        private Source(long seed, boolean compressible, int chunks) {
            random = new Random(seed);
            this.compressible = compressible;
            left = chunks;
        }

        @Override
        public List<byte[]> next() {
            if (left == 0) {
                return List.of();
            }
            left--;
            if (left % 3 == 1) {
                return NOTHING_YET;
            }
            byte[] first = new byte[random.nextInt(SIZE)];
            byte[] second = new byte[1 + SIZE - first.length];
            if (!compressible) {
                random.nextBytes(first);
                random.nextBytes(second);
            }
            all.writeBytes(first);
            all.writeBytes(second);
            return List.of(first, second);
        }

        @Override
        public long held() {
            return 7;
        }
    }

    @ParameterizedTest
    @CsvSource({"1, true, 300", "2, false, 300", "3, true, 1", "4, false, 2", "5, true, 0"})
    void theBytesAreTheSameAndNoPieceIsLargerThanItsSource(long seed, boolean compressible, int count)
            throws IOException {
        Source source = new Source(seed, compressible, count);
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GzipChunks chunks = new GzipChunks(source)) {
            // when a reader takes all chunks
            for (List<byte[]> chunk = chunks.next(); !chunk.isEmpty(); chunk = chunks.next()) {
                int bytes = chunk.stream().mapToInt(part -> part.length).sum();
                // then each is at most about as large as a plain chunk, and the held memory does not grow
                assertThat(bytes).isLessThan(2 * ResponseChunks.SIZE);
                assertThat(chunks.held()).isEqualTo(7 + (256 << 10));
                chunk.forEach(packed::writeBytes);
            }
        }
        // and together they decompress to the plain bytes
        try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(packed.toByteArray()))) {
            assertThat(in.readAllBytes()).isEqualTo(source.all.toByteArray());
        }
    }
}
