/**
 * `files/nats.conf` of the chart, which compose.yaml uses too: the users of the contracts, whose passwords the server takes from its environment.
 */
import { componentOf } from '../../cli/component-names.ts';
import { describePermissions } from '../servers/nats-permissions.ts';

/** The same permissions as data, for what checks them: a line for each user. */
export function describeNatsPermissions(): Promise<string> {
  const users = describePermissions().flatMap(({ user, permissions }) =>
    permissions === undefined
      ? []
      : [`${JSON.stringify(user)}:${JSON.stringify({ publish: permissions.publish.allow, subscribe: permissions.subscribe.allow })}`],
  );
  return Promise.resolve(`{\n${users.join(',\n')}\n}\n`);
}

/** A subject a line; the authorization is JSON, except for the passwords. */
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
