/** In-memory directory stand-in with the same contract. */
import { AppError } from '#libs/infrastructure/errors';
import type { Actor } from '#libs/infrastructure/contract';
import { defineService } from '#libs/infrastructure/contract';
import { type Bus, withOutcome } from '#libs/infrastructure/nats';
import { directory } from '#services/directory';

type UserActor = Extract<Actor, { kind: 'user' }> & { email: string; sessionKey: string };

const { login, refuseLogin, logout, verifySession, whoami } = directory.rpcs;
const contract = defineService({
  service: 'directory',
  rpcs: { login, refuseLogin, logout, verifySession, whoami },
  jobs: {},
  events: {},
});

export interface DirectoryStandIn {
  /** The actor of each token. Deleting an entry revokes the token. */
  readonly tokens: Map<string, UserActor>;
  readonly calls: { verify: number; refused: string[]; logins: { email: string; ip: string }[] };
  /** Issues a token. */
  issue(rights?: Partial<UserActor>): string;
  stop(): Promise<void>;
}

let issued = 0;
const expires_at = '2030-01-01T00:00:00+00:00';
export const person = { id: 7, name: 'Ada', description: '', photo_url: null, actor_kind: 'human', contact: {} };

export async function serveDirectory(bus: Bus): Promise<DirectoryStandIn> {
  const tokens = new Map<string, UserActor>();
  const calls: DirectoryStandIn['calls'] = { verify: 0, refused: [], logins: [] };
  const issue = (rights: Partial<UserActor> = {}): string => {
    const sessionKey = `s${String(++issued).padStart(31, '0')}`;
    const token = `svc_agentic_${sessionKey}_${'x'.repeat(43)}`;
    tokens.set(token, {
      kind: 'user',
      accountId: 3,
      email: 'ada@example.org',
      personId: 7,
      superuser: false,
      globalEditor: false,
      coherenceAccess: false,
      sessionKey,
      ...rights,
    });
    return token;
  };
  const refused = (): AppError => new AppError({ code: 'unauthenticated', message: 'Invalid credentials.' });
  const served = await bus.serve(contract, {
    login: ({ email, password, ip }) => {
      calls.logins.push({ email, ip });
      if (email === 'busy@example.org')
        throw new AppError({ code: 'rate_limited', message: 'Too many logins.', details: { retry_after: 17 } });
      if (password !== 'right') throw refused();
      return Promise.resolve({
        token: issue(),
        token_type: 'Bearer' as const,
        expires_at,
        expires_in_seconds: 86_400,
        person,
      });
    },
    refuseLogin: ({ ip }) => {
      calls.refused.push(ip);
      throw refused();
    },
    logout: (_request, ctx) => {
      const { actor } = ctx;
      for (const [token, known] of tokens)
        if (actor?.kind === 'user' && known.sessionKey === actor.sessionKey) tokens.delete(token);
      return Promise.resolve({ revoked: true as const });
    },
    verifySession: ({ token }) => {
      calls.verify++;
      const actor = tokens.get(token);
      if (actor === undefined) throw new AppError({ code: 'unauthenticated', message: 'Unknown token.' });
      return Promise.resolve({ actor, expires_at });
    },
    whoami: () => Promise.resolve(withOutcome({ authenticated: true as const, person, key: null }, 'ok')),
  });
  return { tokens, calls, issue, stop: () => served.drain() };
}
