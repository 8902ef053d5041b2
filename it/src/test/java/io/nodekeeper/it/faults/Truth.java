package io.nodekeeper.it.faults;

import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * The cause of a fault, as the generator made it.
 *
 * @param text for the table
 * @param pids the processes that are the cause; the accused process must be one of them, unless an object is named
 * @param objects mounts or files that are the cause, of which the accusation may name one instead of a process
 * @param mechanism what the accusation must say about how the cause stands still; searched in reason, summary and evidence
 * @param pod the name of the only pod that is affected; empty if the whole node is
 * @param mildest what the remedy of an accusation must say if a milder one than killing exists; else anything
 * @param quiet whether nothing is wrong that an agent could see, so that silence is right, too
 */
record Truth(
        String text,
        Supplier<Set<Long>> pids,
        Set<String> objects,
        Pattern mechanism,
        Optional<String> pod,
        Pattern mildest,
        boolean quiet) {
    private static final Pattern ANY = Pattern.compile("");

    /** A cause in processes. */
    static Truth process(String text, Supplier<Set<Long>> pids, String mechanism) {
        return new Truth(text, pids, Set.of(), pattern(mechanism), Optional.empty(), ANY, false);
    }

    /** A cause that has a name rather than a process. */
    static Truth object(String text, String mechanism, String... objects) {
        return new Truth(text, Set::of, Set.of(objects), pattern(mechanism), Optional.empty(), ANY, false);
    }

    /** The same with an object that may be named in the place of a process. */
    Truth or(String object) {
        return new Truth(text, pids, Set.of(object), mechanism, pod, mildest, quiet);
    }

    /** The same, which affects only {@code name}. */
    Truth of(String name) {
        return new Truth(text, pids, objects, mechanism, Optional.of(name), mildest, quiet);
    }

    /** The same, which is ended without killing anything of the runtime or of a pod. */
    Truth mildly(String remedy) {
        return new Truth(text, pids, objects, mechanism, pod, pattern(remedy), quiet);
    }

    /** Whether the remedy of an accusation of it is a mild one, if there is one. */
    boolean isMild(Named named) {
        return mildest.matcher(named.remedy()).find();
    }

    /** The same, where silence is right, too. */
    Truth orSilence() {
        return new Truth(text, pids, objects, mechanism, pod, mildest, true);
    }

    /** Whether {@code named} accuses the cause. */
    boolean matches(Named named) {
        Set<Long> processes = pids.get();
        boolean free = processes.isEmpty() && objects.isEmpty();
        boolean process = named.pid().filter(processes::contains).isPresent()
                || processes.stream().anyMatch(pid -> named.summary().contains("pid " + pid + ")"));
        boolean object = objects.stream().anyMatch(name -> named.text().contains(name));
        boolean podFits = pod.isEmpty()
                || named.pod().isEmpty()
                || named.pod().orElseThrow().endsWith("/" + pod.get());
        return (free || process || object)
                && podFits
                && mechanism.matcher(withoutObjects(named.text())).find();
    }

    /** The name of a mount or a file, which an accused command has in its arguments, says nothing about the mechanism. */
    private String withoutObjects(String text) {
        String rest = text;
        for (String object : objects) {
            if (object.startsWith("/")) {
                rest = rest.replace(object, "");
            }
        }
        return rest;
    }

    private static Pattern pattern(String mechanism) {
        return Pattern.compile(mechanism, Pattern.CASE_INSENSITIVE);
    }
}
