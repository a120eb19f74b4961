/** `deploy/compose/nats.conf`: the users of the contracts, whose passwords the server takes from its environment. */
import { componentOf } from '../../cli/component-names.ts';
import { describePermissions } from '../servers/nats-permissions.ts';

export function describeComposeNats(): string {
  const users = describePermissions().map(({ user, permissions }) => {
    const rights = permissions === undefined ? '' : `, permissions: ${JSON.stringify(permissions)}`;
    return `  { user: ${user}, password: $NATS_PASSWORD_${componentOf(user).toUpperCase()}${rights} }`;
  });
  return `# Written from the contracts by \`npm run fix\`; the passwords are in the .env of compose.yaml.
http_port: 8222
# Requests carry up to 4 MiB of JSON.
max_payload: 8MB
jetstream {
  store_dir: /data
  # A webhook that was answered 200 survives a power cut.
  sync_interval: always
}
authorization: { users: [
${users.join('\n')}
] }
`;
}
