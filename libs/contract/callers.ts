/**
 * Actors, scopes, and the callers that an operation allows. The responder and the permissions of NATS users follow from
 * these declarations.
 */

/**
 * The authenticated user, shared token or service key of a request. Sent as a signed assertion in the `Actor` header of
 * every call (libs/actor); background work has no actor.
 */
export type Actor =
  | { readonly kind: 'shared' }
  | {
      readonly kind: 'user';
      readonly accountId: number;
      /** Email of the account, for the audit log. Gateways of the previous release omit it. */
      readonly email?: string;
      readonly personId: number | null;
      readonly superuser: boolean;
      readonly globalEditor: boolean;
      /** Superuser or member of `coherence_users` (rules/access#classes-of-routes). */
      readonly coherenceAccess: boolean;
      /** Rights on operator functions: `act` includes `read`; null or absent: none (rules/access#operators). */
      readonly ops?: 'read' | 'act' | null;
      /** Session of the token that authenticated the call, revoked by logout. Not secret. */
      readonly sessionKey?: string;
      /**
       * The service key that authenticated the call; its scopes restrict the rights of the account
       * (rules/access#service-keys; K2).
       */
      readonly key?: { readonly id: string; readonly scopes: readonly string[] };
    };

/** Whether the actor may read operator data: superusers, `ops_viewers` and `ops_operators` (rules/access#operators). */
export const mayReadOps = (actor: Actor | undefined): boolean =>
  mayActOps(actor) || (actor?.kind === 'user' && actor.ops === 'read');

/** Whether the actor may run operator actions: superusers and `ops_operators`. */
export const mayActOps = (actor: Actor | undefined): boolean =>
  actor?.kind === 'user' && (actor.superuser || actor.ops === 'act');

/** Kind of the actor of a call; `none`: the caller acts on its own behalf. */
export type CallerKind = Actor['kind'] | 'none';

/** Service name or `cli` → kinds of calls it may make. Other services cannot publish to the subject. */
export type Callers = Readonly<Record<string, readonly CallerKind[]>>;

/** Calls without an actor. */
export const withoutActor: readonly CallerKind[] = ['none'];
/** Calls with an actor of any kind. */
export const anyActor: readonly CallerKind[] = ['shared', 'user'];

/** The service that creates actors. It could add any actor itself, so calls without one are no privilege. */
const gateway = 'api-gateway';

/** The gateway, for clients with the shared or a per-user token. */
export const byClients: Callers = { [gateway]: anyActor };
/** The gateway, for clients with a per-user token. */
export const byUsers: Callers = { [gateway]: ['user'] };
/** The gateway, with or without an actor. */
export const byGateway: Callers = { [gateway]: withoutActor };
/** The admin CLI; requires a subject `admin.<service>.…`. */
export const byOperators: Callers = { cli: withoutActor };

/**
 * @throws Error when no caller is declared, the subject does not fit the callers, or omitting the actor would be a
 * privilege
 */
export function checkCallers(service: string, subject: string, callers: Callers): void {
  const names = Object.keys(callers);
  const fail = (problem: string): never => {
    throw new Error(`contract ${service}: callers of "${subject}": ${problem}`);
  };
  if (names.length === 0 || names.some((name) => callers[name]?.length === 0))
    fail('no caller, or a caller without a kind of call');
  if (names.includes(service)) fail('the service itself');
  if (subject.startsWith('admin.') !== (names.length === 1 && names[0] === 'cli'))
    fail('"admin." is for the admin CLI alone');
  const others = names.filter((name) => name !== gateway);
  const own = others.filter((name) => callers[name]?.includes('none') === true);
  if (own.length > 0 && own.length < others.length) {
    fail(
      `${own.join(', ')} may omit the actor, and so could the other callers of this subject: declare a separate subject`,
    );
  }
}

/** Scopes of service keys. Each route that accepts a token requires one scope (rules/access#scopes; K3). */
export const scopes = [
  'conversations:read',
  'conversations:write',
  'transcripts:read',
  'media:read',
  'media:write',
  'steps:read',
  'steps:write',
  'directory:read',
  'directory:write',
  'agents:read',
  'events:read',
  'webhooks:write',
  'keys:write',
  'ops:read',
  'ops:write',
] as const;
export type Scope = (typeof scopes)[number];

/** All current and future scopes. */
export const allScopes = '*';

/** Whether the scopes include the required one. */
export function hasScope(granted: readonly string[], required: string): boolean {
  return granted.includes(required) || granted.includes(allScopes);
}

/** Texts for the values of CONVERSATION_ACCESS, logged at start and by `doctor` (D69, D92). */
export const conversationAccess = {
  open: '`open`: every account with a token reads and writes all conversations',
  members: '`members`: an account reads and writes the conversations of its person and of events in its team authority',
} as const;
