# Finds or installs the tools that the scripts need; to be sourced. Sets JDK.

# A JDK's file "release" contains its version. JAVA_HOME has precedence over the installed JDKs.
find_jdk() {
  JDK=
  for candidate in "${JAVA_HOME:-}" /usr/lib/jvm/*; do
    if [ -n "$candidate" ] && [ -x "$candidate/bin/javac" ] && [ -f "$candidate/release" ] \
      && grep -q '^JAVA_VERSION="25[."+-]' "$candidate/release"; then
      JDK=$candidate
      return 0
    fi
  done
  echo "nodekeeper: no JDK 25 found (searched JAVA_HOME=${JAVA_HOME:-} and /usr/lib/jvm)." >&2
  echo "Install one, for example Eclipse Temurin 25 (https://adoptium.net) or the package openjdk-25-jdk, or set JAVA_HOME." >&2
  return 1
}

# maven_with_compiler ARGUMENTS...: runs Maven on $JDK so that it compiles in its own process. Starting a cold compiler for
# each module takes twice the processor time. The options open the compiler's packages to Error Prone.
maven_with_compiler() {
  opens=
  for package in api file main model parser processing tree util; do
    opens="$opens --add-exports=jdk.compiler/com.sun.tools.javac.$package=ALL-UNNAMED"
  done
  for package in code comp; do
    opens="$opens --add-opens=jdk.compiler/com.sun.tools.javac.$package=ALL-UNNAMED"
  done
  JAVA_HOME=$JDK MAVEN_OPTS="-Xmx2g -XX:+UseSerialGC$opens ${MAVEN_OPTS:-}" mvn -Dcompiler.inprocess=true "$@"
}

# install_tool COMMAND PACKAGE: makes COMMAND (a name or a path) available, by installing PACKAGE with apt-get if this
# user may do that.
install_tool() {
  command -v "$1" >/dev/null 2>&1 && return 0
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "nodekeeper: installing $2, for $1" >&2
    if apt-get update -qq >/dev/null 2>&1 && without_services apt_install "$2" >/dev/null 2>&1 \
      && command -v "$1" >/dev/null 2>&1; then
      return 0
    fi
  fi
  echo "nodekeeper: $1 is missing; install it, on Debian with: apt-get install --no-install-recommends $2" >&2
  return 1
}

apt_install() {
  DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "$1"
}

# without_services COMMAND...: runs COMMAND without starting services that it installs. Debian controls this by the file
# policy-rc.d; an existing one is left as it is.
without_services() {
  policy=/usr/sbin/policy-rc.d
  if [ -e "$policy" ]; then
    "$@"
    return
  fi
  printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy"
  trap 'rm -f "$policy"; exit 1' INT TERM
  status=0
  "$@" || status=$?
  trap - INT TERM
  rm -f "$policy"
  return "$status"
}

# install_runtime: installs a real container runtime, which process tests run and break. Some of its programs are not on
# the path of ordinary users.
install_runtime() {
  PATH=$PATH:/usr/sbin:/sbin
  install_tool runc runc && install_tool containerd containerd && install_tool busybox busybox-static \
    && install_tool /usr/lib/cni/bridge containernetworking-plugins
}
