/**
 * Actors, scopes, and the callers that an operation allows. The responder and the permissions of NATS users follow from
 * these declarations.
 */

/**
 * The authenticated user, shared token or service key of a request. Sent as a signed assertion in the `Actor` header of
 * every call (libs/infrastructure/actor); background work has no actor.
 */
export type Actor =
  | { readonly kind: 'shared' }
  | {
      readonly kind: 'user';
      readonly accountId: number;
      /** Email of the account, for the audit log. Absent in assertions from gateways of the previous release. */
      readonly email?: string;
      readonly personId: number | null;
      readonly superuser: boolean;
      readonly globalEditor: boolean;
      /** Superuser or member of `coherence_users` (rules/access#classes-of-routes). */
      readonly coherenceAccess: boolean;
      /** Superuser or member of `workspace_editors` (W5). Gateways of the previous release omit it. */
      readonly workspaceEditor?: boolean;
      /** Superuser or member of `chat_agents` (W7). Gateways of the previous release omit it. */
      readonly chatAgent?: boolean;
      /** Rights on operator functions: `act` includes `read`; null or absent: none (rules/access#operators). */
      readonly ops?: 'read' | 'act' | null;
      /** Session of the token that authenticated the call; logout revokes it. Not secret. */
      readonly sessionKey?: string;
      /**
       * The service key that authenticated the call; its scopes restrict the rights of the account
       * (rules/access#service-keys; K2).
       */
      readonly key?: { readonly id: string; readonly scopes: readonly string[] };
    };

/**
 * Returns whether the actor may read operator data: superusers, `ops_viewers` and `ops_operators`
 * (rules/access#operators).
 */
export const mayReadOps = (actor: Actor | undefined): boolean =>
  mayActOps(actor) || (actor?.kind === 'user' && actor.ops === 'read');

/** Returns whether the actor may run operator actions: superusers and `ops_operators`. */
export const mayActOps = (actor: Actor | undefined): boolean =>
  actor?.kind === 'user' && (actor.superuser || actor.ops === 'act');

/** Error of operator functions for other callers. */
export const notAnOperator = {
  not_an_operator: { code: 'permission_denied', when: 'The caller does not have this right of operators.' },
} as const;

/** Whether the actor may read and answer visitors' chats, without other rights of operators: `chat_agents` (W7). */
export const isChatAgent = (actor: Actor | undefined): boolean => actor?.kind === 'user' && actor.chatAgent === true;

/** Whether the actor may read and write the set-up: superusers and members of `workspace_editors` (W5). */
export const mayEditWorkspace = (actor: Actor | undefined): boolean =>
  actor?.kind === 'user' && (actor.superuser || actor.workspaceEditor === true);

/** Kind of the actor of a call; `none` means that the caller acts for itself. */
export type CallerKind = Actor['kind'] | 'none';

/**
 * Maps a service name or `cli` to the kinds of calls that it may make. Services that are not listed cannot publish to
 * the subject.
 */
export type Callers = Readonly<Record<string, readonly CallerKind[]>>;

/** Allows only calls without an actor. */
export const withoutActor: readonly CallerKind[] = ['none'];
/** Allows calls with an actor of any kind. */
export const anyActor: readonly CallerKind[] = ['shared', 'user'];

/** The service that creates actors. Its calls without an actor are not privileged, because it could add any actor. */
const gateway = 'api-gateway';

/** Allows the gateway to call for clients with the shared or a per-user token. */
export const byClients: Callers = { [gateway]: anyActor };
/** Allows the gateway to call for clients with a per-user token. */
export const byUsers: Callers = { [gateway]: ['user'] };
/** Allows the gateway to call with or without an actor. */
export const byGateway: Callers = { [gateway]: withoutActor };
/** Allows the admin CLI to call; requires a subject `admin.<service>.…`. */
export const byOperators: Callers = { cli: withoutActor };

/**
 * Checks the declared callers of an operation. @throws Error when no caller is declared, when the subject does not fit
 * the callers, or when a caller would gain rights by omitting the actor
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

/** Scopes of service keys. A route that accepts service keys requires one of these scopes (rules/access#scopes; K3). */
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
  'workspace:read',
  'workspace:write',
  'accounts:write',
  'agents:read',
  'events:read',
  'webhooks:write',
  'keys:write',
  'ops:read',
  'ops:write',
] as const;
export type Scope = (typeof scopes)[number];

/** Scope `*`: all current and future scopes. */
export const allScopes = '*';

/** Returns whether the granted scopes include the required one. */
export function hasScope(granted: readonly string[], required: string): boolean {
  return granted.includes(required) || granted.includes(allScopes);
}

/** Texts for the values of CONVERSATION_ACCESS, logged at start and by `doctor` (D69, D92). */
export const conversationAccess = {
  open: '`open`: every account with a token reads and writes all conversations',
  members: '`members`: an account reads and writes the conversations of its person and of events in its team authority',
} as const;
