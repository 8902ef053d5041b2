package io.nodekeeper.cli.ui;

import io.nodekeeper.client.pages.Page;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Optional;

/** The files of the web page, from the jars. Only the names in its table exist, so no path leads elsewhere. Immutable. */
final class StaticFiles {
    private static final String HERE = "/io/nodekeeper/cli/ui/";
    /** The version must be that in the pom; the path in the jar contains it. */
    private static final String PREACT = "/META-INF/resources/webjars/preact/10.27.2/dist/preact.module.js";

    private static final String SCRIPT = "text/javascript; charset=utf-8";
    /** Each file's content type. */
    private static final Map<String, String> TYPES = Map.of(
            "index.html", "text/html; charset=utf-8",
            "page.css", "text/css; charset=utf-8",
            "app.js", SCRIPT,
            "fleet.js", SCRIPT,
            "grid.js", SCRIPT,
            "live.js", SCRIPT,
            "node.js", SCRIPT,
            "strip.js", SCRIPT,
            "states.js", SCRIPT,
            "preact.js", SCRIPT);

    private StaticFiles() {}

    /** The file of that name; the empty name is the page itself. */
    static Optional<Page> find(String name) {
        String file = name.isEmpty() ? "index.html" : name;
        return Optional.ofNullable(TYPES.get(file))
                .map(type -> new Page(200, type, read(file.equals("preact.js") ? PREACT : HERE + file)));
    }

    private static byte[] read(String resource) {
        try (InputStream in = StaticFiles.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IOException(resource + " is missing in the jar");
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
