/**
 * NATS in operator mode: an operator and an account for one test, with roles (scoped signing keys, created like
 * files/nats-nsc.sh of the chart does) and users with credentials files (JWT).
 */
import { nkeys } from '@nats-io/transport-node';

type KeyPair = ReturnType<typeof nkeys.createUser>;

export interface IssuedUser {
  /** Content of a credentials file, in the format of `nsc generate creds`. */
  readonly creds: string;
  /** The user's nkey. */
  readonly publicKey: string;
}

export interface RolePermissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

export interface NatsOperator {
  /** Returns lines for the server's configuration, in which these users are revoked. */
  settings(revoked?: readonly string[]): string[];
  /**
   * Creates a user of the role with the same name as the user, or of `options.role`. If the role does not exist, the
   * user has all permissions.
   * @param options `expiresAt` as Unix time in seconds; default never
   */
  issue(name: string, options?: { role?: string; expiresAt?: number }): IssuedUser;
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const unlimited = { subs: -1, data: -1, payload: -1 };

/** @param roles permissions of each role, by name */
export function createNatsOperator(roles: Readonly<Record<string, RolePermissions>> = {}): NatsOperator {
  const [operator, account, system] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createAccount()];
  const signers = new Map(Object.keys(roles).map((role) => [role, nkeys.createAccount()]));
  const scopes = Object.entries(roles).map(([role, { publish, subscribe }]) => ({
    kind: 'user_scope',
    key: signers.get(role)?.getPublicKey(),
    role,
    template: { ...unlimited, pub: { allow: publish }, sub: { allow: subscribe } },
  }));
  const describe = (pair: KeyPair, name: string, details: Readonly<Record<string, unknown>>): string =>
    sign(operator, { sub: pair.getPublicKey(), name, nats: { version: 2, ...details } });
  const limits = { ...unlimited, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
  const stores = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  return {
    settings: (revoked = []) => {
      const revocations = Object.fromEntries(revoked.map((key) => [key, Math.floor(Date.now() / 1000)]));
      const own = { type: 'account', limits: { ...limits, ...stores }, signing_keys: scopes, revocations };
      const accounts = [
        `${account.getPublicKey()}: ${describe(account, 'coherence', own)}`,
        `${system.getPublicKey()}: ${describe(system, 'SYS', { type: 'account', limits })}`,
      ];
      return [
        `operator: ${describe(operator, 'test', { type: 'operator', system_account: system.getPublicKey() })}`,
        'resolver: MEMORY',
        `resolver_preload: { ${accounts.join(', ')} }`,
      ];
    },
    issue: (name, { role = name, expiresAt } = {}) => {
      const user = nkeys.createUser();
      const signer = signers.get(role);
      const rights =
        signer === undefined ? { ...unlimited, pub: {}, sub: {} } : { issuer_account: account.getPublicKey() };
      const jwt = sign(signer ?? account, {
        sub: user.getPublicKey(),
        name,
        ...(expiresAt === undefined ? {} : { exp: expiresAt }),
        nats: { type: 'user', version: 2, ...rights },
      });
      const creds = `-----BEGIN NATS USER JWT-----\n${jwt}\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n${text(user.getSeed())}\n------END USER NKEY SEED------\n`;
      return { creds, publicKey: user.getPublicKey() };
    },
  };
}

/** Returns seed and public key of a new user, for a server that identifies users by nkeys. */
export function createNkey(): { seed: string; publicKey: string } {
  const user = nkeys.createUser();
  return { seed: text(user.getSeed()), publicKey: user.getPublicKey() };
}

function sign(issuer: KeyPair, claims: Readonly<Record<string, unknown>>): string {
  const body = { jti: 'test', iat: Math.floor(Date.now() / 1000), iss: issuer.getPublicKey(), ...claims };
  const unsigned = `${encode({ typ: 'JWT', alg: 'ed25519-nkey' })}.${encode(body)}`;
  return `${unsigned}.${Buffer.from(issuer.sign(Buffer.from(unsigned))).toString('base64url')}`;
}
