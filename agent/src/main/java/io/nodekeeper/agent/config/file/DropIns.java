package io.nodekeeper.agent.config.file;

import io.nodekeeper.client.files.SmallFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Reads the directory of drop-in files. All calls block on the disk. */
public final class DropIns {
    /** Files at most. Operators have a handful; the rest guards against a directory that is not meant for this. */
    static final int FILES = 100;

    /** Characters of all files at most; a file with every field has about 5,000. */
    static final int CHARACTERS = 1 << 20;

    /** How deep directories are searched, as Kubernetes does without a limit. */
    private static final int DEPTH = 8;

    private DropIns() {}

    /**
     * The texts of the files {@code *.conf} in {@code directory} and the directories in it, in the order of their names.
     *
     * @throws IOException if one cannot be read, or there is too much of them
     */
    public static Map<Path, String> read(Path directory) throws IOException {
        Map<Path, String> texts = new LinkedHashMap<>();
        int characters = 0;
        for (Path file : files(directory)) {
            String text = SmallFiles.text(file);
            characters += text.length();
            if (characters > CHARACTERS) {
                throw new IOException("the files in " + directory + " have more than " + CHARACTERS
                        + " characters, which is the limit");
            }
            texts.put(file, text);
        }
        return texts;
    }

    private static List<Path> files(Path directory) throws IOException {
        List<Path> files = new ArrayList<>();
        try (Stream<Path> found = Files.find(
                directory,
                DEPTH,
                (file, facts) -> !facts.isDirectory() && file.toString().endsWith(".conf"))) {
            found.sorted().limit(FILES + 1L).forEach(files::add);
        } catch (UncheckedIOException e) {
            throw new IOException(String.valueOf(e.getMessage()), e);
        }
        if (files.size() > FILES) {
            throw new IOException(directory + " has more than " + FILES + " files *.conf, which is the limit");
        }
        return files;
    }
}
