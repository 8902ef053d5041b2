package io.nodekeeper.cli.files;

import io.nodekeeper.api.Failures;
import java.io.FileNotFoundException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;

/** Describes errors of files. Java's exceptions often have only the file's name as message. */
public final class FileErrors {
    private FileErrors() {}

    /** The error with the file and the reason. */
    public static String text(Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            // The message of a wrapping exception of ours names the file, and perhaps the reason.
            if (cause instanceof FileSystemException file) {
                String own = cause == error ? "" : Failures.text(error);
                String text = text(file);
                return own.isEmpty() || own.equals(String.valueOf(file.getFile())) || own.contains(file.toString())
                        ? text
                        : own.contains(reason(file)) ? own : own + " (" + text + ")";
            }
        }
        if (error instanceof CharacterCodingException) {
            return "a file is not UTF-8 text: " + error;
        }
        if (error instanceof FileNotFoundException) {
            // "NAME (No such file or directory)": names both.
            return String.valueOf(error.getMessage());
        }
        return Failures.text(error);
    }

    private static String text(FileSystemException error) {
        String files = error.getOtherFile() == null ? error.getFile() : error.getFile() + " -> " + error.getOtherFile();
        return files + ": " + reason(error);
    }

    private static String reason(FileSystemException error) {
        return switch (error) {
            case NoSuchFileException missing -> "no such file or directory" + missingParent(missing);
            case AccessDeniedException denied -> "permission denied";
            case FileAlreadyExistsException exists -> "exists already" + kind(exists);
            case NotDirectoryException no -> "is not a directory";
            case DirectoryNotEmptyException full -> "the directory is not empty";
            case FileSystemLoopException loop -> "a loop of links";
            default ->
                Optional.ofNullable(error.getReason())
                        .map(reason -> reason.substring(0, 1).toLowerCase(Locale.ROOT) + reason.substring(1))
                        .orElse("the file system refuses it");
        };
    }

    private static String missingParent(NoSuchFileException error) {
        Path parent = Path.of(error.getFile()).toAbsolutePath().getParent();
        return parent == null || Files.exists(parent) ? "" : "; its directory " + parent + " does not exist";
    }

    private static String kind(FileAlreadyExistsException error) {
        Path file = Path.of(error.getFile());
        return Files.isDirectory(file) ? " and is a directory" : Files.exists(file) ? " and is no directory" : "";
    }
}
