package io.nodekeeper.controller.observer;

import java.util.Locale;

/** The hop that delayed a canary. */
public enum StalledHop {
    /** This process stood still. */
    CONTROLLER("controller", "this process stood still"),
    /** The server does not respond, or cannot be reached. */
    API_SERVER("API server", "the API server does not answer"),
    /** The API server responds, but writes do not complete. */
    STORE("store", "the API server answers, but accepts no writes"),
    /** Writes succeed, but the watch does not send them. */
    WATCH("watch", "writes succeed, but the watch does not send them");

    private final String text;
    private final String meaning;

    StalledHop(String text, String meaning) {
        this.text = text;
        this.meaning = meaning;
    }

    public String meaning() {
        return meaning;
    }

    /** As in metric labels. */
    public String label() {
        return text.toLowerCase(Locale.ROOT).replace(' ', '_');
    }

    @Override
    public String toString() {
        return text;
    }
}
