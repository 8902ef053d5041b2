# Finds the tools that the scripts beside the root need; to be sourced. Sets JDK and, through need_maven, makes mvn work.

# A JDK 25 has a file "release" that says so; JAVA_HOME goes first, then what the system has installed.
find_jdk() {
  JDK=
  for candidate in "${JAVA_HOME:-}" /usr/lib/jvm/*; do
    if [ -n "$candidate" ] && [ -x "$candidate/bin/javac" ] && [ -f "$candidate/release" ] \
      && grep -q '^JAVA_VERSION="25[."+-]' "$candidate/release"; then
      JDK=$candidate
      return 0
    fi
  done
  echo "nodekeeper: no JDK 25 found (looked at JAVA_HOME=${JAVA_HOME:-} and below /usr/lib/jvm)." >&2
  echo "Install one, as Eclipse Temurin 25 (https://adoptium.net) or the package openjdk-25-jdk, or set JAVA_HOME." >&2
  return 1
}

# install COMMAND PACKAGE: makes sure of COMMAND, by apt-get where that can be done without asking anybody.
install_tool() {
  command -v "$1" >/dev/null 2>&1 && return 0
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "nodekeeper: installing $2, for $1" >&2
    if { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$2"; } \
      >/dev/null 2>&1 && command -v "$1" >/dev/null 2>&1; then
      return 0
    fi
  fi
  echo "nodekeeper: $1 is missing; install it, on Debian with: apt-get install $2" >&2
  return 1
}

# install_runtime: makes sure of a real container runtime, which process tests run and break.
install_runtime() {
  install_tool containerd containerd && install_tool runc runc && install_tool busybox busybox-static \
    && install_tool /usr/lib/cni/bridge containernetworking-plugins
}
