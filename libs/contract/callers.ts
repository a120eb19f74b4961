/** Who acts, and who may call an operation: what the responder enforces and what the services' NATS users may publish follows from it. */

/**
 * Who acts: the caller of a request as the gateway authenticated it. It travels as a signed assertion in the `Actor` header of every hop
 * (libs/actor); work that no client caused has none.
 */
export type Actor =
  | { readonly kind: 'shared' }
  | {
      readonly kind: 'user';
      readonly accountId: number;
      /** Of the account, for records of who did what; the gateways of the release before leave it out. */
      readonly email?: string;
      readonly personId: number | null;
      readonly superuser: boolean;
      readonly globalEditor: boolean;
      /** Superuser or member of `coherence_users` (rules/access#classes-of-routes). */
      readonly coherenceAccess: boolean;
      /** What the account may do with operations: `act` includes reading. Null or absent: nothing (rules/access#operators). */
      readonly ops?: 'read' | 'act' | null;
      /** Session of the token that authenticated the call; not secret. What logout revokes. */
      readonly sessionKey?: string;
      /** The service key that authenticated the call, which narrows what the account may do (rules/access#service-keys; K2). */
      readonly key?: { readonly id: string; readonly scopes: readonly string[] };
    };

/** Whether somebody may see what operators see: superusers, `ops_viewers` and `ops_operators` (rules/access#operators). */
export const mayReadOps = (actor: Actor | undefined): boolean => mayActOps(actor) || (actor?.kind === 'user' && actor.ops === 'read');

/** Whether somebody may do what operators do: superusers and `ops_operators`. */
export const mayActOps = (actor: Actor | undefined): boolean => actor?.kind === 'user' && (actor.superuser || actor.ops === 'act');

/** On whose behalf a call is made: a client's, with an actor of this kind, or with `none` the caller's own. */
export type CallerKind = Actor['kind'] | 'none';

/** Name of a service (or `cli`, the admin CLI) → the calls that it may make. Who is not named cannot publish to the subject. */
export type Callers = Readonly<Record<string, readonly CallerKind[]>>;

/** Calls without an actor, on the caller's own account. */
export const withoutActor: readonly CallerKind[] = ['none'];
/** Calls with the actor of a client, whatever its kind. */
export const anyActor: readonly CallerKind[] = ['shared', 'user'];

/** Name of the service that makes the actors; what it leaves out it could as well put in. */
const gateway = 'api-gateway';

/** The gateway for its clients, with the shared or a per-user token. */
export const byClients: Callers = { [gateway]: anyActor };
/** The gateway for people with a per-user token. */
export const byUsers: Callers = { [gateway]: ['user'] };
/** The gateway for any client, or for its own purposes. */
export const byGateway: Callers = { [gateway]: withoutActor };
/** The admin CLI alone; on a subject `admin.<service>.…`. */
export const byOperators: Callers = { cli: withoutActor };

/** @throws Error when nobody may call it, when its subject is not that of its callers, or when leaving the actor out would be a privilege. */
export function checkCallers(service: string, subject: string, callers: Callers): void {
  const names = Object.keys(callers);
  const refuse = (problem: string): never => {
    throw new Error(`contract ${service}: callers of "${subject}": ${problem}`);
  };
  if (names.length === 0 || names.some((name) => callers[name]?.length === 0)) refuse("nobody, or on nobody's behalf");
  if (names.includes(service)) refuse('the service itself');
  if (subject.startsWith('admin.') !== (names.length === 1 && names[0] === 'cli')) refuse('"admin." is for the admin CLI alone');
  const others = names.filter((name) => name !== gateway);
  const own = others.filter((name) => callers[name]?.includes('none') === true);
  if (own.length > 0 && own.length < others.length) {
    refuse(
      `an actor may be left out by ${own.join(', ')}, and whoever else may publish there could do so too: it needs a subject of its own`,
    );
  }
}

/** What a service key may do: each route that takes a token names the one scope that it needs (rules/access#scopes; K3). */
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

/** Every scope that there is, and that there will be. */
export const allScopes = '*';

/** Whether somebody who holds these scopes may do what needs that one; `everyScope` is held by itself alone. */
export function hasScope(held: readonly string[], needed: string): boolean {
  return held.includes(needed) || held.includes(allScopes);
}

/** What the values of CONVERSATION_ACCESS mean, as the start and `doctor` say it (D69, D92). */
export const conversationAccess = {
  open: '`open`: every account with a token reads and writes all conversations',
  members: '`members`: an account reads and writes the conversations of its person and of events in its team authority',
} as const;
