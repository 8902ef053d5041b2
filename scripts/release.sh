# What a release contains, for the image and the Debian package; to be sourced, after toolchain.sh and flags.sh.

# The modules of the JDK that Nodekeeper and its libraries call. JavaModulesIT compares them with what the jars refer to.
# jdk.httpserver: the pages. jdk.management: memory of the process. jdk.net and jdk.security.auth: sockets and users, for D-Bus.
# jdk.unsupported: sun.misc.Unsafe, for Netty and Agrona.
MODULES=java.base,java.logging,java.management,java.naming,java.net.http,java.xml,jdk.httpserver,jdk.management,jdk.net,jdk.security.auth,jdk.unsupported

# Where a release is installed, in the image and by the package.
PREFIX=/usr/lib/nodekeeper

# release_version: the version in pom.xml, without -SNAPSHOT.
release_version() {
  sed -n 's|.*<revision>\(.*\)</revision>.*|\1|p' "$home/pom.xml" | sed 's/-SNAPSHOT$//'
}

# The date of all files of a release, so that two builds are equal: the one in pom.xml.
release_date() {
  sed -n 's|.*<project.build.outputTimestamp>\(.*\)</project.build.outputTimestamp>.*|\1|p' "$home/pom.xml"
}

# build_dist VERSION: builds the distribution of a release, beside the one that ./nodekeeper runs. Sets dist.
build_dist() {
  install_tool mvn maven || return 1
  dist=$home/dist/target/release/nodekeeper
  rm -rf "$dist"
  mkdir -p "$dist"
  echo "building Nodekeeper $1 (a minute or two) ..." >&2
  if ! (cd "$home" && JAVA_HOME=$JDK mvn -q -B -T 2 -P run "-Drevision=$1" "-Ddist.directory=$dist" package -pl dist -am) \
    >"$dist.log" 2>&1; then
    grep -E '^\[ERROR\]' "$dist.log" | head -n 20 >&2 || true
    echo "the build failed; its output is in $dist.log" >&2
    return 1
  fi
}

# repack JAR...: writes jars again without the native libraries, which are in a directory, with one date for all files.
# Jars of other platforms' libraries are most of the size of the distribution.
repack() {
  for jar in "$@"; do
    rm -rf "$work/jar"
    mkdir "$work/jar"
    (cd "$work/jar" && "$JDK/bin/jar" --extract --file "$jar")
    find "$work/jar" -name '*.so' -delete
    rm "$jar"
    manifest=$work/jar/META-INF/MANIFEST.MF
    # The jar tool writes files in the order in which it gets them.
    (cd "$work/jar" && find . -type f ! -path ./META-INF/MANIFEST.MF | LC_ALL=C sort | sed 's|^\./||' >"$work/files" \
      && "$JDK/bin/jar" --create --file "$jar" --manifest "$manifest" --date "$(release_date)" "@$work/files")
  done
}

# stage ROOT: puts what is installed below ROOT: $PREFIX with runtime, lib, native and args.
# An argument file in args holds all that comes before the command: "java @args/controller controller ...".
stage() {
  target=$1$PREFIX
  mkdir -p "$target/lib" "$target/native" "$target/args"
  cp "$dist"/lib/*.jar "$target/lib/"
  # Of the native libraries only this platform's; unpacked here, no process needs a directory to unpack them at run time.
  case $(uname -m) in
    x86_64) rocksdb=linux64 netty=x86_64 ;;
    aarch64) rocksdb=linux-aarch64 netty=aarch_64 ;;
    *) echo "no release for $(uname -m): x86_64 and aarch64 are supported" >&2; return 1 ;;
  esac
  cp "$dist/native/librocksdbjni-$rocksdb.so" "$target/native/"
  mkdir "$work/netty"
  (cd "$work/netty" && "$JDK/bin/jar" --extract --file "$(echo "$target"/lib/netty-transport-native-epoll-*.jar)")
  cp "$work/netty/META-INF/native/libnetty_transport_native_epoll_$netty.so" "$target/native/"
  repack "$target"/lib/rocksdbjni-*.jar "$target"/lib/netty-transport-native-epoll-*.jar
  "$JDK/bin/jlink" --add-modules "$MODULES" --strip-debug --no-header-files --no-man-pages --compress zip-0 \
    --output "$target/runtime"
  classpath=$(cd "$target/lib" && for jar in *.jar; do printf '%s/lib/%s:' "$PREFIX" "$jar"; done)
  for args in agent apiserver certs controller doctor hollow-nodes simulate tune replay up why status other container; do
    set_flags $args
    # The heap of any command in a container follows the container's memory limit.
    [ $args != container ] || flags="$(echo "$flags" | sed 's/ -Xmx[^ ]*//') -XX:MaxRAMPercentage=60"
    flags="$flags -Djava.library.path=$PREFIX/native"
    { for flag in $flags; do echo "$flag"; done; echo "-cp $classpath"; echo io.nodekeeper.cli.Main; } >"$target/args/$args"
  done
  mkdir -p "$1/usr/share/doc/nodekeeper"
  cp "$home/LICENSE" "$1/usr/share/doc/nodekeeper/"
  # Before the classes are archived: the archive names the dates of what it was made from.
  find "$target" -exec touch -h -d "$(release_date)" {} +
  "$target/runtime/bin/java" -XX:+UseSerialGC -XX:+UseCompactObjectHeaders -Xshare:dump >"$work/cds.log" 2>&1 \
    || { cat "$work/cds.log" >&2; return 1; }
  chmod -R u=rwX,go=rX "$1"
}
