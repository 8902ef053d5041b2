package io.nodekeeper.apiserver.watches;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.negotiation.Media;
import io.nodekeeper.apiserver.storage.Codec;
import io.nodekeeper.apiserver.wire.ProtobufWriter;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The forms of one event, which are made out of objects that are parsed once. */
class RenderedEventTest {
    private static final Media PROTOBUF = new Media(Media.Form.OBJECT, "", "", Media.Encoding.PROTOBUF);
    private static final Media METADATA = new Media(Media.Form.METADATA, "v1", "", Media.Encoding.JSON);
    private static final Media METADATA_PROTOBUF = new Media(Media.Form.METADATA, "v1", "", Media.Encoding.PROTOBUF);

    private static final String OLD = """
            {"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","labels":{"a":"1"}}}""";
    private static final String NEW = """
            {"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","labels":{"b":"2","a":"1"}},"spec":{"nodeName":"n1"}}""";

    /** Counts how often it parses. */
    private static final class CountingCodec extends Codec {
        private int parsed;

        private CountingCodec() {
            super(ResourceType.PODS);
        }

        @Override
        public JsonObject decode(Entry entry, long revision) {
            parsed++;
            return super.decode(entry, revision);
        }
    }

    private final CountingCodec codec = new CountingCodec();

    private RenderedEvent update(byte[] now) {
        String key = "/registry/pods/default/p";
        return new RenderedEvent(
                new Event(
                        7,
                        key,
                        Optional.of(new Entry(key, OLD.getBytes(StandardCharsets.UTF_8), 5, 5)),
                        Optional.of(new Entry(key, now, 5, 7))),
                codec);
    }

    private static RenderedEvent.View view(Media media, String type) {
        return new RenderedEvent.View(ResourceType.PODS, media, type, false);
    }

    @Test
    void eachVersionIsParsedOnceForAllForms() {
        RenderedEvent event = update(NEW.getBytes(StandardCharsets.UTF_8));
        event.whole(view(Media.JSON, "MODIFIED"));
        assertThat(codec.parsed).as("the line needs no object").isZero();

        event.whole(view(PROTOBUF, "MODIFIED"));
        event.whole(view(PROTOBUF, "ADDED"));
        event.partial(view(METADATA, "MODIFIED"), METADATA::metadataOf);
        event.partial(view(METADATA_PROTOBUF, "ADDED"), METADATA_PROTOBUF::metadataOf);
        assertThat(event.after()).isPresent();
        assertThat(codec.parsed).isEqualTo(1);

        event.whole(view(PROTOBUF, "DELETED"));
        assertThat(event.before()).isPresent();
        assertThat(codec.parsed).isEqualTo(2);
    }

    @Test
    void eachFormIsMadeOnce() {
        RenderedEvent event = update(NEW.getBytes(StandardCharsets.UTF_8));

        assertThat(event.whole(view(Media.JSON, "MODIFIED"))).isSameAs(event.whole(view(Media.JSON, "MODIFIED")));
        assertThat(event.whole(view(PROTOBUF, "ADDED"))).isSameAs(event.whole(view(PROTOBUF, "ADDED")));
        assertThat(event.partial(view(METADATA, "ADDED"), METADATA::metadataOf))
                .isSameAs(event.partial(view(METADATA, "ADDED"), METADATA::metadataOf));
    }

    @Test
    void leavingObjectIsShownAsItWasWithTheRevisionOfTheChange() {
        RenderedEvent event = update(NEW.getBytes(StandardCharsets.UTF_8));

        assertThat(new String(event.whole(view(Media.JSON, "DELETED")), StandardCharsets.UTF_8))
                .isEqualTo("{\"type\":\"DELETED\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":"
                        + "{\"resourceVersion\":\"7\",\"name\":\"p\",\"labels\":{\"a\":\"1\"}}}}\n");
    }

    /** In this server's form, in others of JSON, also of another version, and in that of a kube-apiserver. */
    static Stream<byte[]> stored() {
        return Stream.of(
                NEW.getBytes(StandardCharsets.UTF_8),
                """
                {"spec":{"nodeName":"n1"},"metadata":{"labels":{"b":"2","a":"1"},"name":"p"},"apiVersion":"v0","kind":"Old"}""".getBytes(StandardCharsets.UTF_8),
                ProtobufWriter.object(Json.parseObject(NEW)).orElseThrow());
    }

    @ParameterizedTest
    @MethodSource("stored")
    void frameIsThatOfTheLine(byte[] stored) {
        RenderedEvent event = update(stored);

        JsonObject line = Json.parseObject(event.whole(view(Media.JSON, "MODIFIED")));
        assertThat(line.object("object").text("apiVersion")).isEqualTo("v1");
        assertThat(event.whole(view(PROTOBUF, "MODIFIED")))
                .isEqualTo(ProtobufWriter.frame(line).orElseThrow());
    }
}
