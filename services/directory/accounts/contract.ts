/** Accounts, for the admin CLI: who may log in, and as what (rules/cli#admin-cli). */
import { byAnybody, byOperators, byUsers, event, rpc, Type } from '#libs/contract';
import { nullable, rowId } from '../fields.ts';
import { PersonPublic } from '../public-schemas.ts';

const email = Type.String({ minLength: 1, maxLength: 320 });

/** Every group that gives its members something; there are no others. */
export const accountGroups = ['coherence_users'] as const;

const facts = {
  id: rowId,
  email: Type.String(),
  person_id: nullable(rowId),
  is_active: Type.Boolean(),
  superuser: Type.Boolean(),
  global_editor: Type.Boolean(),
  groups: Type.Array(Type.String()),
};
const account = Type.Object(facts);
const changedAccount = Type.Object({ ...facts, changed: Type.Boolean({ description: 'False when the account was so already.' }) });
const listedAccount = Type.Object({
  ...facts,
  person_name: nullable(Type.String()),
  has_password: Type.Boolean({ description: 'Without one nobody can log in.' }),
  created_at: Type.String({ format: 'date-time' }),
});

const notFound = { account_not_found: { code: 'not_found', when: 'No account has that email.' } } as const;
const badPerson = { person_not_found: { code: 'not_found', when: 'No person has that id or key.' } } as const;
const badGroup = { unknown_group: { code: 'bad_request', when: 'There is no such group; the message names those that exist.' } } as const;
const badPassword = {
  weak_password: { code: 'bad_request', when: 'The password is shorter than 12 characters, or easy to guess.' },
  public_password: { code: 'bad_request', when: 'The password stands in the documents; refused in production.' },
} as const;

const person = Type.Optional(Type.Union([rowId, Type.String()], { description: 'Id or workspace key of the person.' }));
const groupNames = Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 150 }), { maxItems: 100 }));

/** What a caller may do, as the gateway puts it in the `Actor` header. */
const userActor = Type.Object({
  kind: Type.Literal('user'),
  accountId: rowId,
  personId: nullable(rowId),
  superuser: Type.Boolean(),
  globalEditor: Type.Boolean(),
  coherenceAccess: Type.Boolean({ description: 'Superuser or member of `coherence_users` (rules/access#classes-of-routes).' }),
  sessionKey: Type.String({ description: 'Session of the token; what logout revokes.' }),
});

export const accountRpcs = {
  listAccounts: rpc({
    subject: 'admin.directory.accounts.list',
    callers: byOperators,
    summary: 'Accounts in the order of their emails, page by page.',
    request: Type.Object({
      after: Type.Optional(Type.String({ maxLength: 320, description: 'The last email of the page before.' })),
      limit: Type.Integer({ minimum: 1, maximum: 1_000 }),
      is_active: Type.Optional(Type.Boolean()),
      superuser: Type.Optional(Type.Boolean()),
      group: Type.Optional(Type.String({ maxLength: 150 })),
    }),
    reply: Type.Object({ items: Type.Array(listedAccount), next: nullable(Type.String({ description: '`after` of the next page.' })) }),
    errors: badGroup,
  }),
  createAccount: rpc({
    subject: 'admin.directory.accounts.create',
    callers: byOperators,
    summary: 'Creates an account, with or without password and person.',
    request: Type.Object({
      email,
      password: Type.Optional(Type.String()),
      person,
      superuser: Type.Optional(Type.Boolean()),
      global_editor: Type.Optional(Type.Boolean()),
      groups: groupNames,
    }),
    reply: account,
    errors: {
      ...badPerson,
      ...badGroup,
      ...badPassword,
      invalid_email: { code: 'bad_request', when: 'The email is no address.' },
      account_exists: { code: 'conflict', when: 'An account has that email already.' },
    },
    idempotent: false,
  }),
  setPassword: rpc({
    subject: 'admin.directory.accounts.set-password',
    callers: byOperators,
    summary: "Sets the password and revokes the account's tokens.",
    request: Type.Object({ email, password: Type.String() }),
    reply: changedAccount,
    errors: { ...notFound, ...badPassword },
  }),
  deactivateAccount: rpc({
    subject: 'admin.directory.accounts.deactivate',
    callers: byOperators,
    summary: 'Deactivates the account and revokes its tokens.',
    request: Type.Object({ email }),
    reply: changedAccount,
    errors: notFound,
  }),
  grantAccount: rpc({
    subject: 'admin.directory.accounts.grant',
    callers: byOperators,
    summary: 'Changes what an account may do; only what is named changes.',
    request: Type.Object({
      email,
      superuser: Type.Optional(Type.Boolean()),
      global_editor: Type.Optional(Type.Boolean()),
      add_groups: groupNames,
      remove_groups: groupNames,
      activate: Type.Optional(Type.Boolean()),
      person,
    }),
    reply: changedAccount,
    errors: { ...notFound, ...badPerson, ...badGroup },
  }),
  deleteAccount: rpc({
    subject: 'admin.directory.accounts.delete',
    callers: byOperators,
    summary: 'Deletes the account for good and revokes its tokens; its person stays.',
    request: Type.Object({ email }),
    reply: account,
    errors: notFound,
  }),
} as const;

/** To be spread into the contract of the directory. */
export const sessionRpcs = {
  login: rpc({
    subject: 'directory.sessions.login',
    callers: byAnybody,
    summary: 'Exchanges email and password for a token valid for 24 hours (rules/access#login; D40).',
    request: Type.Object({ email: Type.String(), password: Type.String(), ip: Type.String() }),
    reply: Type.Object({
      token: Type.String({ description: '`svc_agentic_<session_key>_<secret>`, shown this once.' }),
      token_type: Type.Literal('Bearer'),
      expires_at: Type.String({ format: 'date-time', description: 'With explicit offset.' }),
      expires_in_seconds: Type.Integer(),
      person: PersonPublic,
    }),
    idempotent: false,
  }),
  refuseLogin: rpc({
    subject: 'directory.sessions.refuse-login',
    callers: byAnybody,
    summary:
      'Answers a login whose gate key is wrong: the same work and error as a wrong password (D40), a throttle of its own (D76). Never succeeds.',
    request: Type.Object({ ip: Type.String() }),
    reply: Type.Object({}),
    idempotent: false,
  }),
  logout: rpc({
    subject: 'directory.sessions.logout',
    callers: byUsers,
    summary: "Revokes the session of the caller's token.",
    request: Type.Object({}),
    reply: Type.Object({ revoked: Type.Literal(true) }),
  }),
  verifySession: rpc({
    subject: 'directory.sessions.verify',
    callers: byAnybody,
    summary: 'Who a per-user token belongs to; unauthenticated when unknown, expired, revoked or of an inactive account.',
    request: Type.Object({ token: Type.String({ maxLength: 8_192 }) }),
    reply: Type.Object({ actor: userActor, expires_at: Type.String({ format: 'date-time' }) }),
    timeoutMs: 5_000,
  }),
  whoami: rpc({
    subject: 'directory.sessions.whoami',
    callers: byUsers,
    summary: "The caller's person (GET /api/v1/auth/whoami).",
    request: Type.Object({}),
    reply: Type.Object({ authenticated: Type.Literal(true), person: PersonPublic }),
  }),
} as const;

/** To be spread into the contract of the directory. */
export const sessionEvents = {
  sessionsRevoked: event({
    subject: 'events.directory.sessions.revoked',
    subscribers: ['api-gateway'],
    summary: 'Tokens became invalid, or what their account may do changed.',
    payload: Type.Object({ session_keys: Type.Array(Type.String()) }),
  }),
} as const;
