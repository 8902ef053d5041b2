package io.nodekeeper.cli.options;

import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts flag values such as {@code 40s} or {@code 1m30s}. */
public final class DurationConverter implements ITypeConverter<Duration> {
    @Override
    public Duration convert(String text) {
        try {
            return GoDuration.parse(text);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }
}
