package io.nodekeeper.store.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.encryption.ValueTransformer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The bytes of rows, because stores of earlier versions must stay readable. */
class RowFormatTest {
    private static final String KEY = "/registry/a/ä";
    private static final Entry OLD = new Entry(KEY, new byte[] {7, 8}, 2, 3);
    private static final Entry NEW = new Entry(KEY, new byte[] {9}, 2, 0x0102);

    /** Appends {@code x} to each value and removes it again. */
    private static final ValueTransformer SUFFIX = new ValueTransformer() {
        @Override
        public byte[] toStorage(String key, String storageKey, byte[] value) {
            byte[] stored = Arrays.copyOf(value, value.length + 1);
            stored[value.length] = 'x';
            return stored;
        }

        @Override
        public byte[] fromStorage(String key, String storageKey, byte[] stored) {
            assertThat(stored[stored.length - 1]).isEqualTo((byte) 'x');
            return Arrays.copyOf(stored, stored.length - 1);
        }
    };

    private static Event update() {
        return new Event(0x0102, KEY, Optional.of(OLD), Optional.of(NEW));
    }

    @Test
    void rowKeyOfAChangeIsItsRevisionAndItsKey() {
        byte[] row = RowFormat.row(update());

        assertThat(row)
                .containsExactly(
                        'c', 0, 0, 0, 0, 0, 0, 1, 2, '/', 'r', 'e', 'g', 'i', 's', 't', 'r', 'y', '/', 'a', '/', 0xc3,
                        0xa4);
        assertThat(RowFormat.revision(row)).isEqualTo(0x0102);
        assertThat(RowFormat.key(row)).isEqualTo(KEY);
    }

    @Test
    void rowKeyOfAResourceIsItsPrefix() {
        assertThat(new String(RowFormat.window("/registry/ä/"), StandardCharsets.UTF_8))
                .isEqualTo("w/registry/ä/");
        assertThat(RowFormat.number(0x0102)).containsExactly(0, 0, 0, 0, 0, 0, 1, 2);
    }

    @Test
    void updateHasTheCreateRevisionTheReplacedRevisionAndTheObject() {
        byte[] change = RowFormat.change(update(), SUFFIX);

        assertThat(change).containsExactly(1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 9, 'x');
        assertThat(RowFormat.value(KEY, change, SUFFIX)).containsExactly(9);
    }

    @Test
    void creationHasNoReplacedRevision() {
        Entry created = new Entry(KEY, new byte[0], 5, 5);
        Event creation = new Event(5, KEY, Optional.empty(), Optional.of(created));

        byte[] change = RowFormat.change(creation, ValueTransformer.RAW);

        assertThat(change).containsExactly(1, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0);
    }

    @Test
    void deletionHasNoObject() {
        Event deletion = new Event(9, KEY, Optional.of(NEW), Optional.empty());

        byte[] change = RowFormat.change(deletion, SUFFIX);

        assertThat(change).containsExactly(2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2);
    }

    @Test
    void changeThatLeavesTheHistoryLeavesTheRowOfTheReplacedVersionAndItsOwnIfItDeletes() {
        Event creation = new Event(5, KEY, Optional.empty(), Optional.of(new Entry(KEY, new byte[0], 5, 5)));
        assertThat(RowFormat.leftBehind(creation)).isEmpty();

        assertThat(RowFormat.leftBehind(update())).containsExactly(RowFormat.row(3, KEY));

        Event deletion = new Event(9, KEY, Optional.of(NEW), Optional.empty());
        assertThat(RowFormat.leftBehind(deletion)).containsExactly(RowFormat.row(0x0102, KEY), RowFormat.row(9, KEY));
    }
}
