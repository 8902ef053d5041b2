package io.nodekeeper.cli.completion;

/** The shells whose command lines can be completed. */
public enum Shell {
    bash,
    zsh,
    fish
}
