/**
 * Generates `files/nats.conf` of the chart, also used by compose.yaml: the users of the contracts, with passwords from
 * the server's environment. `files/nats-nsc.sh` creates the same users with nsc, for servers in operator mode.
 */
import { componentOf } from '#libs/infrastructure/release';
import { describePermissions } from '../../libs/product/servers/nats-permissions.ts';

/** Returns the same permissions as data for checks: one line per user. */
export function describeNatsPermissions(): Promise<string> {
  const users = describePermissions().flatMap(({ user, permissions }) =>
    permissions === undefined
      ? []
      : [
          `${JSON.stringify(user)}:${JSON.stringify({ publish: permissions.publish.allow, subscribe: permissions.subscribe.allow })}`,
        ],
  );
  return Promise.resolve(`{\n${users.join(',\n')}\n}\n`);
}

/** Returns the configuration with one subject per line. The authorization is JSON except for the passwords. */
export function describeNatsConf(): Promise<string> {
  const users = describePermissions().map(({ user, permissions }) => ({
    user,
    password: `$NATS_PASSWORD_${componentOf(user).toUpperCase()}`,
    ...(permissions === undefined ? {} : { permissions }),
  }));
  const authorization = JSON.stringify({ users }, null, 2).replaceAll(/"(\$NATS_PASSWORD_[A-Z]+)"/g, '$1');
  return Promise.resolve(`# Written from the contracts by \`npm run fix\`; the passwords are in the environment of the server.
http_port: 8222
# Requests carry up to 4 MiB of JSON.
max_payload: 8MB
jetstream {
  store_dir: /data
  # A webhook that was answered 200 survives a power cut.
  sync_interval: always
}
authorization: ${authorization}
`);
}

/**
 * Returns a shell script with one permission per line. Subjects contain no character that is special within single
 * quotes.
 */
export function describeNscScript(): Promise<string> {
  const users = describePermissions().map(({ user, permissions }) => {
    const flags = [
      ...(permissions?.publish.allow ?? []).map((subject) => `--allow-pub '${subject}'`),
      ...(permissions?.subscribe.allow ?? []).map((subject) => `--allow-sub '${subject}'`),
    ];
    return [`user ${user}`, ...flags].join(' \\\n  ');
  });
  return Promise.resolve(`${nscFunctions}\n${users.join('\n')}\n`);
}

/**
 * Permissions are in scoped signing keys in the account JWT: in the user JWT they would exceed the maximum size of a
 * CONNECT (`max_control_line`, 4 KiB), and each release would need new credentials files. New permissions are added
 * before old ones are removed, because an empty list allows everything.
 */
const nscFunctions = `#!/bin/sh
# Written from the contracts by \`npm run fix\`: the users of files/nats.conf for NATS in operator mode (JWT), made with nsc.
#   sh nats-nsc.sh [ACCOUNT]   then   nsc push --account ACCOUNT
# The account must exist and have JetStream. Each user has a role: a scoped signing key with its permissions. Run both again at each upgrade: roles
# get exactly the permissions of this release, and keys and credentials files stay as they are.
set -euf
account=\${1:-coherence}

# What the role $1 may do now, a line for each: "pub SUBJECT" or "sub SUBJECT"; "role" when it exists.
held() {
  nsc describe account --name "$account" --field nats.signing_keys | sed 's/\\\\u003e/>/g' | tr '{' '\\n' | awk -v role="\\"role\\":\\"$1\\"" '
    index($0, "\\"role\\":") { own = index($0, role) > 0; if (own) print "role" }
    own && index($0, "\\"allow\\":[") == 1 && match($0, /\\[[^]]*\\]/) {
      count = split(substr($0, RSTART + 1, RLENGTH - 2), subjects, ",")
      for (i = 1; i <= count; i++) { gsub(/"/, "", subjects[i]); print kind, subjects[i] }
    }
    { kind = $0 ~ /"pub":$/ ? "pub" : "sub" }'
}

edit() { nsc edit signing-key --account "$account" "$@"; }

user() {
  name=$1
  shift
  if [ $# -gt 0 ]; then
    before=$(held "$name")
    new=$([ -n "$before" ] || echo "--sk generate")
    edit --role "$name" $new --subs -1 --data -1 --payload -1 "$@"
    stale=$(echo "$before" | grep -v '^role$' | while read -r kind subject; do
      case " $* " in
        *" --allow-$kind $subject "*) ;;
        *) if [ -n "$subject" ]; then echo "--rm $subject"; fi ;;
      esac
    done)
    # --rm takes a subject from both lists; the second line puts back what one of them needs.
    if [ -n "$stale" ]; then
      edit --role "$name" $stale
      edit --role "$name" "$@"
    fi
  fi
  if nsc describe user --account "$account" --name "$name" >/dev/null 2>&1; then return; fi
  if [ $# -gt 0 ]; then
    nsc add user --account "$account" --name "$name" --private-key "$name"
  else
    nsc add user --account "$account" --name "$name"
  fi
}
`;
