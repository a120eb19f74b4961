/** Accounts, for the admin CLI: who may log in, and as what (rules/cli#admin-cli). */
import { byGateway, byOperators, byUsers, event, singleLine, nullable, withoutActor, rpc, Type } from '#libs/contract';
import {
  actorFacts,
  instant,
  limitParameter,
  maxNameLength,
  offsetParameter,
  page,
  PersonPublic,
  rowId,
  v1Errors,
} from '../api-objects/contract.ts';

const email = Type.String({ minLength: 1, maxLength: 320 });

/** Every group that gives its members something; there are no others. */
export const accountGroups = ['coherence_users', 'ops_operators', 'ops_viewers'] as const;

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

const naming = {
  request: Type.Object({ ids: Type.Array(rowId, { maxItems: 1_000 }), email: Type.Optional(email) }),
  reply: Type.Object({ items: Type.Array(Type.Object({ id: rowId, email: Type.String() })) }),
};

const sessionActor = Type.Object({ ...actorFacts, sessionKey: Type.String({ description: 'Session of the token; what logout revokes.' }) });

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
  identifyAccounts: rpc({
    subject: 'admin.directory.accounts.identify',
    callers: byOperators,
    summary: 'Emails of accounts by their ids, and the account of an email.',
    ...naming,
  }),
  nameAccounts: rpc({
    subject: 'directory.accounts.name',
    callers: byUsers,
    summary: 'Emails of accounts by their ids, and the account of an email; for those who may see operations (A3).',
    ...naming,
    errors: { not_an_operator: { code: 'permission_denied', when: 'The caller may not see operations.' } },
  }),
  findReader: rpc({
    subject: 'directory.accounts.find-reader',
    callers: { events: withoutActor },
    summary: 'What decides what an account may read, when nobody calls for it: of what is sent to its endpoints (V7).',
    request: Type.Object({ account_id: rowId }),
    reply: Type.Object({
      reader: nullable(
        Type.Object({
          account_id: rowId,
          person_id: nullable(rowId),
          superuser: Type.Boolean(),
          global_editor: Type.Boolean(),
          coherence_access: Type.Boolean(),
        }),
      ),
      exists: Type.Boolean({ description: 'Without a reader: it is deactivated, or has no person.' }),
    }),
  }),
  createAccount: rpc({
    subject: 'admin.directory.accounts.create',
    callers: byOperators,
    audit: 'account.create',
    summary: 'Creates an account, with or without password and person.',
    request: Type.Object({
      email,
      password: Type.Optional(Type.String()),
      person,
      service_name: Type.Optional(
        singleLine({ minLength: 1, maxLength: maxNameLength, description: 'Name of a person of the kind `service`, who is made with it.' }),
      ),
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
      service_account: {
        code: 'bad_request',
        when: 'The account of a service has a blank name, a password, or another person than its own.',
      },
    },
  }),
  setPassword: rpc({
    subject: 'admin.directory.accounts.set-password',
    callers: byOperators,
    audit: 'account.set-password',
    summary: "Sets the password and revokes the account's tokens.",
    request: Type.Object({ email, password: Type.String() }),
    reply: changedAccount,
    errors: { ...notFound, ...badPassword },
  }),
  deactivateAccount: rpc({
    subject: 'admin.directory.accounts.deactivate',
    callers: byOperators,
    audit: 'account.deactivate',
    summary: 'Deactivates the account and revokes its tokens and keys.',
    request: Type.Object({ email }),
    reply: changedAccount,
    errors: notFound,
  }),
  grantAccount: rpc({
    subject: 'admin.directory.accounts.grant',
    callers: byOperators,
    audit: 'account.grant',
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
    audit: 'account.delete',
    summary: 'Deletes the account for good with its tokens and keys; its person stays.',
    request: Type.Object({ email }),
    reply: account,
    errors: notFound,
  }),
} as const;

/** To be spread into the contract of the directory. */
export const sessionRpcs = {
  login: rpc({
    subject: 'directory.sessions.login',
    callers: byGateway,
    audit: 'login',
    summary: 'Exchanges email and password for a token valid for 24 hours (rules/access#login; D40).',
    request: Type.Object({
      email: Type.String(),
      password: Type.String(),
      ip: Type.String(),
      without_gate_key: Type.Optional(
        Type.Boolean({
          description:
            'True for the console, which has none: limits and turns of its own, so that it holds back no other login, and a token that is accepted from the console alone (S3).',
        }),
      ),
    }),
    reply: Type.Object({
      token: Type.String({ description: '`svc_agentic_<session_key>_<secret>`, shown this once.' }),
      token_type: Type.Literal('Bearer'),
      expires_at: Type.String({ format: 'date-time', description: 'With explicit offset.' }),
      expires_in_seconds: Type.Integer(),
      person: PersonPublic,
    }),
  }),
  refuseLogin: rpc({
    subject: 'directory.sessions.refuse-login',
    callers: byGateway,
    audit: 'login',
    summary:
      'Answers a login whose gate key is wrong: the same work and error as a wrong password (D40), a throttle of its own (D76). Never succeeds.',
    request: Type.Object({ ip: Type.String() }),
    reply: Type.Object({}),
  }),
  logout: rpc({
    subject: 'directory.sessions.logout',
    callers: byUsers,
    audit: 'logout',
    summary: "Revokes the session of the caller's token.",
    request: Type.Object({}),
    reply: Type.Object({ revoked: Type.Literal(true) }),
    errors: { permission_denied: { code: 'permission_denied', when: 'The token is not that of a login.' } },
  }),
  verifySession: rpc({
    subject: 'directory.sessions.verify',
    callers: byGateway,
    summary:
      'Who a per-user token belongs to; unauthenticated when unknown, expired, revoked, of an inactive account, or for the other way in.',
    request: Type.Object({
      token: Type.String({ maxLength: 8_192 }),
      for_console: Type.Optional(
        Type.Boolean({
          description: 'True for the session of a request of the console; no other is taken there, and none of it elsewhere (S3).',
        }),
      ),
    }),
    reply: Type.Object({ actor: sessionActor, expires_at: Type.String({ format: 'date-time' }) }),
    timeoutMs: 5_000,
  }),
  whoami: rpc({
    subject: 'directory.sessions.whoami',
    callers: byUsers,
    summary: "The caller's person (GET /api/v1/auth/whoami).",
    request: Type.Object({}),
    reply: Type.Object({
      authenticated: Type.Literal(true),
      person: PersonPublic,
      key: nullable(
        Type.Object(
          { id: Type.String(), name: Type.String(), scopes: Type.Array(Type.String()) },
          { description: 'The service key of the call; null for the token of a login.' },
        ),
      ),
    }),
  }),
} as const;

/** Items of a page when the caller does not say (rules/http#limits). */
export const sessionsPerPage = 50;

export const sessionsQuery = Type.Object({ limit: limitParameter({ usual: sessionsPerPage, most: 200 }), offset: offsetParameter });

const Session = Type.Object(
  {
    id: Type.String({ description: 'Names the session, and is no secret: the part of its token between the second and the third `_`.' }),
    created_at: instant('When its token was made, by a login.'),
    expires_at: instant('When it ends by itself.'),
    current: Type.Boolean({ description: 'True for the session of this request.' }),
  },
  { $id: 'Session', description: 'A login whose token is still accepted.' },
);

const notForKeys = v1Errors.denied('The token was not made by a login.');

/** What people do with their own login (rules/access#own-login). */
export const ownLoginRpcs = {
  changePassword: rpc({
    subject: 'directory.accounts.change-password',
    callers: byUsers,
    audit: 'account.set-password',
    summary: "Changes the password of the caller's account, and revokes its sessions.",
    request: Type.Object({ current: Type.String(), new: Type.String(), ip: Type.String() }),
    reply: Type.Object({
      changed: Type.Literal(true),
      revoked_sessions: Type.Integer({ minimum: 0, description: 'Sessions of the account that ended by it, that of the call among them.' }),
    }),
    errors: {
      ...badPassword,
      ...notForKeys,
      wrong_password: { code: 'permission_denied', when: 'The current password is another one.' },
    },
  }),
  listSessions: rpc({
    subject: 'directory.sessions.list',
    callers: byUsers,
    summary: "Sessions of the caller's account that are alive, newest first.",
    request: sessionsQuery,
    reply: page(Session),
    errors: notForKeys,
  }),
  revokeSession: rpc({
    subject: 'directory.sessions.revoke',
    callers: byUsers,
    audit: 'session.revoke',
    summary: "Revokes a session of the caller's account; 404 for another's.",
    request: Type.Object({ session_id: Type.String({ maxLength: 16_384 }) }),
    reply: Type.Object({ revoked: Type.Literal(true) }),
    errors: { ...notForKeys, ...v1Errors.notFound("No session of the caller's account has that id.") },
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
